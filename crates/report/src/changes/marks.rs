//! *What marks the URL of a page, beside another URL of the same text?*

use super::pattern::{Pattern, Spelling};

/// The most parameters of a URL to look at.
const MAX_PARAMETERS: usize = 16;
/// Characters that begin a mark within a file name.
const SEPARATORS: [char; 4] = ['.', '-', '_', '~'];

/// Splits a URL into its origin, and path and query; `None` for documents without URL.
pub(super) fn split(url: &str) -> Option<(&str, &str)> {
    let host = url.find("://")? + "://".len();
    let path = host + url[host..].find('/')?;
    Some(url.split_at(path))
}

/// Returns the patterns that the first URL has and the second has not, although both have one text.
pub(super) fn marks(url: &str, other: &str) -> Vec<Pattern> {
    let (Some((origin, rest)), Some((other_origin, other_rest))) = (split(url), split(other)) else {
        return Vec::new();
    };
    let mut marks = Vec::new();
    if origin != other_origin {
        marks.push(Pattern::Origin { from: origin.to_owned(), to: other_origin.to_owned() });
    }
    let spelling = Spelling::ALL.into_iter().find(|spelling| spelling.other(rest).as_deref() == Some(other_rest));
    if let Some(spelling) = spelling {
        marks.push(Pattern::Spelling { origin: origin.to_owned(), spelling });
        return marks;
    }
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (other_path, other_query) = other_rest.split_once('?').unwrap_or((other_rest, ""));
    // These characters mean something else in robots.txt.
    if !rest.contains(['*', '$']) {
        let paths = parameters(path, query, other_query).into_iter().chain(of_path(path, other_path));
        marks.extend(paths.map(|paths| Pattern::Paths { origin: origin.to_owned(), paths }));
    }
    marks
}

/// Returns the patterns of each parameter that the other query lacks: on any path, and on this one.
fn parameters(path: &str, query: &str, other_query: &str) -> Vec<Vec<String>> {
    let known: Vec<&str> = other_query.split('&').collect();
    let own = query.split('&').filter(|pair| !pair.is_empty() && !known.contains(pair)).take(MAX_PARAMETERS);
    own.flat_map(|pair| {
        let (name, ends) = match pair.split_once('=') {
            Some((name, _)) => (name, &["="][..]),
            None => (pair, &["$", "&"][..]),
        };
        let of = |start: &str, before: &str| ends.iter().map(|end| format!("{start}{before}{name}{end}")).collect();
        [["/*", "/*"], [path, &format!("{path}?*")]].map(|[first, later]| {
            let lines: [Vec<String>; 2] = [of(first, "?"), of(later, "&")];
            lines.concat()
        })
    })
    .collect()
}

/// Returns the patterns of a path that the other path has not.
fn of_path(path: &str, other: &str) -> Vec<Vec<String>> {
    if path == other {
        return Vec::new();
    }
    if let Some((_, parameter)) = path.split_once(';').filter(|_| without_parameters(path) == without_parameters(other))
    {
        let name = parameter.split_inclusive('=').next().unwrap_or_default();
        return vec![vec![format!("/*;{name}")]];
    }
    let (ours, theirs): (Vec<&str>, Vec<&str>) = (segments(path), segments(other));
    let before = ours.iter().zip(&theirs).take_while(|(one, other)| one == other).count();
    let left = ours.len().min(theirs.len()) - before;
    let after = ours.iter().rev().zip(theirs.iter().rev()).take(left).take_while(|(one, other)| one == other).count();
    let (own, theirs) = (&ours[before..ours.len() - after], &theirs[before..theirs.len() - after]);
    let (start, text) = (ours[..before].iter().map(|part| format!("/{part}")).collect::<String>(), own.join("/"));
    match (own, theirs) {
        ([] | [""], _) => Vec::new(),
        // A directory more.
        (_, []) if after > 0 && before > 0 => vec![vec![format!("/*/{text}/")], vec![format!("{start}/{text}/")]],
        // Another directory.
        _ if after > 0 => vec![vec![format!("{start}/{text}/")]],
        // A word more at the end.
        (_, [] | [""]) => vec![at_end(&format!("/{text}"))],
        (&[own], &[theirs]) => match name_mark(own, theirs) {
            Some(mark) => vec![at_end(&mark)],
            None => of_folder(&start),
        },
        _ if before == 0 => of_folder(&format!("/{}", own[0])),
        _ => of_folder(&start),
    }
}

