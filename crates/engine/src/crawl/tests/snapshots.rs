//! A folder opened with a snapshot of the index, and without.

use std::fs;

use tempfile::tempdir;

use super::site::{Answer, Site, missing, page};
use super::{assert_sound, crawl, outcomes, setup};

/// Two halves of twenty pages, of which the second repeats ten of the first.
async fn site() -> Site {
    let links = |half: &str| (0..20).map(|number| format!("/{half}{number}")).collect::<Vec<_>>();
    let (first, second) = (links("a"), links("b"));
    Site::new(move |path, _| match path {
        "/first" => page(100, &first.iter().map(String::as_str).collect::<Vec<_>>()),
        "/second" => page(101, &second.iter().map(String::as_str).collect::<Vec<_>>()),
        path => numbered(path),
    })
    .await
}

fn numbered(path: &str) -> Answer {
    let number = |half: &str| path.strip_prefix(half)?.parse::<u32>().ok();
    match (number("/a"), number("/b")) {
        (Some(number), _) => page(number, &[]),
        (_, Some(number)) => page(number + 10, &[]),
        _ => missing(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resumed_crawl_judges_alike_with_a_snapshot_a_damaged_one_and_none() {
    let site = site().await;
    let mut judged = Vec::new();
    for damage in ["none", "flipped", "cut", "deleted"] {
        let folder = tempdir().unwrap();
        let mut first = setup(&[site.url("/first")]);
        first.crawl.snapshot_after = 5;
        crawl(folder.path(), first).await;
        let snapshot = folder.path().join("store/index.snapshot");
        let mut bytes = fs::read(&snapshot).expect("a crawl of twenty pages leaves a snapshot");
        let middle = bytes.len() / 2;
        match damage {
            "flipped" => bytes[middle] ^= 1,
            "cut" => bytes.truncate(middle),
            _ => {}
        }
        fs::write(&snapshot, bytes).unwrap();
        if damage == "deleted" {
            fs::remove_file(&snapshot).unwrap();
        }
        crawl(folder.path(), setup(&[site.url("/second")])).await;
        let outcomes = outcomes(folder.path());
        assert_eq!(outcomes.values().filter(|outcome| *outcome == "exact-duplicate").count(), 10, "{damage}");
        assert_sound(folder.path());
        judged.push(outcomes);
    }
    assert!(judged.windows(2).all(|pair| pair[0] == pair[1]));
}
