//! What a page, its server or its site says of the use of the page: preferences and licenses, as evidence.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A use of a page about which preferences speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Usage {
    /// Training of AI models.
    TrainAi,
    /// Input of AI models when they answer, such as retrieval.
    AiInput,
    /// Search that leads readers to the page.
    Search,
    /// Text and data mining.
    Tdm,
}

impl Usage {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::TrainAi, Self::AiInput, Self::Search, Self::Tdm];

    /// Returns the name in output.
    pub fn name(self) -> &'static str {
        match self {
            Usage::TrainAi => "train-ai",
            Usage::AiInput => "ai-input",
            Usage::Search => "search",
            Usage::Tdm => "tdm",
        }
    }
}

/// What is said of a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Permission {
    /// It is allowed.
    #[serde(rename = "y")]
    Allowed,
    /// It is disallowed.
    #[serde(rename = "n")]
    Disallowed,
    /// Something is said that cannot be read, or that contradicts itself.
    #[serde(rename = "unclear")]
    Unclear,
    /// Nothing is said.
    #[serde(rename = "unknown")]
    Unknown,
}

impl Permission {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Allowed, Self::Disallowed, Self::Unclear, Self::Unknown];

    /// Returns the name in output.
    pub fn name(self) -> &'static str {
        match self {
            Permission::Allowed => "y",
            Permission::Disallowed => "n",
            Permission::Unclear => "unclear",
            Permission::Unknown => "unknown",
        }
    }

    /// Combines two statements: what is disallowed by any is disallowed, and what is unclear of any is not allowed.
    fn stricter(self, other: Self) -> Self {
        let order = [Self::Disallowed, Self::Unclear, Self::Allowed];
        order.into_iter().find(|of| [self, other].contains(of)).unwrap_or(Self::Unknown)
    }
}

/// The form of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PreferenceForm {
    /// `Content-Usage` of the IETF's working group on AI preferences.
    ContentUsage,
    /// `Content-Signal` of Cloudflare.
    ContentSignal,
    /// The TDM Reservation Protocol of a W3C community group.
    Tdmrep,
    /// `noai` and `noimageai` among the directives for robots.
    Noai,
    /// A license in the form of Really Simple Licensing.
    Rsl,
    /// A license of Creative Commons.
    CreativeCommons,
    /// The file `ai.txt`.
    AiTxt,
}

impl PreferenceForm {
    /// Returns the name in output.
    pub fn name(self) -> &'static str {
        match self {
            PreferenceForm::ContentUsage => "content-usage",
            PreferenceForm::ContentSignal => "content-signal",
            PreferenceForm::Tdmrep => "tdmrep",
            PreferenceForm::Noai => "noai",
            PreferenceForm::Rsl => "rsl",
            PreferenceForm::CreativeCommons => "creative-commons",
            PreferenceForm::AiTxt => "ai-txt",
        }
    }
}

/// Where a statement stands. Of two places of TDMRep, the later one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PreferencePlace {
    /// The site's robots.txt.
    #[serde(rename = "robots.txt")]
    RobotsTxt,
    /// The site's `/.well-known/tdmrep.json`.
    #[serde(rename = "tdmrep.json")]
    TdmrepJson,
    /// The site's `/ai.txt`.
    #[serde(rename = "ai.txt")]
    AiTxt,
    /// The header of the answer.
    #[serde(rename = "header")]
    Header,
    /// An element of the page.
    #[serde(rename = "page")]
    Page,
}

impl PreferencePlace {
    /// Returns the name in output.
    pub fn name(self) -> &'static str {
        match self {
            PreferencePlace::RobotsTxt => "robots.txt",
            PreferencePlace::TdmrepJson => "tdmrep.json",
            PreferencePlace::AiTxt => "ai.txt",
            PreferencePlace::Header => "header",
            PreferencePlace::Page => "page",
        }
    }
}

/// Characters of a statement that are kept.
const LONGEST: usize = 300;

/// One statement about the use of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preference {
    /// Its form.
    pub form: PreferenceForm,
    /// Where it stands.
    pub from: PreferencePlace,
    /// Its words, white space folded.
    pub says: String,
    /// What it says of each use that it names. Empty if it names none that is known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub uses: BTreeMap<Usage, Permission>,
    /// When the file was fetched in which it stands, RFC 3339 UTC. Absent: with the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

impl Preference {
    /// A statement that stands with the page.
    pub fn new(
        form: PreferenceForm,
        from: PreferencePlace,
        says: &str,
        uses: impl IntoIterator<Item = (Usage, Permission)>,
    ) -> Self {
        let says = neardup::text::whitespace::folded(says, LONGEST);
        Self { form, from, says, uses: uses.into_iter().collect(), at: None }
    }