/// Returns the paths that end so, with and without a query.
fn at_end(mark: &str) -> Vec<String> {
    ["$", "?"].map(|end| format!("/*{mark}{end}")).to_vec()
}

/// Returns the pattern of a folder, if it is not the root.
fn of_folder(folder: &str) -> Vec<Vec<String>> {
    if folder.is_empty() { Vec::new() } else { vec![vec![format!("{folder}/")]] }
}

/// Returns what the end of a file name has and the other has not: `.print.html` for `a.print.html` and `a.html`.
fn name_mark(own: &str, other: &str) -> Option<String> {
    let same = own.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    // The mark begins with its separator, also if the other name goes on with one.
    let start = (0..=same).rev().find(|at| *at > 0 && own.get(*at..).is_some_and(|end| end.starts_with(SEPARATORS)))?;
    Some(own[start..].to_owned()).filter(|mark| mark.len() > 1)
}

/// Returns the path without what stands behind semicolons.
fn without_parameters(path: &str) -> String {
    path.split('/').map(|part| part.split(';').next().unwrap_or_default()).collect::<Vec<_>>().join("/")
}

fn segments(path: &str) -> Vec<&str> {
    path.split('/').skip(1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_marks(url: &str, other: &str, expected: &[&str]) {
        let told: Vec<String> = marks(&format!("http://a.test{url}"), &format!("http://a.test{other}"))
            .iter()
            .map(|mark| match mark {
                Pattern::Paths { paths, .. } => paths.join(" "),
                mark => mark.redirect().map(|(from, to)| format!("{from} {to}")).unwrap().replace("http://a.test", ""),
            })
            .collect();
        assert_eq!(told, expected, "{url} {other}");
    }

    #[test]
    fn a_mark_is_what_one_url_has_and_the_other_has_not() {
        assert_marks("/x?s=1", "/x", &["/*?s= /*&s=", "/x?s= /x?*&s="]);
        assert_marks("/x?a=1&s=1", "/x?a=1&s=2", &["/*?s= /*&s=", "/x?s= /x?*&s="]);
        assert_marks(
            "/x?print",
            "/x",
            &["/*?print$ /*?print& /*&print$ /*&print&", "/x?print$ /x?print& /x?*&print$ /x?*&print&"],
        );
        assert_marks("/x;s=1", "/x", &["/*;s="]);
        assert_marks("/print/x", "/x", &["/print/"]);
        assert_marks("/a/print/x", "/a/x", &["/*/print/", "/a/print/"]);
        assert_marks("/docs/1.1/x", "/docs/1.0/x", &["/docs/1.1/"]);
        assert_marks("/a/x/amp", "/a/x", &["/*/amp$ /*/amp?"]);
        assert_marks("/a/x/amp", "/a/x/", &["/*/amp$ /*/amp?"]);
        assert_marks("/a/x.print.html", "/a/x.html", &["/*.print.html$ /*.print.html?"]);
        assert_marks("/a/x-print.html", "/a/x.html", &["/*-print.html$ /*-print.html?"]);
        assert_marks("/x.php", "/x.html", &["/*.php$ /*.php?"]);
        assert_marks("/tag/x", "/tag/y", &["/tag/"]);
        assert_marks("/tag/x", "/word/y/z", &["/tag/"]);
        assert_marks("/x/", "/x", &["/*/ /*"]);
        assert_marks("/x", "/x/", &["/* /*/"]);
        assert_marks("/x/index.html?q", "/x/?q", &["/*/index.html /*/"]);
        assert_marks("/X", "/x", &["/* with capital letters /* in lower case"]);
        for (url, other) in
            [("/x", "/x?s=1"), ("/x", "/print/x"), ("/a", "/b"), ("/x?a$=1", "/x"), ("/x?a=1&b=2", "/x?b=2&a=1")]
        {
            assert_marks(url, other, &[]);
        }
    }

    #[test]
    fn a_page_of_two_origins_and_a_document_without_url() {
        let told = marks("http://www.a.test/x?s=1", "http://a.test/x");
        assert_eq!(told[0], Pattern::Origin { from: "http://www.a.test".to_owned(), to: "http://a.test".to_owned() });
        assert_eq!(told.len(), 3);
        assert_eq!(marks("file#1", "http://a.test/x"), []);
    }
}
