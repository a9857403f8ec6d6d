//! A worker one of whose tasks fails for good ends with the reason, and does not wait for ever.

use super::crawl::{SharedCrawl, slow};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_worker_that_lacks_a_table_ends_and_says_why() {
    for (name, table) in [("no_starts", "address"), ("no_mail", "mail")] {
        let crawl = SharedCrawl::new(name, slow(61, 120));
        let worker = crawl.worker(1, &["--ip-delay=20ms"]);
        crawl.await_pages(20);
        let (session, _) = crawl.connected().await;
        session.client().batch_execute(&format!("DROP TABLE {table}")).await.unwrap();
        let finished = worker.finish();
        assert_eq!(finished.code, Some(4), "{finished:?}");
        assert!(finished.stderr.contains(&format!("relation \"{table}\" does not exist")), "{finished:?}");
        assert!(crawl.web.pages_asked() < 120, "it went on without {table}");
    }
}
