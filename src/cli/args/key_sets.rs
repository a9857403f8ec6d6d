//! Which keys a command has flags for.

#[cfg(feature = "cluster")]
use crate::cli::config::schema::Owner;
use crate::cli::config::schema::{self, Key};

/// The keys of a command, in the order of its help.
pub trait KeySet {
    /// Returns the keys.
    fn keys() -> Vec<&'static Key>;
}

/// All keys, for `crawl`: by heading, keys without a table last.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllKeys;

impl KeySet for AllKeys {
    fn keys() -> Vec<&'static Key> {
        let mut keys: Vec<&'static Key> = schema::all().collect();
        keys.sort_by_key(|key| {
            let heading = schema::HEADINGS.iter().position(|heading| *heading == key.heading());
            (heading.unwrap_or(schema::HEADINGS.len()), !key.name.contains('.'))
        });
        keys
    }
}

#[cfg(feature = "cluster")]
/// The keys of `worker`: those that belong to a machine, not to a crawl that several share.
#[derive(Clone, Copy, Debug, Default)]
pub struct MachineKeys;

#[cfg(feature = "cluster")]
impl KeySet for MachineKeys {
    fn keys() -> Vec<&'static Key> {
        let mut keys = AllKeys::keys();
        keys.retain(|key| key.owner == Owner::Machine);
        keys
    }
}

/// Keys of near-duplicates that `eval` has no use for, or has flags of its own for.
const NOT_OF_EVAL: [&str; 9] = [
    "dedup.detector",
    "dedup.threshold",
    "dedup.lose_at_most",
    "dedup.against",
    "dedup.keep",
    "dedup.keep_rule",
    "dedup.keep_text",
    "dedup.links",
    "random_seed",
];

/// The keys of `eval`: how pages are read and compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct ComparingKeys;

impl KeySet for ComparingKeys {
    fn keys() -> Vec<&'static Key> {
        let is_wanted = |key: &&Key| is_of_near_duplicates(key) && !NOT_OF_EVAL.contains(&key.name);
        schema::all().filter(is_wanted).collect()
    }
}

/// The keys of `dedup`, which fetches nothing: decisions and output.
#[derive(Clone, Copy, Debug, Default)]
pub struct JudgingKeys;

impl KeySet for JudgingKeys {
    fn keys() -> Vec<&'static Key> {
        const BESIDE: [&str; 4] = ["http.max_body", "http.accept_types", "pdf.read", "max_duplicate_rate"];
        let is_wanted = |key: &&Key| {
            let is_of_judging = is_of_near_duplicates(key) && key.name != "dedup.links";
            is_of_judging || key.name.starts_with("out.") || key.name.starts_with("log.") || BESIDE.contains(&key.name)
        };
        schema::all().filter(|key| is_wanted(key) && key.name != "log.level").collect()
    }
}

fn is_of_near_duplicates(key: &Key) -> bool {
    key.heading() == schema::NEAR_DUPLICATES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eval_takes_what_settles_how_pages_are_compared() {
        let keys = ComparingKeys::keys();
        let flags: Vec<&str> = keys.iter().filter_map(|key| key.flag).collect();
        for flag in ["filter", "min-terms", "field-weights", "parser"] {
            assert!(flags.contains(&flag), "{flag} in {flags:?}");
        }
        assert!(keys.iter().any(|key| key.option_name() == Some("fuzzy.candidates")));
        assert!(NOT_OF_EVAL.iter().all(|name| schema::find(name).is_some()), "a key that is left out has another name");
    }
}
