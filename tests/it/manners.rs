//! Politeness delays by the servers' clock.

use std::time::Duration;

use crate::crowd::Crowd;
use crate::program::Place;

#[test]
fn hosts_that_share_addresses_are_requested_no_faster_than_either_delay_allows() {
    let crowd = Crowd::start(4, 36);
    let place = Place::new();
    place.write("seeds.txt", &crowd.seeds());
    place
        .run(["--seeds", "seeds.txt", "-c", "500", "--delay", "100ms", "--ip-delay", "50ms", "--allow-private"])
        .args(crowd.resolve())
        .finish()
        .expect_code(0);
    let manners = crowd.manners();
    println!("{manners:?}");
    assert_eq!(manners.known, crowd.requests(), "all was asked for, and once");
    assert!(manners.least_by_name >= Duration::from_millis(100), "{manners:?}");
    assert!(manners.least_by_address >= Duration::from_millis(50), "{manners:?}");
    assert_eq!(manners.most_at_once, 1, "{manners:?}");
}
