//! The words of a page's visible text, by a simple tokenizer.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use encoding_rs::Encoding;
use ndcrawl::eval::{Address, fetched};
use ndcrawl::pagetext::PageReader;
use scraper::{Html, Node};

use crate::peer::{Peer, Signature};

const UNSEEN: [&str; 5] = ["script", "style", "template", "noscript", "head"];

/// The words of all pages, in order; `None` for a missing page.
pub struct Texts(Vec<Option<Vec<String>>>);

impl Texts {
    pub fn read(folder: &Path, addresses: &[Address]) -> Self {
        let renderer = PageReader::default();
        Self(on_all_cores(addresses.len(), &|page| words_of(folder, &addresses[page], &renderer)))
    }

    /// Returns the signature of each page by a peer.
    pub fn signatures(&self, peer: &dyn Peer) -> Vec<Option<Signature>> {
        on_all_cores(self.0.len(), &|page| self.0[page].as_ref().map(|words| peer.sign(words)))
    }
}

fn words_of(folder: &Path, address: &Address, renderer: &PageReader) -> Option<Vec<String>> {
    let page = fetched(folder, address).ok()?;
    // Decode as for ndcrawl's detectors, so that the encoding makes no difference.
    let charset = renderer.render(&page).charset;
    let encoding = Encoding::for_label(charset.as_bytes()).unwrap_or(encoding_rs::UTF_8);
    let text = encoding.decode(&page.body).0;
    Some(if address.media_type() == "text/plain" { split(&text) } else { split(&visible(&text)) })
}

fn visible(html: &str) -> String {
    let document = Html::parse_document(html);
    let mut text = String::new();
    for node in document.tree.nodes() {
        let Node::Text(found) = node.value() else { continue };
        let is_unseen = |node: &Node| node.as_element().is_some_and(|element| UNSEEN.contains(&element.name()));
        if !node.ancestors().any(|ancestor| is_unseen(ancestor.value())) {
            text.push_str(found);
            text.push(' ');
        }
    }
    text
}

/// Returns runs of letters and digits, lowercased; each ideograph is a word.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for character in text.chars().flat_map(char::to_lowercase) {
        let is_ideograph =
            matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}');
        if !word.is_empty() && (is_ideograph || !character.is_alphanumeric()) {
            words.push(std::mem::take(&mut word));
        }
        if is_ideograph {
            words.push(character.to_string());
        } else if character.is_alphanumeric() {
            word.push(character);
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

fn on_all_cores<T: Send>(count: usize, work: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let run = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return done;
            }
            done.push((number, work(number)));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut done: Vec<(usize, T)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, found)| found).collect()
}
