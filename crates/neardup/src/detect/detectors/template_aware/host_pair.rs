//! The hosts of two pages, and the shingles of both that can be compared.

use super::host_templates::HostTemplates;
use crate::detect::page_match::Page;

/// The hosts of two pages, and the level to which both have their shingles sampled.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostPair<'a> {
    pub own: Option<&'a HostTemplates>,
    /// Only if it is another host.
    pub other: Option<&'a HostTemplates>,
    pub level: u8,
}

impl HostPair<'_> {
    pub fn are_young(self) -> bool {
        [self.own, self.other].into_iter().flatten().all(HostTemplates::is_young)
    }

    pub fn is_core(self, shingle: u32) -> bool {
        let on = |host: Option<&HostTemplates>| host.is_some_and(|host| host.is_core(shingle));
        on(self.own) || on(self.other)
    }

    pub fn is_template(self, shingle: u32) -> bool {
        let on = |host: Option<&HostTemplates>| host.is_some_and(|host| host.is_template(shingle));
        on(self.own) || on(self.other)
    }
}

/// Returns the shingles sampled to `level`: hashes with that many leading zero bits come first.
pub(super) fn sampled(shingles: &[u32], level: u8) -> &[u32] {
    if level == 0 {
        return shingles;
    }
    &shingles[..shingles.partition_point(|shingle| shingle.leading_zeros() >= level.into())]
}

/// Merges the shingles of two pages, ascending, sampled to `level`, and tells which of the pages have each.
pub(super) fn merged(level: u8, a: &Page, b: &Page) -> impl Iterator<Item = (u32, bool, bool)> {
    let (mut a, mut b) = (sampled(&a.order.shingles, level), sampled(&b.order.shingles, level));
    std::iter::from_fn(move || {
        let next = match (a.first(), b.first()) {
            (Some(&x), Some(&y)) => x.min(y),
            (Some(&only), None) | (None, Some(&only)) => only,
            (None, None) => return None,
        };
        let (in_a, in_b) = (a.first() == Some(&next), b.first() == Some(&next));
        a = &a[usize::from(in_a)..];
        b = &b[usize::from(in_b)..];
        Some((next, in_a, in_b))
    })
}
