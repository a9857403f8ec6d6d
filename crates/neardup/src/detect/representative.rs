//! *Which page of a cluster should stay?*
//!
//! "A Hybrid Model for Detection and Elimination of Near-Duplicates Based on Web Provenance", section III, step 9;
//! for steps 10 and 11 see [`Trust`](super::Trust). It does not matter which detector found the cluster. A pure
//! function of [`Provenance`] and plain numbers, without URLs or clock.
//!
//! The paper compares two pages at a time. *Who*: are the authors the same? If not, *when*: the page with the earlier
//! date. If so, *where*, *why* and *how*, in this order: the page in the standard place, with the better purpose, in
//! the better format.
//!
//! **Departures.** The paper's rule is not transitive: of A and B by one author and C by another, A may win over B by
//! place, B over C by date, and C over A by date. So the pages of each author are ranked first, and the best stands
//! for them. Then the authors are ranked by the earliest date of their pages. For two pages this is the paper's rule;
//! for more it is a total order, the same whichever page comes first. The paper does not mention ties or missing
//! values:
//!
//! | case | here |
//! |---|---|
//! | pages without an author | as if by one author |
//! | a page without a date | after those with one |
//! | authors with equal dates | a known one first, then the place, purpose and format of their pages |
//! | equal pages of one author | the earlier date, then the smaller sequence number |
//!
//! A date sorts before the times of its day. Names are compared without regard to case.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::model::{Provenance, Source};

use super::trust::Factors;

/// A page of a cluster.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// The order of decision; no two members share one.
    pub sequence: u64,
    /// Where the page comes from.
    pub provenance: &'a Provenance,
    /// Other facts about the page.
    pub factors: Factors,
}

/// The page that stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Election {
    /// Its position among the members.
    pub elected: usize,
    /// Its advantage over the others, in words.
    pub why: String,
}

/// Chooses the page that stays; `None` for an empty cluster. Cost: sorting the members.
pub fn elect(members: &[Member]) -> Option<Election> {
    let mut by_author = BTreeMap::<Option<String>, Vec<usize>>::new();
    for (at, member) in members.iter().enumerate() {
        by_author.entry(author(member)).or_default().push(at);
    }
    let mut authors: Vec<Author> = by_author.into_values().map(|pages| Author::new(pages, members)).collect();
    authors.sort_by(|one, other| one.against(other, members).1);
    let first = authors.first()?;
    Some(Election { elected: first.pages[0], why: why(&authors, members) })
}

/// The criterion that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Criterion {
    Who,
    When,
    Where,
    Why,
    How,
    Sequence,
}

/// The pages of one author.
struct Author {
    /// The best page first.
    pages: Vec<usize>,
    /// The page with the earliest date.
    earliest: Option<usize>,
}

impl Author {
    fn new(mut pages: Vec<usize>, members: &[Member]) -> Self {
        pages.sort_by(|one, other| against(&members[*one], &members[*other]).1);
        let dated = pages.iter().copied().filter(|at| members[*at].provenance.when.is_some());
        let earliest = dated.min_by_key(|at| (&members[*at].provenance.when, members[*at].sequence));
        Self { pages, earliest }
    }

    fn against(&self, other: &Self, members: &[Member]) -> (Criterion, Ordering) {
        let date = |author: &Self| author.earliest.and_then(|at| members[at].provenance.when.as_deref());
        let is_known = |author: &Self| members[author.pages[0]].provenance.who.is_some();
        first_difference([
            (Criterion::When, by_date(date(self), date(other))),
            (Criterion::Who, is_known(other).cmp(&is_known(self))),
        ])
        .unwrap_or_else(|| against(&members[self.pages[0]], &members[other.pages[0]]))
    }
}

/// Compares two pages of one author; the lesser stays.
fn against(one: &Member, other: &Member) -> (Criterion, Ordering) {
    let (by, to) = (one.provenance, other.provenance);
    first_difference([
        (Criterion::Where, other.factors.authority.total_cmp(&one.factors.authority)),
        (Criterion::Why, purpose(to).cmp(&purpose(by))),
        (Criterion::How, to.markup.cmp(&by.markup)),
        (Criterion::When, by_date(by.when.as_deref(), to.when.as_deref())),
    ])
    .unwrap_or((Criterion::Sequence, one.sequence.cmp(&other.sequence)))
}

