//! Inputs of `dedup` in the database: who works on them, and what a manifest is refused for.

use std::time::Duration;

use ndcrawl::cluster::{
    ClusterError, LeasedInput, ManifestFlags, Refusal, RunId, Session, finish_input, finish_look, lease_input,
    register_inputs, status,
};
use serde_json::json;

use super::servers::LocalServers;
use super::{begin, plan, session};

const LONG: Duration = Duration::from_secs(60);

fn flags(kept: &str) -> ManifestFlags {
    [("--kept".to_owned(), kept.to_owned())].into()
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

async fn lease(session: &mut Session, run: RunId) -> LeasedInput {
    lease_input(session, run, &[], false).await.unwrap().expect("an input that is free")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn inputs_that_only_wait_for_their_run_are_not_its_work() {
    let plan = plan("inputs_that_wait", 2);
    let mut session = session(LocalServers::shared(), &plan).await;
    register_inputs(&mut session, &names(&["a", "b", "c"]), &flags("jsonl")).await.unwrap();
    let run = begin(&mut session, "worker", LONG).await.unwrap();
    // Of the third nothing is kept, so that anybody may write it again.
    for is_spooled in [true, true, false] {
        let input = lease(&mut session, run.id()).await;
        assert_eq!(working_on(&mut session, &plan.name).await, 1);
        finish_input(&mut session, run.id(), &input, &json!({}), is_spooled).await.unwrap();
    }
    let look = lease(&mut session, run.id()).await;
    assert_eq!(working_on(&mut session, &plan.name).await, 1, "a look is work, too");
    finish_look(&mut session, run.id(), &look, 0, &[0, 1, 2]).await.unwrap();
    assert_eq!(working_on(&mut session, &plan.name).await, 0, "they wait");

    let other = begin(&mut session, "other", LONG).await.unwrap();
    assert_eq!(lease(&mut session, other.id()).await.number, 2, "the others are kept for their run");
    let again = lease(&mut session, run.id()).await;
    assert_eq!((again.number, working_on(&mut session, &plan.name).await), (0, 1));
}

/// Returns how many inputs the first run works on.
async fn working_on(session: &mut Session, name: &ndcrawl::cluster::CrawlName) -> i64 {
    status(session, name).await.unwrap().runs[0].inputs
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_manifest_with_other_flags_waits_for_the_end_of_the_one_before() {
    let plan = plan("flags_of_manifests", 2);
    let mut session = session(LocalServers::shared(), &plan).await;
    register_inputs(&mut session, &names(&["a"]), &flags("jsonl")).await.unwrap();
    let run = begin(&mut session, "worker", LONG).await.unwrap();
    let input = lease(&mut session, run.id()).await;
    finish_input(&mut session, run.id(), &input, &json!({}), false).await.unwrap();
    // Its look may still have the first input written again.
    let refused = register_inputs(&mut session, &names(&["b"]), &flags("parquet")).await.unwrap_err();
    let [flag, there, here] = ["--kept", "jsonl", "parquet"].map(str::to_owned);
    assert!(
        matches!(&refused, ClusterError::Refused(Refusal::OtherFlag { flag: f, there: t, here: h })
            if (f, t, h) == (&flag, &there, &here)),
        "{refused:?}"
    );
    assert_eq!(status(&session, &plan.name).await.unwrap().inputs, 1, "nothing of it is entered");
    register_inputs(&mut session, &names(&["c"]), &flags("jsonl")).await.unwrap();

    let look = lease(&mut session, run.id()).await;
    finish_look(&mut session, run.id(), &look, 0, &[]).await.unwrap();
    let input = lease(&mut session, run.id()).await;
    finish_input(&mut session, run.id(), &input, &json!({}), false).await.unwrap();
    let look = lease(&mut session, run.id()).await;
    finish_look(&mut session, run.id(), &look, 0, &[]).await.unwrap();
    register_inputs(&mut session, &names(&["b"]), &flags("parquet")).await.unwrap();
}
