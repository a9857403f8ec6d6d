//! What skipping the links of duplicates saves and loses.
//!
//! A crawl that skipped them knows what it saved: the URLs that only duplicates name. One that followed all of them
//! knows both: its log has the links of every page, so that it can be told which pages are reached without the links of
//! duplicates. One that followed a share, drawn by lot, knows what it saved, and of the share how many pages are
//! unique; from that the loss of the others is estimated, as [`unique_share`](super::sampling_estimate::unique_share) says.
//!
//! A **gate** is a URL that is reached by links of duplicates only. What lies behind a gate, by links of unique pages,
//! was found because the gate was drawn. Behind duplicates among these lie further gates, which had to be drawn as
//! well: what is found behind `k` gates in a row had the chance `P^k`, and stands for as many requests as the inverse
//! of that. What lies behind several gates is counted with the nearest; of those that were not drawn nothing is known,
//! so that such pages count somewhat too much, unique ones and others alike, which the share of the two does not mind.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use url::Url;

use super::ReportError;
use super::sampling_estimate::{Gate, unique_share};
use crate::crawl::DuplicateLinks;
use crate::eval::Estimate;
use crate::model::{Deferral, LinkKind, OutcomeKind, UrlId, UrlState};
use crate::store::{DoneRow, StoreReader};

/// What is known of the links of duplicates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Behind {
    /// URLs that were asked for and are reached by links of duplicates only.
    pub asked: u64,
    /// Of these, pages that were compared.
    pub judged: u64,
    /// Of these, unique ones: what a crawl that skips all such links does not find.
    pub unique: u64,
    /// What that comes to.
    pub lost: Lost,
    /// The same for what lies on each host.
    pub hosts: BTreeMap<String, Lost>,
}

/// What is lost for the requests that are saved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lost {
    /// Gates that are known. Those that lie behind others are not counted.
    pub gates: u64,
    /// Of these, those that were followed.
    pub followed: u64,
    /// Unique pages for each request saved.
    pub share: Estimate,
}

/// Follows the links of unique pages, as a crawl that skips those of duplicates does, and counts what is not
/// reached. A longer way round counts as well, whatever the limit on depth. Memory: 4 bytes a link.
///
/// # Errors
/// If the logs can't be read.
pub fn behind_duplicates(reader: &StoreReader, links: DuplicateLinks) -> Result<Behind, ReportError> {
    let urls = reader.mark().urls as usize;
    let mut web = Web {
        next: HashMap::new(),
        of_duplicates: HashMap::new(),
        hosts: Hosts::default(),
        reached: vec![false; urls],
        kept_out: HashSet::new(),
    };
    web.read(reader)?;
    // A page that was judged anew has two outcomes, of which the last counts.
    let mut outcomes = vec![None; urls];
    for row in reader.all_done()? {
        if let DoneRow::Outcome(outcome) = row?
            && let Some(known) = outcomes.get_mut(outcome.url.index())
        {
            *known = Some(outcome.kind);
        }
    }
    // If none was followed, nothing was found behind them that would have to be weighed.
    let chance = if let DuplicateLinks::Sample(share) = links { f64::from(share) } else { 1.0 };
    Ok(web.behind(&outcomes, chance))
}

/// The links of pages.
struct Web {
    /// Those that are always followed.
    next: HashMap<UrlId, Vec<UrlId>>,
    of_duplicates: HashMap<UrlId, Vec<UrlId>>,
    hosts: Hosts,
    reached: Vec<bool>,
    /// URLs that would not be fetched whoever names them.
    kept_out: HashSet<UrlId>,
}

/// The host of each URL.
#[derive(Default)]
struct Hosts {
    numbers: HashMap<String, u32>,
    names: Vec<String>,
    of: Vec<u32>,
}

impl Hosts {
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

impl Web {
    fn read(&mut self, reader: &StoreReader) -> Result<(), ReportError> {
        let mut begun = Vec::new();
        for row in reader.all_urls()? {
            let (id, row) = row?;
            self.hosts.push(&row.url);
            if !matches!(row.state, UrlState::Queued | UrlState::Deferred(Deferral::DuplicateLink)) {
                self.kept_out.insert(id);
            }
            self.named(id, row.discovery.kind, row.discovery.referrer, &mut begun);
        }
        for row in reader.all_done()? {
            if let DoneRow::Requeued(row) = row? {
                self.kept_out.remove(&row.url);
                self.named(row.url, row.discovery.kind, row.discovery.referrer, &mut begun);
            }
        }
        for row in reader.all_pages()? {
            let (_, row) = row?;
            let links = if row.verdict.is_unique() { &mut self.next } else { &mut self.of_duplicates };
            links.entry(row.url).or_default().extend(row.links);
        }
        while let Some(id) = begun.pop() {
            if let Some(reached @ false) = self.reached.get_mut(id.index()) {
                *reached = true;
                begun.extend(self.next.get(&id).into_iter().flatten());
            }
        }
        Ok(())
    }

