//! Redirects: where each of them leads in the end, hop by hop.

use super::{Audit, AuditedUrl, AuditedUrls, FindingKind, FoundPage};

/// Browsers give up after so many redirects. A site can have a chain as long as the crawl.
const MOST_HOPS: usize = 20;

impl Audit {
    /// Follows a redirect until it ends, at a page or not, comes back to a URL that it has met, or nobody would follow on.
    pub(super) fn look_at_redirect(&mut self, page: &AuditedUrl, urls: &AuditedUrls) {
        let (mut hops, mut at, mut is_circle) = (Vec::<String>::new(), Some(page), false);
        while let Some(next) = at.filter(|_| !is_circle && hops.len() < MOST_HOPS).and_then(|at| at.leads_to.clone()) {
            is_circle = next == *page.url || hops.contains(&next);
            at = urls.get(&next);
            hops.push(next);
        }
        let Some(last) = hops.last() else { return };
        let kind = match (is_circle, at) {
            (true, _) => FindingKind::RedirectLoop,
            (false, Some(end)) if end.is_error => FindingKind::RedirectBroken,
            _ if hops.len() > 1 => FindingKind::RedirectChain,
            _ => return,
        };
        let (url, other, count) = (page.url.to_string(), last.clone(), Some(hops.len() as u64));
        self.findings.entry(kind).or_default().push(FoundPage { url, other, hops, count });
    }
}
