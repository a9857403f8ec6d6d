//! The names of elements, as small numbers, and the sets they belong to.
//!
//! The sets are those of WHATWG HTML, section 13.2.4.2 ("The stack of open elements"), and three of
//! our own: hidden elements, elements that do not end a word, and elements about the site.

/// Elements that do not end a word.
pub(super) const INLINE: u16 = 1;
/// Elements whose text is hidden.
pub(super) const HIDDEN: u16 = 1 << 1;
/// "Special", and `isindex`, which was special until 2016 and still is to html5ever.
pub(super) const SPECIAL: u16 = 1 << 2;
/// Elements that bound a scope.
pub(super) const SCOPE: u16 = 1 << 3;
/// Elements that bound a list item scope, besides those above.
pub(super) const LIST_SCOPE: u16 = 1 << 4;
/// Elements that bound a table scope.
pub(super) const TABLE_SCOPE: u16 = 1 << 5;
/// Elements whose end tag is implied.
pub(super) const IMPLIED: u16 = 1 << 6;
/// The same, "thoroughly".
pub(super) const THOROUGH: u16 = 1 << 7;
/// `h1` to `h6`.
pub(super) const HEADING: u16 = 1 << 8;
/// Formatting elements: opened again where they were closed implicitly.
pub(super) const FORMATTING: u16 = 1 << 9;
/// Tables and their parts, which hold no text.
pub(super) const TABLE_PART: u16 = 1 << 10;
/// Start tags that end foreign content.
pub(super) const BREAKS_OUT: u16 = 1 << 11;
/// Blocks that close a `p`; their end tag closes the elements in them.
pub(super) const BLOCK: u16 = 1 << 12;
/// Elements whose nesting does not count: the next one of their kind ends them, or they have no content.
pub(super) const SHALLOW: u16 = 1 << 13;
/// Elements that are about the site rather than the page: navigation and the like.
pub(super) const ASIDE: u16 = 1 << 14;

const I: u16 = INLINE;
const H: u16 = HIDDEN;
const S: u16 = SPECIAL;
const C: u16 = SCOPE | SPECIAL;
const F: u16 = FORMATTING;
const N: u16 = IMPLIED | THOROUGH;
const B: u16 = BLOCK;
const X: u16 = BREAKS_OUT;
const V: u16 = SHALLOW;

macro_rules! names {
    ($($name:ident = $text:literal, $sets:expr;)+) => {
        /// The name of an element.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub(super) enum Name {
            /// A name without a rule.
            #[default]
            Other,
            $($name),+
        }

        const KNOWN: &[(Name, &str)] = &[$((Name::$name, $text)),+];
        const SETS: [u16; KNOWN.len() + 1] = [0, $($sets),+];
    };
}

