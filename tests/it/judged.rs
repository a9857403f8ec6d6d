//! Replays the log of a finished crawl.

use std::path::Path;
use std::time::{Duration, Instant};

use ndcrawl::detect::{Decider, DeciderStats, Options};
use ndcrawl::model::{Judged, PageInput, PageRow, TermCounts, TermRow, Verdict};
use ndcrawl::store::{Result, StoreReader, read_json_file};

const CACHE: u64 = 64 << 20;

/// All judged pages of a crawl in their order, and the settings of the decider.
pub struct Log {
    pub options: Options,
    pub pages: Vec<PageRow>,
    pub terms: Vec<TermRow>,
}

/// The verdicts of a new decider on the pages of a log.
#[allow(dead_code)] // tests do not measure
pub struct Replay {
    pub judged: Vec<Judged>,
    pub stats: DeciderStats,
    /// The time in the decider alone.
    pub took: Duration,
}

impl Log {
    /// Reads the folder of a crawl that is not running.
    pub fn read(out: &Path) -> Result<Self> {
        let (reader, _) = StoreReader::open(out, CACHE)?;
        let pages = reader.all_pages()?.map(|row| Ok(row?.1)).collect::<Result<_>>()?;
        let terms = reader.all_terms()?.map(|row| Ok(row?.1)).collect::<Result<_>>()?;
        Ok(Self { options: options(out)?, pages, terms })
    }

    /// The crawl's own verdict on each page.
    pub fn verdicts(&self) -> Vec<Verdict> {
        self.pages.iter().map(|page| page.verdict).collect()
    }

    /// Passes the pages to a new decider in the order of the log, in batches of this size.
    pub fn replay(&self, options: &Options, batch: usize) -> Replay {
        let mut decider = Decider::in_memory(options.clone());
        let mut judged = Vec::new();
        let mut took = Duration::ZERO;
        for pages in self.pages.chunks(batch) {
            let candidates = pages.iter().map(|page| self.candidate(page)).collect();
            let began = Instant::now();
            let verdicts = decider.decide(candidates).unwrap();
            took += began.elapsed();
            judged.extend(verdicts);
        }
        Replay { judged, stats: decider.stats(), took }
    }

    /// The page as the decider saw it, except that its terms are sorted by number.
    pub fn candidate(&self, page: &PageRow) -> PageInput {
        let counted =
            |(term, counts): (ndcrawl::model::TermId, _)| TermCounts { term: self.terms[term.index()].clone(), counts };
        PageInput {
            page: page.page,
            group: page.group,
            body_digest: page.body_digest,
            text_digest: page.text_digest,
            terms: page.terms.iter().map(counted).collect(),
            order: page.order.clone(),
            renews: page.renews,
            rank: page.kind.rank(),
        }
    }
}

impl Replay {
    pub fn verdicts(&self) -> Vec<Verdict> {
        self.judged.iter().map(|judged| judged.verdict).collect()
    }
}

/// The decider's options, from the settings in the crawl's folder.
fn options(out: &Path) -> Result<Options> {
    let file = read_json_file(&out.join("crawl.json"))?.expect("a crawl has a crawl.json");
    let setting = |name: &str| {
        let value = &file["settings"][name];
        assert!(!value.is_null(), "no {name} in {file}");
        value.clone()
    };
    Ok(Options {
        detector: serde_json::from_value(setting("dedup.detector")).unwrap(),
        threshold: serde_json::from_value(setting("dedup.threshold")).unwrap(),
        second: serde_json::from_value(setting("dedup.second_check")).unwrap(),
        filter: serde_json::from_value(setting("dedup.filter")).unwrap(),
        thresholding: match &file["settings"]["dedup.thresholding"] {
            serde_json::Value::Null => Options::default().thresholding,
            serde_json::Value::String(word) => word.parse().unwrap(),
            share => share.to_string().parse().unwrap(),
        },
        // Crawls from before this setting do not name it.
        mode: serde_json::from_value(file["settings"]["dedup.matching"].clone()).unwrap_or_default(),
        min_terms: serde_json::from_value(setting("dedup.min_terms")).unwrap(),
        weights: setting("dedup.field_weights").as_str().unwrap().parse().unwrap(),
        ..Options::default()
    })
}
