//! A canonical URL, split into origin, path and query.

/// The parts of a canonical URL, split without parsing: such a URL has no user name and no fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UrlParts<'a> {
    /// `scheme://host:port`
    pub(super) origin: &'a str,
    /// The path, from its first slash.
    pub(super) path: &'a str,
    /// The query, without the question mark.
    pub(super) query: Option<&'a str>,
}

impl<'a> UrlParts<'a> {
    /// Splits a URL. `None` without an origin or a path.
    pub(super) fn of(url: &'a str) -> Option<Self> {
        let authority = url.find("://")? + "://".len();
        let path = authority + url[authority..].find(['/', '?', '#'])?;
        let (origin, rest) = url.split_at(path);
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (rest, None),
        };
        (path.starts_with('/') && !rest.contains('#')).then_some(Self { origin, path, query })
    }

    /// Splits the path behind its last slash.
    pub(super) fn folder_and_file(&self) -> (&'a str, &'a str) {
        self.path.split_at(self.path.rfind('/').map_or(0, |slash| slash + 1))
    }

    /// Returns the stem of the file name; for a directory its name.
    pub(super) fn own_name(&self) -> &'a str {
        let (folder, file) = self.folder_and_file();
        match file.split_once('.') {
            Some((stem, _)) => stem,
            None if file.is_empty() => folder.trim_end_matches('/').rsplit('/').next().unwrap_or_default(),
            None => file,
        }
    }

    /// Returns the parameters as written.
    pub(super) fn parameters(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.query.into_iter().flat_map(|query| query.split('&'))
    }
}

/// Returns the name of a parameter.
pub(super) fn name(parameter: &str) -> &str {
    parameter.split_once('=').map_or(parameter, |(name, _)| name)
}