names! {
    A = "a", I | F; Abbr = "abbr", I; Acronym = "acronym", I; Address = "address", S | B; AnnotationXml = "annotation-xml", 0;
    Applet = "applet", C; Area = "area", S | V; Article = "article", S | B; Aside = "aside", S | B | ASIDE; Audio = "audio", H;
    B = "b", I | F | X; Base = "base", S | V; BaseFont = "basefont", S; Bdi = "bdi", I; Bdo = "bdo", I;
    BgSound = "bgsound", S; Big = "big", I | F | X; BlockQuote = "blockquote", S | B | X; Body = "body", S | X | V;
    Br = "br", S | X | V; Button = "button", S; Canvas = "canvas", H; Caption = "caption", C | THOROUGH;
    Center = "center", S | B | X; Cite = "cite", I; Code = "code", I | F | X; Col = "col", S | V;
    ColGroup = "colgroup", S | THOROUGH | V; Data = "data", I; DataList = "datalist", H; Dd = "dd", S | N | X | V;
    Del = "del", I; Desc = "desc", 0; Details = "details", S | B; Dfn = "dfn", I; Dialog = "dialog", B; Dir = "dir", S | B;
    Div = "div", S | B | X; Dl = "dl", S | B | X; Dt = "dt", S | N | X | V; Em = "em", I | F | X; Embed = "embed", S | X | V;
    FieldSet = "fieldset", S | B; FigCaption = "figcaption", S | B; Figure = "figure", S | B; Font = "font", I | F;
    Footer = "footer", S | B | ASIDE; ForeignObject = "foreignobject", 0; Form = "form", S; Frame = "frame", S | V;
    FrameSet = "frameset", S; H1 = "h1", S | HEADING | X; H2 = "h2", S | HEADING | X; H3 = "h3", S | HEADING | X;
    H4 = "h4", S | HEADING | X; H5 = "h5", S | HEADING | X; H6 = "h6", S | HEADING | X; Head = "head", S | X | V;
    Header = "header", S | B; HGroup = "hgroup", S | B; Hr = "hr", S | X | V; Html = "html", C | TABLE_SCOPE | V;
    I = "i", I | F | X; Iframe = "iframe", S | H; Image = "image", 0; Img = "img", S | X | V; Input = "input", S | V;
    Ins = "ins", I; IsIndex = "isindex", S; Kbd = "kbd", I; KeyGen = "keygen", V; Label = "label", I; Li = "li", S | N | X | V;
    Link = "link", S | V; Listing = "listing", S | X; Main = "main", S | B; Mark = "mark", I; Marquee = "marquee", C;
    Math = "math", 0; Menu = "menu", S | B | X; Meta = "meta", S | X | V; Mi = "mi", 0; MalignMark = "malignmark", 0;
    MGlyph = "mglyph", 0; Mn = "mn", 0; Mo = "mo", 0; Ms = "ms", 0; MText = "mtext", 0; Nav = "nav", S | B | ASIDE;
    NoBr = "nobr", F | X; NoEmbed = "noembed", S | H; NoFrames = "noframes", S | H; NoScript = "noscript", S | H;
    Object = "object", C | H; Ol = "ol", S | LIST_SCOPE | B | X; OptGroup = "optgroup", N | V; Option = "option", N | V;
    P = "p", S | N | B | X | V; Param = "param", S | V; PlainText = "plaintext", S; Pre = "pre", S | X; Q = "q", I;
    Rb = "rb", N; Rp = "rp", N | V; Rt = "rt", N | V; Rtc = "rtc", N; Ruby = "ruby", X; S = "s", I | F | X;
    Samp = "samp", I; Script = "script", S | H; Search = "search", B | ASIDE; Section = "section", S | B;
    Select = "select", C; Small = "small", I | F | X; Source = "source", S | V; Span = "span", I | X;
    Strike = "strike", I | F | X; Strong = "strong", I | F | X; Style = "style", S | H; Sub = "sub", I | X;
    Summary = "summary", S | B; Sup = "sup", I | X; Svg = "svg", 0;
    Table = "table", C | TABLE_SCOPE | TABLE_PART | X; TBody = "tbody", S | THOROUGH | TABLE_PART | V;
    Td = "td", C | THOROUGH | V; Template = "template", C | TABLE_SCOPE | H; TextArea = "textarea", S;
    TFoot = "tfoot", S | THOROUGH | TABLE_PART | V; Th = "th", C | THOROUGH | V;
    THead = "thead", S | THOROUGH | TABLE_PART | V; Time = "time", I; Title = "title", S;
    Tr = "tr", S | THOROUGH | TABLE_PART | V; Track = "track", S | V; Tt = "tt", I | F | X; U = "u", I | F | X;
    Ul = "ul", S | LIST_SCOPE | B | X; Var = "var", I | X; Video = "video", H; Wbr = "wbr", S | I | V; Xmp = "xmp", S;
}

impl Name {
    /// Returns whether the name is in one of the sets.
    pub fn is(self, sets: u16) -> bool {
        SETS[self as usize] & sets != 0
    }

    /// Whether a start tag of this name is treated as in the head, wherever it stands.
    pub fn is_of_head(self) -> bool {
        use Name::{Base, BaseFont, BgSound, Link, Meta, NoFrames, Script, Style, Template, Title};
        matches!(self, Base | BaseFont | BgSound | Link | Meta | NoFrames | Script | Style | Template | Title)
    }

    /// Whether it is a part of a table.
    pub fn is_part_of_table(self) -> bool {
        use Name::{Caption, Col, ColGroup, TBody, TFoot, THead, Td, Th, Tr};
        matches!(self, Caption | Col | ColGroup | TBody | Td | TFoot | Th | THead | Tr)
    }

    /// Returns the level of a heading, from 1.
    pub fn level(self) -> usize {
        1 + (self as usize).saturating_sub(Name::H1 as usize)
    }

