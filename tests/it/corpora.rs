//! Real sites on a real server, scored against what a perfect crawl keeps.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::exactness::assert_exact;
use crate::foreign::{output, run};
use crate::invariants::{assert_duplicates_name_stored_pages, lines};
use crate::needs::{Corpora, Need, Program, first_missing, reason, shared, skip};
use crate::program::{BY_WEIGHTS, Place};

/// Clusters that may be missed: sibling pages of one template can reach the threshold.
/// The paper's weights at 0.8 miss one of the 217 clusters of these sites.
const MISSED: f64 = 1.0;

const SITES: [&str; 3] = ["maint-guide", "debfaq", "gtk2"];
/// The flags of the corpus crawl.
const MANNERS: [&str; 13] = [
    "--delay",
    "0",
    "--ip-delay",
    "0",
    "--host-concurrency",
    "8",
    "--max-crawl-delay",
    "0",
    "-d",
    "50",
    "--scope",
    "host",
    "--allow-private",
];
/// The highest share of stored pages that may be extra copies of a cluster.
const EXTRA_RATE: f64 = 0.05;

/// The sites on nginx; dropping it stops the server.
struct Served {
    script: PathBuf,
    folder: PathBuf,
    port: u16,
}

impl Served {
    fn start(script: PathBuf, folder: PathBuf) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let served = Self { script, folder, port };
        // A leftover server of an earlier run would keep the old port.
        output(&mut served.command("stop"));
        run(&mut served.command("start"));
        served
    }

    fn command(&self, action: &str) -> Command {
        let mut command = Command::new("sh");
        command.arg(&self.script).args(["-p", &self.port.to_string()]).arg(&self.folder).arg(action);
        command
    }

    /// The front pages of the tested sites, by address.
    fn seeds(&self) -> Vec<String> {
        let urls = run(&mut self.command("urls"));
        let sites = urls.lines().filter_map(|line| {
            let mut fields = line.split('\t');
            Some((fields.next()?.to_owned(), format!("{}/", fields.next()?)))
        });
        sites.filter(|(site, _)| SITES.contains(&site.as_str())).map(|(_, url)| url).collect()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        output(&mut self.command("stop"));
    }
}

/// Returns the folder of the labelled sites, or why there is none.
pub fn sites() -> Result<PathBuf, String> {
    fetch_sites("sites", &SITES)
}

fn require(needs: &[Need]) -> Result<(), String> {
    first_missing(needs).map_or(Ok(()), |need| Err(reason(need)))
}

/// Downloads these sites, once for all runs, into a folder of this name; returns why if that fails.
pub fn fetch_sites(folder: &str, sites: &[&str]) -> Result<PathBuf, String> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let corpora = corpora()?;
    require(&[Program("apt-get"), Program("dpkg-deb")])?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    if sites.iter().all(|site| folder.join(site).is_dir()) {
        return Ok(folder);
    }
    let mut fetch = Command::new("sh");
    fetch.arg(corpora.join("fetch-sites.sh")).args(["-s", &sites.join(",")]).arg(&folder);
    let fetched = output(&mut fetch);
    if fetched.status.success() { Ok(folder) } else { Err(String::from_utf8_lossy(&fetched.stderr).trim().to_owned()) }
}

/// Whether a fetched site has the package versions of the list of sites.
pub fn is_as_listed(folder: &Path, site: &str) -> bool {
    let versions = std::fs::read_to_string(folder.join("VERSIONS.tsv")).unwrap_or_default();
    let mut of_site = versions.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    of_site.all(|fields| fields.len() == 4 && (fields[0] != site || fields[2] == fields[3]))
}

/// The figures that `score-crawl.py` prints, by name.
fn score(corpora: &Path, out: &Path) -> BTreeMap<String, f64> {
    let mut scorer = Command::new("python3");
    scorer.arg(corpora.join("score-crawl.py")).arg(out);
    let figures = run(scorer.arg(corpora.join("clusters-public.tsv")).arg(corpora.join("sites.tsv")));
    println!("{figures}");
    figures
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(name, value)| (name.to_owned(), value.parse().unwrap()))
        .collect()
}

/// Crawls the real sites into the folder `out`; returns why if that is impossible.
pub fn crawl() -> Result<Place, String> {
    // All tests share the folder of the sites, and one server at a time may use it.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    require(&[Program("nginx"), Program("python3")])?;
    let corpora = corpora()?;
    let folder = sites()?;
    let served = Served::start(corpora.join("serve-sites.sh"), folder);
    let seeds = served.seeds();
    assert_eq!(seeds.len(), SITES.len(), "{seeds:?}");
    let place = Place::new();
    place
        .run(&seeds)
        .args(["-o", "out"])
        .args(MANNERS)
        .args(BY_WEIGHTS)
        .patience(Duration::from_secs(150))
        .finish()
        .expect_code(0);
    Ok(place)
}

pub fn corpora() -> Result<PathBuf, String> {
    shared("corpora").ok_or_else(|| reason(Corpora))
}

#[test]
#[cfg_attr(not(can_serve_sites), ignore = "needs shared/corpora beside the checkout, apt-get, nginx and python3")]
fn a_crawl_of_real_sites_misses_no_cluster_and_keeps_few_copies() {
    let (place, corpora) = match (crawl(), corpora()) {
        (Ok(place), Ok(corpora)) => (place, corpora),
        (Err(reason), _) | (_, Err(reason)) => return skip(&reason),
    };
    assert_duplicates_name_stored_pages(&lines(&place.path("out")));
    let figures = score(&corpora, &place.path("out"));
    assert!(figures["fetched"] > 100.0, "{figures:?}");
    assert!(figures["missed"] <= MISSED, "{figures:?}");
    assert!(figures["extra_rate"] <= EXTRA_RATE, "{figures:?}");
}

#[test]
#[cfg_attr(not(can_serve_sites), ignore = "needs shared/corpora beside the checkout, apt-get, nginx and python3")]
fn every_decision_on_real_sites_is_that_of_brute_force() {
    match crawl() {
        Ok(place) => assert_exact(&place.path("out")),
        Err(reason) => skip(&reason),
    }
}
