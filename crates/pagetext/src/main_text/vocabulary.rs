//! What the names that authors give to elements say of their role.
//!
//! The words of `class` and `id` are no standard, but authors use the same ones everywhere.

use std::sync::LazyLock;

use hashbrown::{HashMap, HashSet};

/// What an element is for, by its names: a set of the constants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Purpose(u8);

impl Purpose {
    /// It says that it holds the body of the page.
    pub const BODY: Self = Self(1);
    /// It belongs to the site, or invites to something else.
    pub const BOILERPLATE: Self = Self(1 << 1);
    /// The same if it is short.
    pub const DETAIL: Self = Self(1 << 2);
    /// It holds what readers wrote about the page.
    pub const COMMENTS: Self = Self(1 << 3);
    /// A note of the text, whatever element it is.
    pub const NOTE: Self = Self(1 << 4);
    /// The caption of a picture, or its source.
    pub const CAPTION: Self = Self(1 << 5);
    /// A word that names the body together with one of [`Self::SECOND`].
    const FIRST: Self = Self(1 << 6);
    const SECOND: Self = Self(1 << 7);

    /// Whether it has one of these purposes.
    pub fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }

    /// Reads the values of `class` and `id`.
    pub fn of(class: &str, id: &str) -> Self {
        let mut purpose = Self::default();
        for name in class.split_ascii_whitespace().chain(id.split_ascii_whitespace()) {
            // Longer ones are no names.
            if name.len() <= LONGEST_NAME {
                purpose.0 |= Self::of_name(name).0;
            }
        }
        Self(purpose.0 & !(Self::FIRST.0 | Self::SECOND.0))
    }

    fn of_name(name: &str) -> Self {
        let mut purpose = Self::default();
        let mut last = (String::new(), Self::default());
        for word in words(name) {
            let word = word.to_ascii_lowercase();
            let found = VOCABULARY.get(word.as_str()).copied().unwrap_or_default();
            purpose.0 |= found.0;
            if last.1.has(Self::FIRST) && found.has(Self::SECOND) {
                purpose.0 |= Self::BODY.0;
            }
            if PAIRS.contains(&(last.0.as_str(), word.as_str())) {
                purpose.0 |= Self::BOILERPLATE.0;
            }
            last = (word, found);
        }
        purpose
    }
}

/// Bytes of the longest name that is read.
const LONGEST_NAME: usize = 80;
/// Characters of the longest title that is compared.
const LONGEST_TITLE: usize = 500;

static VOCABULARY: LazyLock<HashMap<&'static str, Purpose>> = LazyLock::new(|| {
    let lists = [
        (BODY, Purpose::BODY),
        (BOILERPLATE, Purpose::BOILERPLATE),
        (DETAIL, Purpose::DETAIL),
        (COMMENTS, Purpose::COMMENTS),
        (NOTE, Purpose::NOTE),
        (CAPTION, Purpose::CAPTION),
        (BODY_FIRST, Purpose::FIRST),
        (BODY_SECOND, Purpose::SECOND),
    ];
    let mut map: HashMap<&'static str, Purpose> = HashMap::new();
    for (words, purpose) in lists {
        words.split(' ').for_each(|word| map.entry(word).or_default().0 |= purpose.0);
    }
    map
});

static PAIRS: LazyLock<HashSet<(&'static str, &'static str)>> =
    LazyLock::new(|| BOILERPLATE_PAIRS.split(' ').filter_map(|pair| pair.split_once('-')).collect());

/// Words for what belongs to the site.
const BOILERPLATE: &str = "\
    catlinks gutter lineno linenos navfooter navheader printfooter ad addthis ads adsense adunit advert \
    advertisement advertising alsolike banner bookmarks breadcrumb breadcrumbs carousel consent cookie cookies \
    crumbs donate donation editsection footer gdpr headerlink jumplinks lightbox login masthead menu menus modal \
    morelinks nav navbar navbox navi navigation navlist navpath newsletter newsletters noprint offscreen outbrain \
    overlay pager pagination paging paywall permalink popular popup prevnext promo promos promotion readmore recirc \
    recommend recommendation recommendations recommended related relatedposts screenreader share sharebar \
    sharedaddy sharing shares sidebar sidebars signup skip skiplink skipnav social socials sponsor sponsored \
    sponsors submenu subnav subscribe subscription taboola tagcloud taglist toolbar tooltip topbar topnav trending \
    upsell viewcode";

/// Pairs of words for the same.
const BOILERPLATE_PAIRS: &str = "\
    about-author also-like author-bio author-box author-card author-info bottom-links edit-section follow-us \
    global-header jump-link latest-news latest-posts load-more main-header more-from more-in more-news more-on \
    more-stories most-popular most-read most-viewed next-article next-post other-stories page-header \
    post-navigation posts-navigation prev-next print-only read-also read-more read-next recent-posts right-rail \
    screen-reader see-also side-bar site-footer site-header sr-only top-stories up-next visually-hidden you-may \
    you-might";

/// Words for the small print of an article.
const DETAIL: &str = "\
    author authors byline bylines button buttons category categories contributors copyright date dateline datetime \
    follow hidden kicker label meta metadata more postmeta print published pubdate rating ratings tag tags time \
    timestamp updated vote votes widget widgets";

/// Words for what readers wrote.
const COMMENTS: &str = "comment commentlist comments commentary disqus discussion replies respond livefyre trackbacks";

/// Words for notes of a text.
const NOTE: &str = "\
    admonition attention callout caution danger definition example footnote footnotes hint important note notes \
    sidenote tip topic warning";

/// Words for captions.
const CAPTION: &str = "caption captions credit credits imagecaption photocredit";

/// Pairs of words that name the body of a page: one of each.
const BODY_FIRST: &str = "article articles blog content entry main news page post story single text";
const BODY_SECOND: &str = "body content contents text copy bodytext main";
/// Words that name it alone.
const BODY: &str = "\
    articlebody articlecontent articletext bodytext entrycontent maintext mainbody newsbody newstext postbody \
    postcontent storybody storytext storycontent";

/// Returns the letters and digits of a title or name, in lower case, to compare it with others.
pub(super) fn squeezed(text: &str) -> String {
    text.chars().take(LONGEST_TITLE).filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Splits a name at signs and where a capital follows a small letter.
fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_alphanumeric()).flat_map(|part| {
        let mut rest = part;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let bytes = rest.as_bytes();
            let end = (1..bytes.len())
                .find(|&at| bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase())
                .unwrap_or(rest.len());
            let (word, left) = rest.split_at(end);
            rest = left;
            Some(word)
        })
    })
}
