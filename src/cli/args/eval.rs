//! The arguments of `eval`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::common::Verbosity;
use super::flags::KeyFlags;
use super::key_sets::ComparingKeys;

/// The arguments of `eval`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("labels").required(true).args(["pairs", "clusters"]))]
pub struct EvalArguments {
    /// Evaluate the pairs in FILE: url_a, url_b, label, kind; tab-separated, with a header line
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub pairs: Option<PathBuf>,
    /// Evaluate the clusters in FILE: url, cluster, kind, grey; tab-separated, with a header line
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub clusters: Option<PathBuf>,
    /// Folder of the pages: http://S.localhost:8080/P is the file DIR/S/P
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub pages: PathBuf,
    /// Detector to evaluate, or all (repeatable) [default: mwo]
    #[arg(long, value_name = "NAME")]
    pub detector: Vec<String>,
    /// Threshold to evaluate at (repeatable) [default: the detector's own]
    #[arg(short, long, value_name = "F", allow_negative_numbers = true)]
    pub threshold: Vec<String>,
    /// The flags of `crawl` that concern reading and comparing pages.
    #[command(flatten)]
    pub keys: KeyFlags<ComparingKeys>,
    /// Print JSON lines
    #[arg(long)]
    pub json: bool,
    /// Also write the results to FILE as a web page with plots
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Verbosity.
    #[command(flatten)]
    pub verbosity: Verbosity,
}
