//! Does the title say "not found"?

/// Phrases in titles of error pages, in lower case, separated by bars. They are a reason to probe, never a verdict: a
/// page about status codes has such a title too.
const PHRASES: &str = "\
    404|not found|page unavailable|no such page|does not exist|doesn't exist|nicht gefunden|existiert nicht|\
    introuvable|no encontrad|não encontrad|non trovat|niet gevonden|hittades inte|ikke fundet|ikke funnet|\
    nie znalezion|не найден|見つかりません|未找到|找不到|찾을 수 없";

/// Returns whether a title says that the page does not exist.
pub fn says_not_there(title: &str) -> bool {
    let title = title.to_lowercase();
    PHRASES.split('|').any(|phrase| title.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_says_in_its_title_that_there_is_none_whatever_the_case() {
        for title in ["Page Not Found | Example", "Fehler 404", "Страница НЕ НАЙДЕНА", "お探しのページは見つかりません"]
        {
            assert!(says_not_there(title), "{title}");
        }
        assert!(!says_not_there("Lost and found: a novel"));
    }
}
