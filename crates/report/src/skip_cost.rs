//! Savings and losses of skipping the links of duplicates.
//!
//! | policy | saved requests | lost text |
//! |---|---|---|
//! | skip | known: URLs that only duplicates link to | unknown |
//! | unmatched | known for the links that were followed | known for these |
//! | follow, defer | known from the links in the log | known in the same way |
//! | sample | known | estimated by [`gain_share`] |
//!
//! What is lost is text, not pages: a page counts by the share of its text that stands in no page that a crawl with
//! `skip` stores ([`NewText`]). A page that was stored for a tenth of its text is a tenth of a page lost.
//!
//! A **gate** is a URL reached through links of duplicates only. Pages behind a gate, by links of unique pages, were
//! found because the gate was sampled. Duplicates among them lead to further gates, which had to be sampled too. So a
//! page behind `k` gates in a row has the probability `P^k` and the weight `P^-k`.
//!
//! A page behind several gates counts with the nearest. Gates that were not sampled are unknown, so such a page weighs
//! somewhat too much. That holds for unique pages and duplicates alike, so the ratio is not biased by it.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use url::Url;

use super::ReportError;
use super::new_text::NewText;
use super::sampling_estimate::{Gate, gain_share};
use super::unmatched_links;
use ndcrawl_engine::crawl::DuplicateLinks;
use ndcrawl_eval::Estimate;
use ndcrawl_model::{Deferral, LinkKind, OutcomeKind, UrlId, UrlState};
use ndcrawl_store::{DoneRow, StoreReader};

/// Requests, unique pages and new text behind links of duplicates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkipCost {
    /// URLs requested that are reached through links of duplicates only.
    pub requests: u64,
    /// Pages compared among them.
    pub judged: u64,
    /// Unique pages among them, which a crawl that skips all such links does not find.
    pub unique: u64,
    /// Their text that stands in no other stored page, in pages.
    pub new_text: f64,
    /// URLs that were not fetched, to which a duplicate links and the page that it repeats does not.
    pub unmatched: u64,
    /// The estimated loss.
    pub loss: SkipLoss,
    /// The estimated loss by host.
    pub hosts: BTreeMap<String, SkipLoss>,
}

/// New text lost per request saved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SkipLoss {
    /// Known gates, without those behind other gates.
    pub gates: u64,
    /// Gates that were followed.
    pub followed: u64,
    /// New text lost per request saved, in pages.
    pub share: Estimate,
}

/// Measures what skipping the links of duplicates saves and loses.
///
/// Follows the links of unique pages, as a crawl that skips links of duplicates does, and counts the URLs not reached.
/// The limit on depth is ignored. Memory: 4 bytes a link, and 18 for each run of words of pages that are not reached so.
///
/// # Errors
/// If the logs cannot be read.
pub fn measure_skip_cost(reader: &StoreReader, links: DuplicateLinks) -> Result<SkipCost, ReportError> {
    let urls = reader.mark().urls as usize;
    let mut graph = LinkGraph {
        next: HashMap::new(),
        of_duplicates: HashMap::new(),
        hosts: HostNames::default(),
        reached: vec![false; urls],
        kept_out: HashSet::new(),
    };
    graph.read(reader)?;
    // A page judged twice has two outcomes; the last one counts.
    let mut outcomes = vec![None; urls];
    for row in reader.all_done()? {
        if let DoneRow::Outcome(outcome) = row?
            && let Some(known) = outcomes.get_mut(outcome.url.index())
        {
            *known = Some(outcome.kind);
        }
    }
    // If no link was followed, no page needs a weight.
    let chance = if let DuplicateLinks::Sample(share) = links { f64::from(share) } else { 1.0 };
    let is_lost = |id: UrlId| !graph.is_reached(id) && outcomes.get(id.index()).is_some_and(Option::is_some);
    let new_text = NewText::measure(reader, is_lost)?;
    let unmatched = unmatched_links::count(reader)?;
    Ok(SkipCost { unmatched, ..graph.cost(&outcomes, &new_text, chance) })
}