    /// Reads a name, in upper or lower case.
    pub fn of(text: &[u8]) -> Self {
        Self::at(text, 0, text.len())
    }

    /// Reads the name at this position of a text.
    #[inline]
    pub fn at(text: &[u8], start: usize, length: usize) -> Self {
        // A NUL at the end would be cut off with the bytes behind it.
        if length == 0 || length > LONGEST || text[start + length - 1] == 0 {
            return Self::Other;
        }
        let bytes = match text[start..].first_chunk::<LONGEST>() {
            // Bytes behind the name are cut off.
            Some(bytes) => u128::from_le_bytes(*bytes) & (u128::MAX >> (128 - 8 * length)),
            None => number(&text[start..start + length]),
        };
        let number = lower(bytes);
        let mut slot = slot(number);
        loop {
            let (known, name) = SLOTS[slot];
            if known == number {
                return name;
            }
            if known == 0 {
                return Self::Other;
            }
            slot = (slot + 1) % SLOT_COUNT;
        }
    }
}

/// Names up to this length fit into 128 bits.
const LONGEST: usize = 16;
const SLOT_COUNT: usize = 512;

/// Hash table of names; 0 is an empty slot. Computed by the compiler; colliding names take the next slots.
static SLOTS: [(u128, Name); SLOT_COUNT] = {
    let mut slots = [(0, Name::Other); SLOT_COUNT];
    let mut at = 0;
    while at < KNOWN.len() {
        let number = number(KNOWN[at].1.as_bytes());
        let mut slot = slot(number);
        while slots[slot].0 != 0 {
            slot = (slot + 1) % SLOT_COUNT;
        }
        slots[slot] = (number, KNOWN[at].0);
        at += 1;
    }
    slots
};

/// Returns the bytes of a name as one number.
const fn number(text: &[u8]) -> u128 {
    let mut number = 0;
    let mut at = text.len();
    while at > 0 {
        at -= 1;
        number = number << 8 | text[at] as u128;
    }
    number
}

/// Returns whether two names without a rule are the same: in upper or lower case, and with the character that stands for
/// NUL in its place.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    if one.eq_ignore_ascii_case(other) {
        return true;
    }
    let spelled = |name: &str| -> Vec<char> {
        name.chars().map(|c| if c == '\0' { '\u{fffd}' } else { c.to_ascii_lowercase() }).collect()
    };
    (one.contains('\0') || other.contains('\0')) && spelled(one) == spelled(other)
}

/// Lower-cases letters. Also changes some bytes that are in no name; they are in no name afterwards either.
const fn lower(number: u128) -> u128 {
    number | (number & u128::from_ne_bytes([0x40; 16])) >> 1
}

const fn slot(number: u128) -> usize {
    let hash = (number as u64 ^ (number >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (hash >> 55) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_in_both_cases_and_no_other_is() {
        for (name, text) in KNOWN {
            assert!(text.len() <= LONGEST);
            assert_eq!(Name::of(text.as_bytes()), *name);
            assert_eq!(Name::of(text.to_ascii_uppercase().as_bytes()), *name);
            assert_eq!(Name::of(format!("{text}x-").as_bytes()), Name::Other);
        }
        assert_eq!(Name::of(b""), Name::Other);
        assert_eq!(Name::at(b"<table border=1 class=x>", 1, 5), Name::Table);
        for byte in 0..=255 {
            let read = Name::of(&[b'h', byte]);
            let known = KNOWN.iter().find(|(_, text)| text.as_bytes() == [b'h', byte.to_ascii_lowercase()]);
            assert_eq!(read, known.map_or(Name::Other, |(name, _)| *name));
        }
    }

    #[test]
    fn nul_in_a_name_is_the_character_that_stands_for_it() {
        assert!(is_same("x-A", "X-a") && is_same("h\0", "H\u{fffd}") && is_same("h\0", "h\0"));
        assert!(!is_same("h\0", "h") && !is_same("h\0", "h\0\0") && !is_same("h\u{fffd}", "h"));
    }

    #[test]
    fn sets_hold_what_they_should() {
        assert!(Name::H3.is(HEADING) && Name::H3.is(SPECIAL) && !Name::H3.is(INLINE));
        assert!(Name::Html.is(TABLE_SCOPE) && Name::Td.is(SCOPE) && !Name::Td.is(TABLE_SCOPE));
        assert!(!Name::Other.is(u16::MAX));
    }
}
