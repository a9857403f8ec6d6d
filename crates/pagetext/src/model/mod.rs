//! *Which values go in and come out?*

pub(crate) mod media_type;
mod page;
mod preference;
mod url;

pub use media_type::MediaType;
pub use neardup::model::{
    Digest, Field, FieldCounts, Markup, Provenance, Source, Term, TermCounts, TermOrder, WantedOrder,
};
pub use page::{
    Alternate, Header, LinkPlace, OutLink, PageContent, PageKind, PageSource, Refresh, RobotsDirectives, RunningTerms,
};
pub use preference::{Permission, Preference, PreferenceForm, PreferencePlace, Usage, cut_preferences, permission};
pub use url::{
    CanonicalUrl, NormalizeOptions, Normalizer, SpelledUrl, UrlError, read_reference, shown_origin, shown_url,
};
