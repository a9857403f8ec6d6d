//! What the reasons of outcomes mean, in words.

/// Says why URLs have an outcome with this reason, and which flag decides; empty for an unknown reason.
pub(super) fn meaning(outcome: &str, reason: &str) -> &'static str {
    match (outcome, reason) {
        ("excluded", "scope") => "outside the hosts, domains or folders of the seeds (--scope)",
        ("excluded", "include") => "no expression of --include matches",
        ("excluded", "exclude") => "an expression of --exclude matches",
        ("excluded", "robots") => "robots.txt forbids it",
        ("excluded", "robots-unreachable") => "robots.txt could not be read, which forbids everything for now",
        ("excluded", "crawl-delay") => "the host asks for a longer Crawl-delay than --max-crawl-delay allows",
        ("excluded", "noindex") => "the page asks not to be indexed; its links were used",
        ("excluded", "type") => "a media type that --accept-type does not name",
        ("excluded", "trap") => "the URL looks endless: repeated or too many path segments (--trap-guard)",
        ("excluded", "sitemap") => "a sitemap: read for its URLs, not a page itself",
        ("excluded", "pattern") => "pages of this URL pattern kept repeating each other (--trap-guard)",
        ("excluded", "soft-404") => "an error page that was sent with status 200 (--soft-404)",
        ("excluded", "off-topic") => "less relevant to the topic than --focus-min",
        ("excluded", "empty") => "the answer has no content",
        ("deferred", "depth") => "more links away from the seeds than --depth allows",
        ("deferred", "budget") => "beyond --max-pages, --max-pages-per-host or --max-time",
        ("deferred", "duplicate-link") => "only duplicates link to it (--duplicate-links)",
        ("deferred", "nofollow") => "every link to it says nofollow (--nofollow)",
        ("deferred", "not-asked") => "the engine did not ask for it",
        ("deferred", "not-in-sitemap") => "no sitemap lists it (--sitemaps only)",
        ("failed", "dns") => "the name of the host has no address",
        ("failed", "connect") => "no connection to the server",
        ("failed", "tls") => "no secure connection: certificate or protocol",
        ("failed", "timeout") => "no answer in time (--timeout)",
        ("failed", "protocol") => "an answer that is no HTTP",
        ("failed", "decode") => "a body that is not encoded as its header says",
        ("failed", "too-large") => "larger than a limit allows",
        ("failed", "robots") => "robots.txt could not be fetched",
        ("failed", "private-address") => "a private address (--allow-net allows it)",
        ("failed", "redirect") => "too many redirects, or one that leads nowhere",
        ("failed", "partial") => "only a part of the page was sent",
        ("failed", "internal") => "a fault of this program",
        ("failed", "HTTP 401") => "a login is needed (-H 'Authorization: …')",
        ("failed", "HTTP 403") => "the server refuses",
        ("failed", "HTTP 404") => "there is no such page: links to it are dead",
        ("failed", "HTTP 410") => "the page is gone for good: links to it are dead",
        ("failed", "HTTP 429") => "too many requests (--delay)",
        ("failed", status) if status.starts_with("HTTP 5") => "a fault of the server",
        ("failed", status) if status.starts_with("HTTP 4") => "the server refuses the request",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Deferral, Exclusion, FailureClass};

    #[test]
    fn every_reason_is_explained() {
        use Exclusion::*;
        let excluded = [
            Scope,
            Include,
            Exclude,
            Robots,
            RobotsUnreachable,
            CrawlDelay,
            NoIndex,
            Type,
            Trap,
            Sitemap,
            Pattern,
            Soft404,
            OffTopic,
            Empty,
        ];
        for reason in excluded {
            assert_ne!(meaning("excluded", reason.name()), "", "{reason:?}");
        }
        for reason in [
            Deferral::Depth,
            Deferral::Budget,
            Deferral::DuplicateLink,
            Deferral::NoFollow,
            Deferral::NotAsked,
            Deferral::NotInSitemap,
        ] {
            assert_ne!(meaning("deferred", reason.name()), "", "{reason:?}");
        }
        use FailureClass as Class;
        let classes = [
            Class::Dns,
            Class::Connect,
            Class::Tls,
            Class::Timeout,
            Class::Protocol,
            Class::Decode,
            Class::TooLarge,
            Class::Robots,
            Class::PrivateAddress,
            Class::Redirect,
            Class::Internal,
            Class::Partial,
        ];
        for class in classes {
            assert_ne!(meaning("failed", class.name()), "", "{class:?}");
        }
        assert_eq!(meaning("failed", "HTTP 503"), "a fault of the server");
        assert_eq!(meaning("stored", "?"), "");
    }
}
