//! Which copy of each cluster is kept in the end, if the user has a rule for it.
//!
//! While pages come, the first copy stays. When all are decided, each cluster is looked at once more: the copy that the
//! rule prefers takes the place of the kept one, and both and all others of the cluster are decided again from the log, as
//! they would have been if that copy had come first. So verdicts and losses are those of ordinary decisions, and nothing
//! is fetched.
//!
//! **Law.** A rule changes which copy of a cluster is kept: never which pages are in it. Likeness is not transitive, so a
//! copy takes the place only if every page of the cluster would name it, and it none. Hence runs with one rule after the
//! other end as one run with the last, unless verdicts change meanwhile since more is known.

use std::collections::{BTreeMap, HashMap};

use ndcrawl_model::{ClusterCopy, EarlierVerdict, KeepRule, PageKind, PageLine, PageRow, Revision, Sequence, UrlId};

use super::displaced_page::DisplacedPage;
use super::page_decider::FolderDecider;
use super::{DecisionStage, PipelineError};

/// The most copies of a cluster that are tried, the best ones first.
const MOST_TRIED: usize = 32;

/// A stored page that has duplicates.
pub struct Cluster {
    kept: Sequence,
    /// The page that was kept before a rule was asked.
    first: Sequence,
    /// All pages, in the order of their first decisions.
    pages: Vec<Sequence>,
}

impl DecisionStage {
    /// Returns the clusters that a rule may have to change. All pages must be committed.
    ///
    /// Cost: some passes over the decisions.
    pub fn clusters(&mut self, rule: &KeepRule) -> Vec<Cluster> {
        self.without_body = 0;
        let numbers = || (0..self.page_urls.len() as u32).map(Sequence);
        let Some(FolderDecider { decider, .. }) = self.decider.folder() else { return Vec::new() };
        if *rule == KeepRule::First && !numbers().any(|page| decider.is_chosen(page)) {
            return Vec::new();
        }
        let later: HashMap<Sequence, Sequence> = decider.renewed().map(|(later, earlier)| (earlier, later)).collect();
        let earlier: HashMap<Sequence, Sequence> = decider.renewed().collect();
        let names = |page| decider.verdict(page).and_then(|verdict| verdict.duplicate_of());
        let latest = |page| last(page, |page| later.get(&page).copied());
        let mut clusters = BTreeMap::<Sequence, Vec<Sequence>>::new();
        for page in numbers().filter(|page| !earlier.contains_key(page)).map(latest) {
            let of = names(page).unwrap_or(page);
            if of.as_earlier().is_none() && !later.contains_key(&of) {
                clusters.entry(of).or_default().push(page);
            }
        }
        clusters.retain(|_, pages| pages.len() > 1);
        let displaced = |page| earlier.get(&page).and_then(|page| names(*page)).filter(|_| decider.is_chosen(page));
        let first = |kept| latest(last(kept, displaced));
        clusters.into_iter().map(|(kept, pages)| Cluster { kept, first: first(kept), pages }).collect()
    }

    /// Has the copy that the rule prefers take the place of the kept page of a cluster, if it is another one and can.
    /// Returns whether it has.
    ///
    /// Cost: reads the pages of the cluster; if another copy is preferred, compares them with it.
    pub fn exchange(&mut self, rule: &KeepRule, cluster: &Cluster) -> Result<bool, PipelineError> {
        let Some((chosen, kept_by)) = self.exchange_of(rule, cluster)? else { return Ok(false) };
        self.decide_again(chosen, Some(kept_by))?;
        let others = cluster.pages.iter().filter(|page| ![chosen, cluster.kept].contains(page));
        [&cluster.kept].into_iter().chain(others).try_for_each(|page| self.decide_again(*page, None))?;
        Ok(true)
    }

    /// Returns the copy that takes the place of the kept page, and why it does: the best one that can, and whose body is at
    /// hand if that of the kept page is.
    fn exchange_of(
        &mut self,
        rule: &KeepRule,
        cluster: &Cluster,
    ) -> Result<Option<(Sequence, Option<String>)>, PipelineError> {
        let Cluster { kept, first, pages } = cluster;
        let Some(first) = pages.iter().position(|page| page == first) else { return Ok(None) };
        let copies = pages.iter().map(|page| self.copy(rule, *page)).collect::<Result<_, _>>()?;
        let preferred = rule.preferred(copies, first).into_iter().map(|(at, why)| (at, pages[at], why));
        let better = preferred.take_while(|(_, page, _)| page != kept).enumerate();
        for (_, (_, chosen, why)) in better.filter(|(tried, (at, ..))| *tried < MOST_TRIED || *at == first) {
            let others: Vec<Sequence> = pages.iter().copied().filter(|page| ![chosen, *kept].contains(page)).collect();
            let Some(FolderDecider { decider, .. }) = self.decider.folder_mut() else { return Ok(None) };
            if !decider.can_take_place(chosen, *kept, &others)? {
                continue;
            }
            if self.has_body(chosen)? || !self.has_body(*kept)? {
                return Ok(Some((chosen, why)));
            }
            self.without_body += 1;
        }
        Ok(None)
    }

    /// Returns what the rule has to know of a page.
    fn copy(&mut self, rule: &KeepRule, page: Sequence) -> Result<ClusterCopy, PipelineError> {
        let row = self.row(page)?;
        Ok(rule.copy(&self.line(row.url)?, row.order.text.words.len()))
    }

    fn row(&self, page: Sequence) -> Result<PageRow, PipelineError> {
        self.reader.page(page)?.ok_or(PipelineError::Lost { what: "page", id: page.0 })
    }

    /// Returns the committed line of a URL.
    fn line(&mut self, id: UrlId) -> Result<PageLine, PipelineError> {
        let url = self.reader.url(id)?.ok_or(PipelineError::Lost { what: "URL", id: id.0 })?.url;
        self.line_of(&url)?.ok_or(PipelineError::Lost { what: "the line of URL", id: id.0 })
    }

    /// Returns whether the archive has the body of a page.
    fn has_body(&mut self, page: Sequence) -> Result<bool, PipelineError> {
        let url = self.row(page)?.url;
        let line = self.line(url)?;
        let (Some(file), Some(offset)) = (&line.warc_file, line.warc_offset) else { return Ok(false) };
        Ok(self.reader.archive().record(file, offset).is_ok_and(|record| record.kind() == "response"))
    }

    /// Decides a committed page again from the log: as the one to keep, if there is a reason or none is needed.
    fn decide_again(&mut self, page: Sequence, chosen: Option<Option<String>>) -> Result<(), PipelineError> {
        let revised = EarlierVerdict { reason: Some(Revision::KeepRule), ..self.earlier_verdict(page, None)? };
        let committed = Sequence(self.progress.pages());
        let Some(FolderDecider { decider, .. }) = self.decider.folder_mut() else { return Ok(()) };
        decider.committed(committed);
        let kind = |row: &PageRow| match chosen {
            Some(_) => Ok(PageKind::Chosen),
            None => Ok(self.reader.kind_of(row)?),
        };
        let decided = DisplacedPage::decide_as(decider, &self.reader, page, kind)?;
        let kept_by = chosen.flatten().filter(|_| decided.verdict().is_unique());
        self.enter_again(decided, |_| PageLine { revised: Some(revised), kept_by, ..PageLine::default() })
    }
}

/// Follows pages to the last one.
fn last(mut page: Sequence, next: impl Fn(Sequence) -> Option<Sequence>) -> Sequence {
    while let Some(next) = next(page) {
        page = next;
    }
    page
}
