//! A canonical URL, cut.

/// The parts of a canonical URL. They are cut, not parsed: a canonical URL has neither user name nor fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UrlParts<'a> {
    /// `scheme://host:port`
    pub(super) origin: &'a str,
    /// From the first slash on; it has one.
    pub(super) path: &'a str,
    /// Without the question mark.
    pub(super) query: Option<&'a str>,
}

impl<'a> UrlParts<'a> {
    /// `None` if there is no origin, or no path behind it.
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

    /// The path up to its last slash, and what is behind it.
    pub(super) fn folder_and_file(&self) -> (&'a str, &'a str) {
        self.path.split_at(self.path.rfind('/').map_or(0, |slash| slash + 1))
    }

    /// The stem of the file name; of a folder its own name.
    pub(super) fn own_name(&self) -> &'a str {
        let (folder, file) = self.folder_and_file();
        match file.split_once('.') {
            Some((stem, _)) => stem,
            None if file.is_empty() => folder.trim_end_matches('/').rsplit('/').next().unwrap_or_default(),
            None => file,
        }
    }

    /// The parameters as they stand there.
    pub(super) fn parameters(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.query.into_iter().flat_map(|query| query.split('&'))
    }
}

/// The name of a parameter.
pub(super) fn name(parameter: &str) -> &str {
    parameter.split_once('=').map_or(parameter, |(name, _)| name)
}
