//! Pages of a folder of sites, in random order.

use std::path::Path;

use ndcrawl::model::{PageInput, WantedOrder};

use crate::html;
use crate::rendered_pages::rendered;

/// Returns at most `most` pages of `DIR/SITE/PATH.html`, in the same random order on every machine.
pub fn in_random_order(folder: &Path, most: usize) -> Vec<PageInput> {
    let mut files = html::html_files(folder);
    shuffle(&mut files);
    files.truncate(most);
    let order = WantedOrder { text: true, ..WantedOrder::default() };
    rendered(&files, order, |file| site(folder, file))
}

/// Returns the number of the site in which a file is.
fn site(folder: &Path, file: &Path) -> u32 {
    let site = file.strip_prefix(folder).unwrap().components().next().unwrap();
    let number = |number: u32, byte: &u8| number.wrapping_mul(31).wrapping_add((*byte).into());
    site.as_os_str().as_encoded_bytes().iter().fold(0, number)
}

/// Shuffles alike on every machine.
fn shuffle<T>(items: &mut [T]) {
    let mut state = 1_u64;
    for place in (1..items.len()).rev() {
        // SplitMix64.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        items.swap(place, ((mixed ^ (mixed >> 31)) % (place as u64 + 1)) as usize);
    }
}