    /// Whether it disallows a use.
    pub fn disallows(&self) -> bool {
        self.uses.values().any(|said| *said == Permission::Disallowed)
    }

    /// The same statement in a file that was fetched at this time.
    #[must_use]
    pub fn fetched_at(self, at: Option<String>) -> Self {
        Self { at, ..self }
    }
}

/// Cuts statements to this number. Those that disallow stay before others: no page may hide one behind many.
pub fn cut_preferences(preferences: &mut Vec<Preference>, most: usize) {
    if preferences.len() > most {
        preferences.sort_by_key(|preference| !preference.disallows());
        preferences.truncate(most);
    }
}

/// Returns what all statements about a page together say of a use.
///
/// Within a form what any statement disallows is disallowed, and for TDMRep the page comes before the header and the
/// header before the file. Forms that contradict each other leave it unclear.
pub fn permission(preferences: &[Preference], usage: Usage) -> Permission {
    let mut forms = BTreeMap::<PreferenceForm, (PreferencePlace, Permission)>::new();
    for preference in preferences {
        let Some(&said) = preference.uses.get(&usage) else { continue };
        let (place, so_far) = forms.entry(preference.form).or_insert((preference.from, Permission::Unknown));
        match preference.from.cmp(place) {
            Ordering::Greater if preference.form == PreferenceForm::Tdmrep => {
                (*place, *so_far) = (preference.from, said)
            }
            Ordering::Less if preference.form == PreferenceForm::Tdmrep => {}
            _ => *so_far = so_far.stricter(said),
        }
    }
    // A contradiction stays one, whatever a third form says.
    let said: Vec<Permission> = forms.into_values().map(|(_, said)| said).collect();
    if said.contains(&Permission::Allowed) && said.contains(&Permission::Disallowed) {
        return Permission::Unclear;
    }
    said.into_iter().fold(Permission::Unknown, Permission::stricter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Permission::{Allowed, Disallowed, Unclear, Unknown};
    use PreferencePlace::{Header, Page, RobotsTxt, TdmrepJson};

    fn of(form: PreferenceForm, from: PreferencePlace, said: Permission) -> Preference {
        Preference::new(form, from, "", [(Usage::TrainAi, said)])
    }

    fn told(preferences: &[(PreferenceForm, PreferencePlace, Permission)]) -> Permission {
        let all: Vec<Preference> = preferences.iter().map(|(form, from, said)| of(*form, *from, *said)).collect();
        let backward: Vec<Preference> = all.iter().rev().cloned().collect();
        let said = permission(&all, Usage::TrainAi);
        assert_eq!(said, permission(&backward, Usage::TrainAi), "the order of statements does not count");
        said
    }

    #[test]
    fn within_a_form_the_stricter_counts_and_across_forms_a_contradiction_is_unclear() {
        use PreferenceForm::{ContentSignal, ContentUsage, Noai, Rsl};
        assert_eq!(told(&[]), Unknown);
        assert_eq!(told(&[(ContentUsage, Header, Allowed), (ContentUsage, RobotsTxt, Disallowed)]), Disallowed);
        assert_eq!(told(&[(ContentUsage, Header, Allowed), (ContentSignal, RobotsTxt, Allowed)]), Allowed);
        assert_eq!(told(&[(ContentUsage, Header, Allowed), (Noai, Page, Disallowed)]), Unclear);
        assert_eq!(told(&[(ContentUsage, Header, Allowed), (Rsl, RobotsTxt, Unclear)]), Unclear);
        assert_eq!(told(&[(Noai, Page, Disallowed), (Rsl, RobotsTxt, Unclear)]), Disallowed);
        let three = [(ContentUsage, Header, Allowed), (Noai, Page, Disallowed), (ContentSignal, RobotsTxt, Disallowed)];
        assert_eq!(told(&three), Unclear);
    }

    #[test]
    fn what_disallows_is_not_cut() {
        let mut all = vec![of(PreferenceForm::Rsl, Page, Unclear); 9];
        all.push(of(PreferenceForm::Noai, Page, Disallowed));
        cut_preferences(&mut all, 3);
        assert_eq!((all.len(), permission(&all, Usage::TrainAi)), (3, Disallowed));
    }

    #[test]
    fn of_tdmrep_the_page_comes_before_the_header_and_the_header_before_the_file() {
        use PreferenceForm::Tdmrep;
        assert_eq!(told(&[(Tdmrep, TdmrepJson, Disallowed), (Tdmrep, Header, Allowed)]), Allowed);
        assert_eq!(told(&[(Tdmrep, Page, Disallowed), (Tdmrep, Header, Allowed)]), Disallowed);
        assert_eq!(told(&[(Tdmrep, Page, Allowed), (Tdmrep, Page, Disallowed)]), Disallowed);
    }
}