fn first_difference<const N: usize>(steps: [(Criterion, Ordering); N]) -> Option<(Criterion, Ordering)> {
    steps.into_iter().find(|(_, order)| order.is_ne())
}

/// Orders dates; a missing date comes last.
fn by_date(one: Option<&str>, other: Option<&str>) -> Ordering {
    (one.is_none(), one).cmp(&(other.is_none(), other))
}

fn author(member: &Member) -> Option<String> {
    member.provenance.who.as_ref().map(|who| who.to_lowercase())
}

/// Ranks the source of a page's purpose: a title tells more than a heading.
fn purpose(provenance: &Provenance) -> u8 {
    match provenance.why_from {
        Some(Source::Title) => 2,
        Some(_) => 1,
        None => 0,
    }
}

/// Explains why the first page of the first author stays: its advantage over the next page.
fn why(authors: &[Author], members: &[Member]) -> String {
    let [first, others @ ..] = authors else { return String::new() };
    let page = &members[first.pages[0]];
    let of_author = first.pages.get(1).map(|next| {
        let rivals: Vec<usize> = first.pages[1..].to_vec();
        in_words(against(page, &members[*next]).0, page, &rivals, members)
    });
    let over_authors = others.first().map(|next| {
        let rivals: Vec<usize> = others.iter().flat_map(|author| author.pages.iter().copied()).collect();
        let step = first.against(next, members).0;
        // An author wins by date with a page that need not be the best.
        let page = if step == Criterion::When { first.earliest.map_or(page, |at| &members[at]) } else { page };
        in_words(step, page, &rivals, members)
    });
    match (over_authors, of_author) {
        (None, None) => "the only page".to_owned(),
        (Some(why), None) | (None, Some(why)) => why,
        (Some(over_authors), Some(of_author)) => {
            format!("{over_authors}; of {} pages by the same author: {of_author}", first.pages.len())
        }
    }
}

