//! Black-box tests: the built program against webs on loopback, synthetic and real.
//!
//! | module | asks |
//! |---|---|
//! | `surface` | flags, exit codes, streams |
//! | `conformance` | the answers of parsers and rules, held against suites of cases |
//! | `crawl` | outcomes, limits, resuming, signals |
//! | `dashboard` | how a running crawl is watched, by programs and in a browser |
//! | `against` | pages of earlier crawls, compared with |
//! | `browser` | pages that scripts draw, with the feature of that name |
//! | `clusters` | which page of a cluster is elected |
//! | `export` | what is exported, read back, by other tools too |
//! | `explain` | why a URL has its outcome |
//! | `report` | that a report is true and harmless |
//! | `recrawl` | what becomes of a crawl that is done again |
//! | `reindex` | a store that is made anew from lines and archive |
//! | `old_store` | that stores of earlier versions are read, or refused with the remedy |
//! | `kill` | what is left after SIGKILL at any moment |
//! | `corruption` | what is made of a folder whose files are damaged |
//! | `manners` | that gaps are kept by the clock of those who are asked |
//! | `hostile` | manners towards a server that misbehaves, and what becomes of what it says |
//! | `traps` | what is not asked for of sites without end |
//! | `soft_404` | what becomes of pages that answer 200 and mean 404 |
//! | `focus` | crawls that look for a topic |
//! | `sampling` | what is estimated of what skipping loses, against what it loses |
//! | `spider` | what the other engine asks for, and that its manners are ours |
//! | `malice` | that what is said to do harm does none |
//! | `corpora` | real sites on a real server |
//! | `rendering` | that both parsers find the same on real pages |
//! | `exactness` | that every decision is that of brute force, in whatever batches |
//! | `evaluation` | what `eval` says of labelled pages |
//! | `planted` | that the planted distances are what they claim to be |
//! | `synthetic` | that the sets on which the index is measured are always the same |
//! | `docs` | that the documentation is true |
//! | `golden` | that verdicts and texts are those that were kept |
//! | `architecture` | who imports whom |
//!
//! The rest is equipment: `program` runs the program, `web` serves what `graph` or `endless` plan, `crowd`
//! serves many names on few addresses, `invariants` holds what must be true of every finished crawl, `judged` judges its log over again, `needs` finds the
//! programs and data that tests need.

#![allow(clippy::unwrap_used)]

mod against;
mod architecture;
#[cfg(feature = "browser")]
mod browser;
mod clusters;
mod conformance;
mod corpora;
mod corruption;
mod crawl;
mod crowd;
mod dashboard;
mod dedup;
mod docs;
mod dust;
mod endless;
mod evaluation;
mod exactness;
mod explain;
mod export;
mod focus;
mod golden;
mod graph;
mod hostile;
mod invariants;
mod judged;
mod kill;
mod malice;
mod manners;
mod needs;
mod old_store;
mod overlap;
mod planted;
mod program;
mod recrawl;
mod reindex;
mod rendering;
mod report;
mod revision;
mod sampling;
mod soft_404;
mod spider;
mod surface;
mod synthetic;
mod traps;
mod web;
mod words;
