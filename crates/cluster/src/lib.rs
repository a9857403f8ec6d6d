//! *How do several processes share one crawl?*
//!
//! PostgreSQL holds all that must not be lost or doubted. Processes have no ports and know no peers: all talk goes
//! through the server. A process that lives is a *run*; runs own *slots* of URLs, each under a *fence* that grows with
//! every change of owner. A commit names its fence, so a run that was frozen or cut off cannot commit what others own
//! by now.
//!
//! | file | question |
//! |---|---|
//! | `address`, `password_file`, `tls` | Where is the server, and how does a process prove who it is? |
//! | `session`, `greeting`, `connection`, `crawl_session`, `retry_pauses`, `typed_rows` | How does a process get a session, get one again, and read rows? |
//! | `watched`, `session_watch` | How is it noticed that a connection is lost which nobody has closed? |
//! | `server_check`, `refusal` | May a crawl be trusted to this server? |
//! | `schema`, `crawl_name` | Which tables does a crawl have, and how is it made, stopped and dropped? |
//! | `status` | What does a crawl wait for? |
//! | `lease` | Which run may work on which slot, and until when? |
//! | `arrivals`, `arriving`, `term_columns`, `sealed` | How do rendered pages get to their verdicts? |
//! | `turn_state`, `turn_log`, `turn_body` | In which order are verdicts given, and by whom? |
//! | `replica`, `record_file` | How does each process have the whole index, by way of the log? |
//! | `turn_runner`, `lease_keeper`, `arrival_sender`, `turn_loop`, `run_status` | How does a process take part in all that? |
//! | `named_page` | Which page is it that a verdict names? |
//! | `open_pages` | What becomes of pages that were judged for a process that was lost? |
//! | `slot_log`, `slot_entry`, `slot_encoder`, `slot_restore`, `revised_pages` | How is the log of a slot written and read back? |
//! | `mail` | How do links get to the slots of their URLs? |
//! | `page_grants`, `end_of_crawl`, `crawl_totals` | How many pages may a run fetch, when is the crawl over, and what was done? |
//! | `crawl_worker`, `crawl_log`, `cluster_decider`, `request_starts`, `failure` | How does a process crawl its slots? |
//! | `gather`, `gather_pages`, `crawl_cut`, `archive_files` | How does a crawl become an ordinary folder? |
//! | `moving`, `moved_pages`, `moved_events` | How does a folder become a crawl of a cluster? |
//! | `decision_times` | How long do pages wait for their verdicts? |
//! | `replay`, `verify`, `verify_archives`, `sample`, `logged_lines` | Would one process have decided the same, is each page in an archive, and what does the log tell of it? |
//! | `inputs`, `manifest_order` | How do workers share the files of `dedup`, and in which order are these judged? |
//! | `question`, `revisions`, `second_look` | What is decided again at the end of a crawl, and of a manifest? |
//! | `hosts` | What is known of a host, and until when must it not be asked, whoever asks it next? |
//! | `address_gaps` | When may the next request to an IP address start? |
//!
//! **Invariants.** No two runs hold one slot under one fence. Turns are numbered without gaps, and no arrival is in two. A run takes itself for alive only while the server does.
//! A commit that is reported as done is on the synchronous standby, too. No password is in an error or a log message.
//!
//! `docs/design/cluster.md` gives the reasons.

#![deny(missing_docs)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod address;
mod address_gaps;
mod archive_files;
mod arrival_sender;
mod arrivals;
mod arriving;
mod cluster_decider;
mod computing;
mod connection;
mod crawl_cut;
mod crawl_log;
mod crawl_name;
mod crawl_session;
mod crawl_totals;
mod crawl_worker;
mod decision_times;
mod displaced_parts;
mod encoding;
mod end_of_crawl;
mod error;
mod failure;
mod gather;
mod gather_pages;
mod greeting;
mod hosts;
mod inputs;
mod lease;
mod lease_keeper;
mod logged_lines;
mod mail;
mod manifest_order;
mod moved_events;
mod moved_pages;
mod moved_revisions;
mod moving;
mod named_page;
mod open_pages;
mod page_grants;
mod password_file;
mod question;
mod record_file;
mod refusal;
mod replay;
mod replica;
mod request_starts;
mod retry_pauses;
mod revised_pages;
mod revisions;
mod run_status;
mod sample;
mod schema;
mod sealed;
mod second_look;
mod server_check;
mod session;
mod session_watch;
mod slot_encoder;
mod slot_entry;
mod slot_log;
mod slot_restore;
mod status;
mod term_columns;
mod test_point;
mod tls;
mod turn_arrivals;
mod turn_body;
mod turn_log;
mod turn_loop;
mod turn_runner;
mod turn_state;
mod typed_rows;
mod verify;
mod verify_archives;
mod watched;

pub use address::{AddressError, ServerAddress};
pub use address_gaps::{GAP_MARGIN, reserve_starts};
pub use arrivals::{ArrivalChunk, all_arrived, arrived, read_arrivals, send_arrivals};
pub use arriving::{Arriving, ArrivingPage, PageFacts, chunk_of_pages, pages_of};
pub use connection::{Connector, OpenTransaction, Session};
pub use crawl_cut::CrawlCut;
pub use crawl_name::CrawlName;
pub use crawl_session::CrawlSession;
pub use crawl_totals::crawl_totals;
pub use crawl_worker::{Assignment, CrawlWorker, EndOfGeneration, Generation, SlotsChange, WorkerSettings};
pub use decision_times::decision_times;
pub use error::{ClusterError, ErrorClass};
pub use gather::{GatherProgress, Gathered, gather};
pub use inputs::{
    InputTask, LeasedInput, ManifestFlags, abandoned_files, all_sent, finish_input, finish_look, input_files,
    input_reports, inputs_left, lease_input, number_of_stream, register_inputs,
};
pub use lease::{Fence, HeldSlot, Run, RunDescription, RunId, SlotBalance, fair_share};
pub use logged_lines::{LoggedLine, logged_lines};
pub use moving::{Moved, begin_move, move_in};
pub use named_page::{NamedPage, named_page};
pub use page_grants::{grant_pages, return_pages};
pub use question::{Conclusion, Found, Question};
pub use refusal::Refusal;
pub use replay::{Replay, ReplayOptions, replay};
pub use replica::{Deciding, Replica};
pub use run_status::{DecisionObserver, PageDecision, RunClock, RunStatus};
pub use sample::Sample;
pub use schema::{CrawlPlan, CrawlRow, CrawlState, FORMAT, drop_crawl, init, open, resume, stop};
pub use second_look::{LookDecisions, SecondLook, look_again};
pub use server_check::{ServerFacts, connect_checked};
pub use slot_log::{SlotChange, hold_slots};
pub use status::{ClusterStatus, RunLine, SLOT_ALARM, status};
pub use test_point::test_point;
pub use turn_body::{DecidedArrival, decisions_of};
pub use turn_log::{ArrivalRange, Attempt, TurnRow, is_in_log, last_turn, turns_behind};
pub use turn_loop::ArrivalOrder;
pub use turn_runner::{PageSubmitter, RunnerSettings, TurnRunner};
pub use turn_state::{TurnContent, TurnState};
pub use verify::{LogCheck, check_log};
pub use verify_archives::{ArchiveCheck, check_archives};
pub use watched::Watched;