fn in_words(step: Criterion, page: &Member, rivals: &[usize], members: &[Member]) -> String {
    let none_has = |has: fn(&Provenance) -> bool| !rivals.iter().any(|at| has(members[*at].provenance));
    let told = |value: &Option<String>, from: Option<Source>| {
        let from = from.map_or(String::new(), |from| format!(" ({})", from.name()));
        format!("{}{from}", value.as_deref().unwrap_or("-"))
    };
    let provenance = page.provenance;
    match step {
        Criterion::When => {
            let date = told(&provenance.when, provenance.when_from);
            if none_has(|rival| rival.when.is_some()) {
                format!("only one with a date, {date}")
            } else {
                format!("earliest date {date}")
            }
        }
        Criterion::Who => {
            let author = told(&provenance.who, provenance.who_from);
            if none_has(|rival| rival.who.is_some()) {
                format!("only one with an author, {author}")
            } else {
                format!("names an author, {author}")
            }
        }
        Criterion::Where => format!("better place, authority {:.2}", page.factors.authority),
        Criterion::Why if purpose(provenance) == 2 => "has a title".to_owned(),
        Criterion::Why => "has a heading".to_owned(),
        Criterion::How => format!("better format, {}", provenance.markup.map_or("-", |markup| markup.name())),
        Criterion::Sequence => "nothing else tells them apart: first judged".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::Markup;

    /// A page from a few words: `who when authority why how`, where `-` is not known.
    fn page(words: &str) -> (Provenance, Factors) {
        let [who, when, authority, why, how] = words.split(' ').collect::<Vec<_>>()[..] else { panic!("{words}") };
        let known = |word: &str| (word != "-").then(|| word.to_owned());
        let why_from = match why {
            "title" => Some(Source::Title),
            "heading" => Some(Source::Heading),
            _ => None,
        };
        let markup = [Markup::Html, Markup::Html4, Markup::Xhtml, Markup::Html5];
        let provenance = Provenance {
            who: known(who),
            who_from: known(who).map(|_| Source::Meta),
            when: known(when),
            when_from: known(when).map(|_| Source::Meta),
            why: known(why),
            why_from,
            markup: markup.into_iter().find(|markup| markup.name() == how),
            ..Provenance::default()
        };
        (provenance, Factors { authority: authority.parse().unwrap(), ..Factors::default() })
    }

    fn elected(pages: &[(Provenance, Factors)], order: &[usize]) -> Option<(usize, String)> {
        let member = |&at: &usize| Member { sequence: at as u64, provenance: &pages[at].0, factors: pages[at].1 };
        let members: Vec<Member> = order.iter().map(member).collect();
        elect(&members).map(|election| (order[election.elected], election.why))
    }

    #[track_caller]
    fn assert_elected(pages: &[&str], expected: usize, why: &str) {
        let pages: Vec<_> = pages.iter().map(|words| page(words)).collect();
        let order: Vec<usize> = (0..pages.len()).collect();
        assert_eq!(elected(&pages, &order), Some((expected, why.to_owned())));
    }

    #[test]
    fn of_two_authors_the_one_with_the_earlier_date_stays() {
        let (jane, john) = ("jane 2020-01-01 1 title html5", "john 2019-03-01 0 - html");
        assert_elected(&[jane, john], 1, "earliest date 2019-03-01 (meta)");
        assert_elected(&[jane, "john - 1 title html5"], 0, "only one with a date, 2020-01-01 (meta)");
        assert_elected(&["- - 0 title html5", "jane - 0 - -"], 1, "only one with an author, jane (meta)");
    }

    #[test]
    fn of_one_author_place_purpose_and_format_decide_before_the_date() {
        let worse = "jane 2019-01-01 0 heading html4";
        assert_elected(&[worse, "JANE 2020-01-01 1 - -"], 1, "better place, authority 1.00");
        assert_elected(&[worse, "Jane 2020-01-01 0 title -"], 1, "has a title");
        assert_elected(&[worse, "jane 2020-01-01 0 heading html5"], 1, "better format, html5");
        assert_elected(&["- - 0 - html", "- 2019-01-01 0 - html"], 1, "only one with a date, 2019-01-01 (meta)");
        assert_elected(&["- - 0 - -", "- - 0 heading -"], 1, "has a heading");
        assert_elected(&[worse, worse], 0, "nothing else tells them apart: first judged");
    }

    #[test]
    fn an_author_wins_by_the_earliest_page_and_stays_with_the_best() {
        assert_elected(
            &["john 2019-06-01 1 title html5", "jane 2019-03-01 0 - html", "jane 2020-01-01 1 title html5"],
            2,
            "earliest date 2019-03-01 (meta); of 2 pages by the same author: better place, authority 1.00",
        );
    }

    #[test]
    fn one_page_is_elected_and_none_is_not() {
        assert_elected(&["- - 0 - -"], 0, "the only page");
        assert_eq!(elect(&[]), None);
    }

    fn some_page() -> impl Strategy<Value = (Provenance, Factors)> {
        ("(jane|Jane|john|-) (2019-03-01|2019-03-01T10:00:00Z|2020-01-01|-) (0|0\\.5|1) (title|heading|-) (html|html5|-)")
            .prop_map(|words| page(&words))
    }

    proptest! {
        #[test]
        fn the_same_page_is_elected_in_whatever_order_they_come(
            (pages, order) in prop::collection::vec(some_page(), 1..8).prop_flat_map(|pages| {
                let order: Vec<usize> = (0..pages.len()).collect();
                (Just(pages), Just(order).prop_shuffle())
            }),
        ) {
            let in_order: Vec<usize> = (0..pages.len()).collect();
            prop_assert_eq!(elected(&pages, &order), elected(&pages, &in_order));
        }

        #[test]
        fn of_two_pages_the_rule_is_that_of_the_paper(pages in (some_page(), some_page())) {
            let [one, other] = [&pages.0, &pages.1];
            let winner = elected(&[one.clone(), other.clone()], &[0, 1]).map(|(at, _)| at);
            let same_author = one.0.who.as_ref().map(|who| who.to_lowercase()) == other.0.who.as_ref().map(|who| who.to_lowercase());
            if !same_author && let (Some(date), Some(later)) = (&one.0.when, &other.0.when) && date != later {
                prop_assert_eq!(winner, Some(usize::from(date > later)));
            }
            if same_author && one.1.authority != other.1.authority {
                prop_assert_eq!(winner, Some(usize::from(one.1.authority < other.1.authority)));
            }
        }
    }
}
