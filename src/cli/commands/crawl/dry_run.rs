//! The plan of a crawl, for `--dry-run`.

use serde_json::{Value, json};

use crate::cli::config::settings::Settings;
use crate::cli::config::template::listing;
use crate::cli::format::counted;
use crate::cli::seeds::{Seed, Seeds};
use crate::cli::terminal_safe::terminal_safe;

/// Returns the plan as one JSON object.
pub fn plan_json(settings: &Settings, seeds: &Seeds) -> Value {
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "out": settings.out.dir.to_string_lossy(),
        "settings": settings.to_json(),
        "sources": settings.sources_to_json(),
        "seeds": seeds.seeds,
        "rejected": seeds.rejected,
    })
}

/// Returns the plan as text.
pub fn plan_text(settings: &Settings, seeds: &Seeds) -> String {
    let line = |seed: &Seed| {
        let fallback = if seed.fallback.is_some() { ", else by http" } else { "" };
        let url = crate::cli::config::http_values::mask_url(seed.url.as_str());
        format!("  {}  ({}{fallback})\n", terminal_safe(&url), terminal_safe(&seed.line))
    };
    format!(
        "Would start from {} and write to {}:\n{}\nWith these settings:\n{}",
        counted(seeds.seeds.len() as u64, "seed", "seeds"),
        terminal_safe(&settings.out.dir.to_string_lossy()),
        seeds.seeds.iter().map(line).collect::<String>(),
        listing(settings)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::config::merge::tests::settings;

    #[test]
    fn the_plan_names_settings_sources_and_seeds() {
        let settings = settings(&[("seeds", "example.org"), ("politeness.delay", "2s")]);
        let seeds = Seeds::read(&settings, &mut std::io::empty()).unwrap();
        let plan = plan_json(&settings, &seeds);
        assert_eq!(plan["settings"]["politeness.delay"], "2s");
        assert_eq!(plan["sources"]["politeness.delay"], "--politeness.delay");
        let expected = json!({"from": "argument 1", "url": "https://example.org/", "fallback": "http://example.org/"});
        assert_eq!(plan["seeds"][0], expected);
        assert!(plan_text(&settings, &seeds).contains("  https://example.org/  (argument 1, else by http)\n"));
    }
}