/// The links of all pages.
struct LinkGraph {
    /// Links that every policy follows.
    next: HashMap<UrlId, Vec<UrlId>>,
    of_duplicates: HashMap<UrlId, Vec<UrlId>>,
    hosts: HostNames,
    reached: Vec<bool>,
    /// URLs that are never fetched, whichever page links to them.
    kept_out: HashSet<UrlId>,
}

/// The host of each URL, as a number.
#[derive(Default)]
struct HostNames {
    numbers: HashMap<String, u32>,
    names: Vec<String>,
    of: Vec<u32>,
}

impl HostNames {
    fn push(&mut self, url: &str) {
        let url = Url::parse(url).ok();
        let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
        let number = match self.numbers.get(host) {
            Some(number) => *number,
            None => {
                let number = self.names.len() as u32;
                self.numbers.insert(host.to_owned(), number);
                self.names.push(host.to_owned());
                number
            }
        };
        self.of.push(number);
    }
}

impl LinkGraph {
    fn read(&mut self, reader: &StoreReader) -> Result<(), ReportError> {
        let mut starts = Vec::new();
        for row in reader.all_urls()? {
            let (id, row) = row?;
            self.hosts.push(&row.url);
            if !matches!(row.state, UrlState::Queued | UrlState::Deferred(Deferral::DuplicateLink)) {
                self.kept_out.insert(id);
            }
            self.add_discovery(id, row.discovery.kind, row.discovery.referrer, &mut starts);
        }
        for row in reader.all_done()? {
            if let DoneRow::Requeued(row) = row? {
                self.kept_out.remove(&row.url);
                self.add_discovery(row.url, row.discovery.kind, row.discovery.referrer, &mut starts);
            }
        }
        for row in reader.all_pages()? {
            let (_, row) = row?;
            let links = if row.verdict.is_unique() { &mut self.next } else { &mut self.of_duplicates };
            links.entry(row.url).or_default().extend(row.links);
        }
        while let Some(id) = starts.pop() {
            if let Some(reached @ false) = self.reached.get_mut(id.index()) {
                *reached = true;
                starts.extend(self.next.get(&id).into_iter().flatten());
            }
        }
        Ok(())
    }

    /// Adds the link that queued a URL. Redirects, sitemaps and pages that are not compared have no record of links.
    fn add_discovery(&mut self, id: UrlId, kind: LinkKind, referrer: Option<UrlId>, starts: &mut Vec<UrlId>) {
        match (kind, referrer) {
            (LinkKind::Duplicate, _) => {}
            (_, Some(referrer)) => self.next.entry(referrer).or_default().push(id),
            (_, None) => starts.push(id),
        }
    }

    fn is_reached(&self, id: UrlId) -> bool {
        self.reached.get(id.index()).copied().unwrap_or(true)
    }

    fn cost(&self, outcomes: &[Option<OutcomeKind>], new_text: &NewText, chance: f64) -> SkipCost {
        let mut cost = SkipCost::default();
        let (paths, gates) = self.paths(outcomes);
        let mut all = GateCounts::default();
        let mut by_host: BTreeMap<u32, GateCounts> = BTreeMap::new();
        for (number, kind) in outcomes.iter().enumerate() {
            let (id, Some(kind)) = (UrlId(number as u32), kind) else { continue };
            if self.is_reached(id) {
                continue;
            }
            cost.requests += 1;
            let is_copy = matches!(kind, OutcomeKind::NearDuplicate | OutcomeKind::ExactDuplicate);
            cost.judged += u64::from(kind.is_kept() || is_copy);
            cost.unique += u64::from(kind.is_kept());
            let new_text = if kind.is_kept() { new_text.share(id) } else { 0.0 };
            cost.new_text += new_text;
            // The linking page has no record.
            let Some(GatePath { gate, gates }) = paths.get(&id) else { continue };
            let weight = chance.powi(-i32::from(*gates));
            let is_single = *gates == 1 || chance >= 1.0;
            all.add(*gate, weight, is_single, new_text);
            by_host.entry(self.hosts.of[number]).or_default().add(*gate, weight, is_single, new_text);
        }
        // If all gates are followed, the others cannot be fetched.
        let known = if chance >= 1.0 { all.gates.len() } else { gates.len() } as u64;
        let followed = all.gates.len().max(1) as f64;
        let of_host = |(host, found): (u32, GateCounts)| {
            // Scale the followed gates that lead to this host up to all known gates.
            let leading = (found.gates.len() as f64 * known as f64 / followed).round() as u64;
            (self.hosts.names[host as usize].clone(), found.loss(leading))
        };
        cost.hosts = by_host.into_iter().map(of_host).collect();
        cost.loss = all.loss(known);
        cost
    }

