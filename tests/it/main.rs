//! Black-box tests: the built program against webs on loopback, synthetic and real.
//!
//! | module | checks |
//! |---|---|
//! | `surface` | flags, exit codes, streams |
//! | `conformance` | parsers and rules against conformance suites |
//! | `crawl` | outcomes, limits, resuming, signals |
//! | `hints` | what people are told who mistyped something or got nowhere |
//! | `one_folder` | which crawls share a folder, and what `status` says of it |
//! | `dashboard` | the dashboard, for programs and in a browser |
//! | `dedup` | pages from files |
//! | `decontaminate` | documents that hold items of a test set |
//! | `rows` | documents of tables and of JSON |
//! | `archives` | archives of other programs, damaged ones, several captures of a URL |
//! | `against` | comparing with pages of earlier crawls |
//! | `browser` | pages rendered by scripts |
//! | `cluster` | several processes on real database servers, which are killed (feature `cluster`) |
//! | `clusters` | which page of a cluster is elected |
//! | `export` | exports, read back, also by common tools |
//! | `explain` | the explanation of every outcome |
//! | `report` | that a report is true and harmless |
//! | `site_audit` | that planted faults of a site are found, and that the proposed changes do what they promise |
//! | `markdown` | Markdown on request, `llms.txt` and `llms-full.txt` |
//! | `preferences` | what sites say of the use of their pages, and exports by it |
//! | `recrawl` | crawling a finished crawl again |
//! | `lastmod` | recrawls that leave out what sitemaps call unchanged, and what they miss |
//! | `redirects` | the redirect map between two crawls |
//! | `reindex` | rebuilding a store from lines and archive |
//! | `old_store` | that stores of earlier versions are read, or refused with the remedy |
//! | `keep` | which copy of a cluster is kept |
//! | `kill` | recovery from SIGKILL at any moment |
//! | `corruption` | commands on damaged folders |
//! | `network` | dead addresses, lost connections, no network |
//! | `manners` | that delays hold by the servers' clock |
//! | `rests` | that hosts rest across the end of a run |
//! | `hostile` | politeness towards a hostile server, and the outcomes of its pages |
//! | `odd_answers` | answers that break a rule of HTTP, as servers on the web do |
//! | `https` | crawls over TLS and HTTP/2, and bad certificates |
//! | `traps` | bounds on endless sites |
//! | `soft_404` | pages that answer 200 and mean 404 |
//! | `focus` | focused crawls |
//! | `unmatched` | links of duplicates that the pages which they repeat do not have |
//! | `sampling` | the estimate of what skipping links loses, against the truth |
//! | `spellings` | URLs in the server's spelling through all commands, and seed files of other programs |
//! | `cookies` | pages behind a login |
//! | `signed_requests` | requests that are signed, verified by a program of others |
//! | `sitemaps` | crawls of what sitemaps list, and nothing else |
//! | `s3` | exports to a bucket and inputs from there, with a server that is cut off (feature `s3`) |
//! | `spider` | requests and politeness of the spider engine |
//! | `malice` | malicious responses |
//! | `log` | what `-v` tells of a crawl |
//! | `pages_as_they_are` | XHTML, deep nesting, encodings that lie |
//! | `better_place` | that of a page and a list of it the page is kept |
//! | `loss` | what is lost with near-duplicates, the bound on it, and that it is counted again |
//! | `edited_copies` | edited copies are found and pages of one template are not, whatever the host |
//! | `corpora` | real sites on a real server |
//! | `rendering` | that both parsers agree on real pages |
//! | `exactness` | that every decision equals brute force, in any batches |
//! | `evaluation` | figures of `eval` on labelled pages |
//! | `planted` | that planted near-duplicates have the planted distance |
//! | `packages` | that the archive, the Debian package and the Dockerfile are sound |
//! | `docs` | that the documentation is true |
//! | `golden` | that verdicts and texts are unchanged |
//! | `architecture` | who imports whom |
//!
//! The other modules are helpers: `program` runs the program, `web` serves the pages of `graph` or `endless`, `crowd`
//! serves many hosts on few addresses, and `secure_web` over TLS. `invariants` checks every finished crawl, `judged` replays its log, `needs`
//! finds the programs and data that tests need, and `foreign` runs programs of others.

#![allow(clippy::unwrap_used)]

mod against;
mod architecture;
mod archives;
mod better_place;
mod browser;
#[cfg(feature = "cluster")]
mod cluster;
mod clusters;
mod conformance;
mod cookbook;
mod cookies;
mod corpora;
mod corruption;
mod crawl;
mod crowd;
mod dashboard;
mod decontaminate;
mod dedup;
mod docs;
mod documents;
mod dust;
mod edited_copies;
mod endless;
mod evaluation;
mod exactness;
mod explain;
mod export;
mod export_files;
mod export_tools;
mod focus;
mod foreign;
mod golden;
mod graph;
mod hints;
mod host_trouble;
mod hostile;
mod https;
mod invariants;
mod judged;
mod keep;
mod kill;
mod lastmod;
mod log;
mod loss;
mod main_text;
mod malice;
mod manners;
mod markdown;
mod needs;
mod network;
mod odd_answers;
mod old_store;
mod one_folder;
mod overlap;
mod own_rows;
mod packages;
mod pages_as_they_are;
mod planted;
mod preferences;
mod program;
mod recrawl;
mod redirects;
mod reindex;
mod rendering;
mod report;
mod rests;
mod revision;
mod rows;
#[cfg(feature = "s3")]
mod s3;
mod s3_access;
mod sampling;
mod secure_web;
mod signed_requests;
mod site_audit;
mod sitemaps;
mod soft_404;
mod spellings;
mod spider;
mod surface;
mod traps;
mod unmatched;
mod web;
mod words;