    /// Who named a URL when it was queued: redirects, sitemaps and pages that are not compared have no record.
    fn named(&mut self, id: UrlId, kind: LinkKind, referrer: Option<UrlId>, begun: &mut Vec<UrlId>) {
        match (kind, referrer) {
            (LinkKind::Duplicate, _) => {}
            (_, Some(referrer)) => self.next.entry(referrer).or_default().push(id),
            (_, None) => begun.push(id),
        }
    }

    fn is_reached(&self, id: UrlId) -> bool {
        self.reached.get(id.index()).copied().unwrap_or(true)
    }

    fn behind(&self, outcomes: &[Option<OutcomeKind>], chance: f64) -> Behind {
        let mut behind = Behind::default();
        let (ways, gates) = self.ways(outcomes);
        let mut all = Found::default();
        let mut by_host: BTreeMap<u32, Found> = BTreeMap::new();
        for (number, kind) in outcomes.iter().enumerate() {
            let (id, Some(kind)) = (UrlId(number as u32), kind) else { continue };
            if self.is_reached(id) {
                continue;
            }
            behind.asked += 1;
            let is_copy = matches!(kind, OutcomeKind::NearDuplicate | OutcomeKind::ExactDuplicate);
            behind.judged += u64::from(kind.is_kept() || is_copy);
            behind.unique += u64::from(kind.is_kept());
            // Named by a page of which there is no record.
            let Some(Way { gate, gates }) = ways.get(&id) else { continue };
            let weight = chance.powi(-i32::from(*gates));
            let is_single = *gates == 1 || chance >= 1.0;
            all.add(*gate, weight, is_single, kind.is_kept());
            by_host.entry(self.hosts.of[number]).or_default().add(*gate, weight, is_single, kind.is_kept());
        }
        // Where all are followed, those that were not are none that could be.
        let known = if chance >= 1.0 { all.gates.len() } else { gates.len() } as u64;
        let followed = all.gates.len().max(1) as f64;
        let of_host = |(host, found): (u32, Found)| {
            // As many gates lead there as lead there of those that were followed.
            let leading = (found.gates.len() as f64 * known as f64 / followed).round() as u64;
            (self.hosts.names[host as usize].clone(), found.lost(leading))
        };
        behind.hosts = by_host.into_iter().map(of_host).collect();
        behind.lost = all.lost(known);
        behind
    }

    /// The way to each URL that was asked for and is not reached otherwise, over the fewest gates, and the gates with
    /// which ways begin.
    fn ways(&self, outcomes: &[Option<OutcomeKind>]) -> (HashMap<UrlId, Way>, Vec<UrlId>) {
        let was_asked = |id: UrlId| outcomes.get(id.index()).copied().flatten().is_some();
        let of_reached = self.of_duplicates.iter().filter(|(id, _)| self.is_reached(**id));
        let mut gates: Vec<UrlId> = of_reached.flat_map(|(_, links)| links.iter().copied()).collect();
        gates.retain(|id| !self.is_reached(*id) && !self.kept_out.contains(id));
        gates.sort_unstable();
        gates.dedup();
        let mut ways: HashMap<UrlId, Way> = HashMap::new();
        let begun = gates.iter().filter(|id| was_asked(**id)).map(|id| (*id, Way { gate: *id, gates: 1 }));
        let mut waiting: VecDeque<(UrlId, Way)> = begun.collect();
        while let Some((id, way)) = waiting.pop_front() {
            if self.is_reached(id) || !was_asked(id) || ways.get(&id).is_some_and(|known| known.gates <= way.gates) {
                continue;
            }
            ways.insert(id, way);
            let next = self.next.get(&id).into_iter().flatten();
            next.for_each(|next| waiting.push_front((*next, way)));
            let deeper = Way { gates: way.gates.saturating_add(1), ..way };
            let behind = self.of_duplicates.get(&id).into_iter().flatten();
            behind.for_each(|next| waiting.push_back((*next, deeper)));
        }
        (ways, gates)
    }
}

/// What was found behind gates.
#[derive(Default)]
struct Found {
    gates: HashMap<UrlId, Gate>,
    /// Requests behind one gate alone, weighed.
    single: f64,
}

impl Found {
    fn add(&mut self, gate: UrlId, weight: f64, is_single: bool, is_unique: bool) {
        let found = self.gates.entry(gate).or_default();
        found.requests += weight;
        found.unique += if is_unique { weight } else { 0.0 };
        self.single += if is_single { weight } else { 0.0 };
    }

    /// What that comes to, if so many gates are known.
    fn lost(self, gates: u64) -> Lost {
        let mut drawn: Vec<(UrlId, Gate)> = self.gates.into_iter().collect();
        // Sums of numbers with places depend on their order.
        drawn.sort_unstable_by_key(|(id, _)| *id);
        let drawn: Vec<Gate> = drawn.into_iter().map(|(_, gate)| gate).collect();
        let requests: f64 = drawn.iter().map(|gate| gate.requests).sum();
        let single = if requests > 0.0 { self.single / requests } else { 0.0 };
        Lost { gates, followed: drawn.len() as u64, share: unique_share(&drawn, gates, single) }
    }
}

/// How a URL was found.
#[derive(Clone, Copy)]
struct Way {
    /// The first gate on it.
    gate: UrlId,
    /// How many gates there are on it.
    gates: u8,
}