    /// Returns the path with the fewest gates to each requested URL not reached otherwise, and the first gates.
    fn paths(&self, outcomes: &[Option<OutcomeKind>]) -> (HashMap<UrlId, GatePath>, Vec<UrlId>) {
        let was_requested = |id: UrlId| outcomes.get(id.index()).copied().flatten().is_some();
        let of_reached = self.of_duplicates.iter().filter(|(id, _)| self.is_reached(**id));
        let mut gates: Vec<UrlId> = of_reached.flat_map(|(_, links)| links.iter().copied()).collect();
        gates.retain(|id| !self.is_reached(*id) && !self.kept_out.contains(id));
        gates.sort_unstable();
        gates.dedup();
        let mut paths: HashMap<UrlId, GatePath> = HashMap::new();
        let starts = gates.iter().filter(|id| was_requested(**id)).map(|id| (*id, GatePath { gate: *id, gates: 1 }));
        let mut waiting: VecDeque<(UrlId, GatePath)> = starts.collect();
        while let Some((id, path)) = waiting.pop_front() {
            if self.is_reached(id)
                || !was_requested(id)
                || paths.get(&id).is_some_and(|known| known.gates <= path.gates)
            {
                continue;
            }
            paths.insert(id, path);
            let next = self.next.get(&id).into_iter().flatten();
            next.for_each(|next| waiting.push_front((*next, path)));
            let deeper = GatePath { gates: path.gates.saturating_add(1), ..path };
            let behind = self.of_duplicates.get(&id).into_iter().flatten();
            behind.for_each(|next| waiting.push_back((*next, deeper)));
        }
        (paths, gates)
    }
}

/// Weighted totals by gate.
#[derive(Default)]
struct GateCounts {
    gates: HashMap<UrlId, Gate>,
    /// Weighted requests behind exactly one gate.
    single: f64,
}

impl GateCounts {
    fn add(&mut self, gate: UrlId, weight: f64, is_single: bool, new_text: f64) {
        let found = self.gates.entry(gate).or_default();
        found.requests += weight;
        found.gain += weight * new_text;
        self.single += if is_single { weight } else { 0.0 };
    }

    /// Returns the loss, if `gates` gates are known.
    fn loss(self, gates: u64) -> SkipLoss {
        let mut drawn: Vec<(UrlId, Gate)> = self.gates.into_iter().collect();
        // The order of summation changes floating-point sums.
        drawn.sort_unstable_by_key(|(id, _)| *id);
        let drawn: Vec<Gate> = drawn.into_iter().map(|(_, gate)| gate).collect();
        let requests: f64 = drawn.iter().map(|gate| gate.requests).sum();
        let single = if requests > 0.0 { self.single / requests } else { 0.0 };
        SkipLoss { gates, followed: drawn.len() as u64, share: gain_share(&drawn, gates, single) }
    }
}

/// A path to a URL through gates.
#[derive(Clone, Copy)]
struct GatePath {
    /// The first gate of the path.
    gate: UrlId,
    /// Number of gates on the path.
    gates: u8,
}
