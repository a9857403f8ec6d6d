//! Redirects of a URL to another spelling of itself.
//!
//! A site without cookies redirects `/shop` to `/shop;jsessionid=1`, another one to `/shop?`. Canonical URLs do not
//! tell these apart, but the server does: a redirect names another address if its text differs (RFC 9110, section 15.4).
//! So each spelling that the server names is requested once, in turn with all other requests, and its answer is that of
//! the URL.
//!
//! The spellings live as long as the URL has no outcome. After a restart, the URL begins again with its canonical
//! spelling: a server may have forgotten the visit by then.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use url::Url;

use ndcrawl_model::{CanonicalUrl, UrlId};

/// The spellings that servers asked for, by URL.
#[derive(Default)]
pub(super) struct Spellings(Mutex<HashMap<UrlId, Vec<Url>>>);

impl Spellings {
    fn all(&self) -> MutexGuard<'_, HashMap<UrlId, Vec<Url>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the spellings that the server has asked for so far, the last of which is to be requested.
    pub fn of(&self, id: UrlId) -> Vec<Url> {
        self.all().get(&id).cloned().unwrap_or_default()
    }

    /// Adds the spelling that is to be requested next.
    pub fn add(&self, id: UrlId, spelling: Url) {
        self.all().entry(id).or_default().push(spelling);
    }

    /// Forgets a URL, which has its outcome.
    pub fn forget(&self, id: UrlId) {
        self.all().remove(&id);
    }
}

/// Returns why a redirect of `url` to a spelling leads nowhere: it was requested before. `asked` are the spellings that
/// the server has asked for so far.
pub(super) fn circle(url: &CanonicalUrl, asked: &[Url], to: &Url) -> Option<String> {
    let current = asked.last().unwrap_or(url.as_url());
    if current == to {
        let why = "a site may do so if it wants a cookie back, and no cookies are sent";
        return Some(format!("'{to}' redirects to itself: {why}"));
    }
    let is_known = url.as_url() == to || asked.contains(to);
    is_known.then(|| format!("redirects in a circle: '{current}' leads back to '{to}'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndcrawl_model::Normalizer;

    #[test]
    fn a_spelling_that_was_requested_closes_the_circle() {
        let url = Normalizer::default().absolute("http://a.test/shop").unwrap();
        let spelled = |text: &str| Url::parse(text).unwrap();
        let asked = ["http://a.test/shop?", "http://a.test/shop;jsessionid=1"].map(spelled);
        assert_eq!(circle(&url, &[], &asked[0]), None);
        assert_eq!(circle(&url, &asked[..1], &asked[1]), None);
        assert!(circle(&url, &[], url.as_url()).unwrap().contains("redirects to itself"));
        assert!(circle(&url, &asked, &asked[1]).unwrap().contains("redirects to itself"));
        for back in [url.as_url(), &asked[0]] {
            assert!(circle(&url, &asked, back).unwrap().starts_with("redirects in a circle"), "{back}");
        }
    }

    #[test]
    fn spellings_are_kept_in_order_until_the_url_has_its_outcome() {
        let (spellings, id) = (Spellings::default(), UrlId(1));
        for text in ["http://a.test/?", "http://a.test/;jsessionid=1"] {
            spellings.add(id, Url::parse(text).unwrap());
        }
        assert_eq!(spellings.of(id).last().unwrap().as_str(), "http://a.test/;jsessionid=1");
        assert!(spellings.of(UrlId(2)).is_empty());
        spellings.forget(id);
        assert!(spellings.of(id).is_empty());
    }
}
