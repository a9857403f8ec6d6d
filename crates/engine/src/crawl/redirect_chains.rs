//! Chains of redirects that lead from URL to URL, and whether one of them ends where it began.
//!
//! Memory: about 16 bytes for each URL that redirects.

use std::collections::HashMap;

use ndcrawl_model::UrlId;

/// The target of each URL that redirects. No chain leads in a circle.
#[derive(Default)]
pub(super) struct RedirectChains(HashMap<UrlId, UrlId>);

impl RedirectChains {
    /// Adds a redirect. Returns false, and adds nothing, if the target leads back to the URL.
    ///
    /// Cost: a look-up for each redirect from the target on.
    pub fn add(&mut self, from: UrlId, to: UrlId) -> bool {
        let mut at = to;
        while at != from {
            match self.0.get(&at) {
                Some(next) => at = *next,
                None => {
                    self.0.insert(from, to);
                    return true;
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_redirect_that_closes_a_circle_is_refused_in_whichever_order_they_come() {
        let mut chains = RedirectChains::default();
        for (from, to, is_added) in
            [(1, 2, true), (3, 1, true), (2, 3, false), (2, 4, true), (4, 4, false), (5, 3, true), (4, 5, false)]
        {
            assert_eq!(chains.add(UrlId(from), UrlId(to)), is_added, "{from} to {to}");
        }
    }
}
