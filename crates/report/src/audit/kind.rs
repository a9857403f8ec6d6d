//! The kinds of findings.

use serde::Serialize;

/// A kind of finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// A duplicate names no canonical page, or itself.
    CanonicalMissing,
    /// A page names one of another text.
    CanonicalElsewhere,
    /// A page names one that failed, moved or was refused.
    CanonicalBroken,
    /// A page names one that names a further one.
    CanonicalChain,
    /// The kept page of a cluster names another page of it.
    CanonicalNotKept,
    /// A duplicate has the URL of the kept page but for `http` and `https`.
    TwoSchemes,
    /// A duplicate has the URL of the kept page but for `www.`.
    TwoHosts,
    /// A duplicate has the URL of the kept page but for a slash at its end.
    TrailingSlash,
    /// A redirect leads to another redirect.
    RedirectChain,
    /// A redirect ends at a failure.
    RedirectBroken,
    /// A redirect leads back to where it came from.
    RedirectLoop,
    /// Unique pages have one title.
    SameTitle,
    /// Unique pages have one heading.
    SameHeading,
    /// A page names one in another language, which does not name it.
    HreflangNoReturn,
    /// A page names one in another language that failed or moved.
    HreflangBroken,
    /// A page names one in another language that is a duplicate.
    HreflangDuplicate,
    /// Unique pages link to a duplicate.
    LinkedDuplicate,
    /// A unique page says little.
    ThinPage,
    /// A sitemap lists a page to which no page links.
    SitemapOrphan,
    /// A sitemap lists a duplicate, a redirect or a failure.
    SitemapNoPage,
    /// No sitemap lists a unique page, although its host has one.
    NotInSitemap,
}

impl FindingKind {
    /// All kinds.
    pub const ALL: [Self; 21] = [
        Self::CanonicalMissing,
        Self::CanonicalElsewhere,
        Self::CanonicalBroken,
        Self::CanonicalChain,
        Self::CanonicalNotKept,
        Self::TwoSchemes,
        Self::TwoHosts,
        Self::TrailingSlash,
        Self::RedirectChain,
        Self::RedirectBroken,
        Self::RedirectLoop,
        Self::SameTitle,
        Self::SameHeading,
        Self::HreflangNoReturn,
        Self::HreflangBroken,
        Self::HreflangDuplicate,
        Self::LinkedDuplicate,
        Self::ThinPage,
        Self::SitemapOrphan,
        Self::SitemapNoPage,
        Self::NotInSitemap,
    ];

    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        self.words()[0]
    }

    /// Returns what was found, in the plural.
    pub fn meaning(self) -> &'static str {
        self.words()[1]
    }

    /// Returns what mends it.
    pub fn remedy(self) -> &'static str {
        self.words()[2]
    }

    fn words(self) -> [&'static str; 3] {
        const NAME_ITSELF: &str = "let each name itself, or a page of the same text";
        const REDIRECT: &str = "redirect the one to the other (301)";
        match self {
            Self::CanonicalMissing => [
                "canonical-missing",
                "duplicates that name no canonical page, or themselves",
                "let each name the page that it repeats",
            ],
            Self::CanonicalElsewhere => {
                ["canonical-elsewhere", "pages whose canonical page has another text", NAME_ITSELF]
            }
            Self::CanonicalBroken => {
                ["canonical-broken", "pages whose canonical page is none: it failed, moved or was refused", NAME_ITSELF]
            }
            Self::CanonicalChain => [
                "canonical-chain",
                "pages whose canonical page names a further one",
                "let each name the last page of the chain",
            ],
            Self::CanonicalNotKept => [
                "canonical-not-kept",
                "kept pages that name one of their copies",
                "nothing, if the copy is meant; the crawl met the other one first",
            ],
            Self::TwoSchemes => ["two-schemes", "pages that are there by http and by https", REDIRECT],
            Self::TwoHosts => ["two-hosts", "pages that are there with and without www.", REDIRECT],
            Self::TrailingSlash => {
                ["trailing-slash", "pages that are there with and without a slash at the end", REDIRECT]
            }
            Self::RedirectChain => {
                ["redirect-chain", "redirects that lead to another redirect", "redirect to the last page at once"]
            }
            Self::RedirectBroken => [
                "redirect-broken",
                "redirects that end at a failure",
                "redirect to a page that is there, or answer 404 or 410",
            ],
            Self::RedirectLoop => {
                ["redirect-loop", "redirects that lead in a circle", "redirect to a page that is there"]
            }
            Self::SameHeading => [
                "same-heading",
                "unique pages with the heading (h1) of another one",
                "give each text a heading of its own",
            ],
            Self::SameTitle => {
                ["same-title", "unique pages with the title of another one", "give each text a title of its own"]
            }
            Self::HreflangNoReturn => [
                "hreflang-no-return",
                "pages whose page in another language (hreflang) does not name them",
                "let each of the two name the other one",
            ],
            Self::HreflangBroken => [
                "hreflang-broken",
                "pages whose page in another language (hreflang) failed or moved",
                "name the page that is there, or none",
            ],
            Self::HreflangDuplicate => [
                "hreflang-duplicate",
                "pages whose page in another language (hreflang) is a duplicate",
                "name the page that it repeats, or translate it",
            ],
            Self::LinkedDuplicate => [
                "linked-duplicate",
                "duplicates to which unique pages link, the number of these beside",
                "link to the page that each repeats",
            ],
            Self::ThinPage => [
                "thin-page",
                "unique pages that say little, the number of words beside",
                "say more, join them, or keep them out of search (noindex)",
            ],
            Self::SitemapOrphan => [
                "sitemap-orphan",
                "pages that a sitemap lists and no page links to",
                "link to them, or take them out of the sitemap",
            ],
            Self::SitemapNoPage => [
                "sitemap-no-page",
                "entries of sitemaps that are duplicates, redirects or failures",
                "list the page that each repeats or leads to, or none",
            ],
            Self::NotInSitemap => ["not-in-sitemap", "unique pages that no sitemap of their host lists", "list them"],
        }
    }
}
