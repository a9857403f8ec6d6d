//! *What do a page and its server say of the use of the page?*
//!
//! Each form has its own vocabulary; here it is mapped to [`Usage`]. What a form names and this crate does not know stays
//! in the words of the statement. What names a use and cannot be read is unclear. The guide "Preferences and licenses"
//! has the drafts that are followed.
//!
//! | form | says | of |
//! |---|---|---|
//! | `Content-Usage: train-ai=n, search=y` | `n`, `y` | these |
//! | `Content-Signal: ai-train=no, search=yes` | `n`, `y` | `train-ai`, `search` |
//! | `tdm-reservation: 1` | `n` | `tdm`, and `train-ai`, which is mining |
//! | `tdm-reservation: 0` | `y` | `tdm` |
//! | `noai` | `n` | `train-ai` |
//! | a license of RSL | unclear: its terms stand elsewhere | `train-ai`, `ai-input`, `search` |
//! | CC0, the public domain mark | `y` | all |
//! | another license of Creative Commons | nothing | |

use sfv::{Dictionary, ListEntry, Parser, TokenRef};

use crate::model::Permission::{self, Allowed, Disallowed, Unclear};
use crate::model::{PageSource, Preference, PreferenceForm, PreferencePlace, Usage, cut_preferences};

use super::{directives, header_link, license};

/// Statements that are kept of a page.
pub const MOST: usize = 32;

/// The media type of a license in the form of RSL.
const RSL: &str = "application/rsl+xml";

/// Uses that a license of RSL speaks about.
const OF_RSL: [Usage; 3] = [Usage::TrainAi, Usage::AiInput, Usage::Search];

/// Returns what the header says.
pub(super) fn of_header(page: PageSource<'_>, agent: &str) -> Vec<Preference> {
    let from = PreferencePlace::Header;
    let joined = |name| page.headers_named(name).collect::<Vec<_>>().join(", ");
    let mut all = Vec::new();
    let usage = joined("content-usage");
    all.extend((!usage.is_empty()).then(|| content_usage(&usage, from)));
    let signal = joined("content-signal");
    all.extend((!signal.is_empty()).then(|| content_signal(&signal, from)));
    for name in [RESERVATION, POLICY] {
        all.extend(page.headers_named(name).filter_map(|value| tdm(name, &value, from)));
    }
    for value in page.headers_named("x-robots-tag") {
        directives::each_of_header(&value, agent, |item, _| all.extend(noai(item, from)));
    }
    for value in page.headers_named("link") {
        for link in header_link::links(&value).filter(|link| link.has_rel("license")) {
            let target = page.url.as_url().join(link.target).map_or_else(|_| link.target.to_owned(), String::from);
            all.extend(of_license(&target, link.media_type(), from));
        }
    }
    cut_preferences(&mut all, MOST);
    all
}

/// Returns what a `meta` element says.
pub(super) fn of_meta(name: &str, content: &str, agent: &str) -> Vec<Preference> {
    let from = PreferencePlace::Page;
    match name.trim() {
        name if directives::is_of_robots(name, agent) => {
            content.split(',').filter_map(|item| noai(item, from)).collect()
        }
        name => tdm(name, content, from).into_iter().collect(),
    }
}

/// Returns what a link to a license says; `None` if its form is not known.
pub(super) fn of_license(url: &str, kind: Option<&str>, from: PreferencePlace) -> Option<Preference> {
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case(RSL) {
        return Some(rsl(url, from));
    }
    license::is_creative_commons(url).then(|| {
        let is_free = url.contains("/publicdomain/");
        let uses = Usage::ALL.into_iter().filter(|_| is_free).map(|usage| (usage, Allowed));
        Preference::new(PreferenceForm::CreativeCommons, from, url, uses)
    })
}

/// Returns what a license of RSL at this address says. Its terms stand there.
pub fn rsl(url: &str, from: PreferencePlace) -> Preference {
    Preference::new(PreferenceForm::Rsl, from, url, OF_RSL.map(|usage| (usage, Unclear)))
}

/// Reads `Content-Usage`: a dictionary (RFC 9651). One that cannot be read is unclear.
pub fn content_usage(value: &str, from: PreferencePlace) -> Preference {
    const KNOWN: [Usage; 2] = [Usage::TrainAi, Usage::Search];
    let uses: Vec<(Usage, Permission)> = match Parser::new(value).parse::<Dictionary>() {
        Err(_) => KNOWN.map(|usage| (usage, Unclear)).to_vec(),
        Ok(members) => {
            KNOWN.into_iter().filter_map(|usage| Some((usage, answer(members.get(usage.name())?)))).collect()
        }
    };
    Preference::new(PreferenceForm::ContentUsage, from, value, uses)
}

fn answer(member: &ListEntry) -> Permission {
    let ListEntry::Item(item) = member else { return Unclear };
    match item.bare_item.as_token().map(TokenRef::as_str) {
        Some("y") => Allowed,
        Some("n") => Disallowed,
        _ => Unclear,
    }
}

/// Reads `Content-Signal`: `search=yes, ai-train=no`.
pub fn content_signal(value: &str, from: PreferencePlace) -> Preference {
    let uses = value.split([',', ';']).filter_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let usage = match key.trim().to_ascii_lowercase().as_str() {
            "ai-train" => Usage::TrainAi,
            "ai-input" => Usage::AiInput,
            "search" => Usage::Search,
            _ => return None,
        };
        let said = match value.trim().to_ascii_lowercase().as_str() {
            "yes" => Allowed,
            "no" => Disallowed,
            _ => Unclear,
        };
        Some((usage, said))
    });
    let mut preference = Preference::new(PreferenceForm::ContentSignal, from, value, []);
    for (usage, said) in uses {
        // The form does not say which of two answers counts.
        let known = preference.uses.entry(usage).or_insert(said);
        *known = if *known == said { said } else { Unclear };
    }
    preference
}

const RESERVATION: &str = "tdm-reservation";
const POLICY: &str = "tdm-policy";

fn tdm(name: &str, value: &str, from: PreferencePlace) -> Option<Preference> {
    if name.eq_ignore_ascii_case(RESERVATION) {
        Some(tdm_reservation(value.trim(), None, from))
    } else if name.eq_ignore_ascii_case(POLICY) {
        Some(Preference::new(PreferenceForm::Tdmrep, from, &format!("{POLICY}: {value}"), []))
    } else {
        None
    }
}

/// Reads a reservation of text and data mining: 1 or 0.
pub fn tdm_reservation(value: &str, policy: Option<&str>, from: PreferencePlace) -> Preference {
    let uses = match value {
        "1" => vec![(Usage::Tdm, Disallowed), (Usage::TrainAi, Disallowed)],
        // What is not reserved may be mined. Whether that is all that training needs is not said.
        "0" => vec![(Usage::Tdm, Allowed)],
        _ => vec![(Usage::Tdm, Unclear), (Usage::TrainAi, Unclear)],
    };
    let policy = policy.map(|policy| format!("; {POLICY}: {policy}")).unwrap_or_default();
    Preference::new(PreferenceForm::Tdmrep, from, &format!("{RESERVATION}: {value}{policy}"), uses)
}

fn noai(item: &str, from: PreferencePlace) -> Option<Preference> {
    let (name, uses) = match item.trim().to_ascii_lowercase().as_str() {
        "noai" => ("noai", vec![(Usage::TrainAi, Disallowed)]),
        // Of pictures only.
        "noimageai" => ("noimageai", Vec::new()),
        _ => return None,
    };
    Some(Preference::new(PreferenceForm::Noai, from, name, uses))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::Normalizer;
    use crate::{Header, PageReader};

    fn told(preference: &Preference) -> String {
        let uses = preference.uses.iter().map(|(usage, said)| format!("{}={}", usage.name(), said.name()));
        uses.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn content_usage_is_a_dictionary_of_structured_fields() {
        for (value, expected) in [
            ("train-ai=n", "train-ai=n"),
            ("train-ai=y, search=n", "train-ai=y search=n"),
            ("search=y;a=\"x, train-ai=n\", train-ai=n", "train-ai=n search=y"),
            // The examples of the draft on keys that stand twice, and on parameters.
            ("train-ai=y, train-ai, search=n, search=\"n\"", "train-ai=unclear search=unclear"),
            ("train-ai;allow=n, train-ai=y", "train-ai=y"),
            ("train-ai;has;parameters=\"?\"", "train-ai=unclear"),
            ("bots=n, train-genai=n", ""),
            ("", ""),
            ("x=(a b;q=1 \"c\"), train-ai=n", "train-ai=n"),
            ("x=:YQ==:, y=?0, z=@1, w=-1.5, train-ai=n", "train-ai=n"),
            ("Train-AI=n", "train-ai=unclear search=unclear"),
            ("train-ai=n,", "train-ai=unclear search=unclear"),
            ("train-ai=n search=y", "train-ai=unclear search=unclear"),
            ("train-ai=\"n", "train-ai=unclear search=unclear"),
            ("train-ai=", "train-ai=unclear search=unclear"),
        ] {
            assert_eq!(told(&content_usage(value, PreferencePlace::Header)), expected, "{value}");
        }
    }

    #[test]
    fn signals_are_yes_or_no() {
        for (value, expected) in [
            ("search=yes,ai-train=no,use=reference", "train-ai=n search=y"),
            (" AI-Input = Yes ", "ai-input=y"),
            ("ai-train=maybe", "train-ai=unclear"),
            ("ai-train", "train-ai=unclear"),
            ("ai-train=no, ai-train=yes", "train-ai=unclear"),
        ] {
            assert_eq!(told(&content_signal(value, PreferencePlace::RobotsTxt)), expected, "{value}");
        }
    }

    fn found(headers: &[(&str, &str)], html: &str) -> Vec<String> {
        let url = Normalizer::default().absolute("http://a.test/b/").unwrap();
        let headers: Vec<Header> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())).collect();
        let page = PageSource::new(&url, html.as_bytes()).with_headers(&headers);
        let all = PageReader::default().render(page).preferences;
        let words = |said: &Preference| format!("{} {:?} [{}] {}", said.form.name(), said.from, said.says, told(said));
        all.iter().map(|said| words(said).trim_end().to_owned()).collect()
    }

    #[test]
    fn header_lines_speak_of_the_page() {
        let headers = [
            ("content-usage", "train-ai=n"),
            ("Content-Usage", "search=y"),
            ("TDM-Reservation", "1"),
            ("tdm-policy", "https://a.test/p.json"),
            ("X-Robots-Tag", "otherbot: noai, ndcrawl: noimageai"),
            ("X-Robots-Tag", "noindex, NoAI"),
            ("Link", "</l.xml>; rel=\"license\"; type=\"application/rsl+xml\", </2>; rel=next"),
            ("Link", "<https://creativecommons.org/licenses/by/4.0/>; rel=license"),
            ("Link", "</terms>; rel=license"),
        ];
        let expected = [
            "content-usage Header [train-ai=n, search=y] train-ai=n search=y",
            "tdmrep Header [tdm-reservation: 1] train-ai=n tdm=n",
            "tdmrep Header [tdm-policy: https://a.test/p.json]",
            "noai Header [noimageai]",
            "noai Header [noai] train-ai=n",
            "rsl Header [http://a.test/l.xml] train-ai=unclear ai-input=unclear search=unclear",
            "creative-commons Header [https://creativecommons.org/licenses/by/4.0/]",
        ];
        assert_eq!(found(&headers, "<p>x"), expected);
    }

    #[test]
    fn elements_speak_of_the_page() {
        let html = "<meta name=robots content='index, noai, noimageai'><meta name=TDM-reservation content=0>\
            <meta name=otherbot content=noai><meta name=tdm-policy content=p>\
            <link rel=license type='application/rsl+xml' href=../l.xml>\
            <p><a rel='nofollow license' href='https://creativecommons.org/publicdomain/zero/1.0/'>CC0</a>\
            <a href='https://creativecommons.org/licenses/by/4.0/'>of a picture</a>\
            <a rel=license href='https://creativecommons.org/publicdomain/zero/1.0/'>CC0</a>";
        let expected = [
            "noai Page [noai] train-ai=n",
            "noai Page [noimageai]",
            "tdmrep Page [tdm-reservation: 0] tdm=y",
            "tdmrep Page [tdm-policy: p]",
            "rsl Page [http://a.test/l.xml] train-ai=unclear ai-input=unclear search=unclear",
            "creative-commons Page [https://creativecommons.org/publicdomain/zero/1.0/] train-ai=y ai-input=y search=y tdm=y",
        ];
        assert_eq!(found(&[], html), expected);
        assert!(found(&[], "<p>no word of it").is_empty());
        assert_eq!(
            found(&[("tdm-reservation", "yes")], "")[0],
            "tdmrep Header [tdm-reservation: yes] train-ai=unclear tdm=unclear"
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_and_what_is_written_comes_back(
            text in ".{0,60}",
            keys in proptest::collection::vec(("x[a-z0-9_.*-]{0,6}", "[a-z]{1,3}|\"[a-z, ;=]{0,5}\"|\\?0|-?[0-9]{1,3}|\\(a 1\\)"), 0..5),
            said in proptest::collection::vec(("train-ai|search", "y|n|\"y\"|\\?1|\\(y\\)"), 0..4),
        ) {
            content_usage(&text, PreferencePlace::Header);
            content_signal(&text, PreferencePlace::Header);
            let members = keys.iter().chain(&said);
            let written: Vec<String> = members.map(|(key, value)| format!("{key}={value};p=1")).collect();
            let read = content_usage(&written.join(" , "), PreferencePlace::Header);
            for usage in Usage::ALL {
                // Of equal keys the last one counts.
                let last = said.iter().rev().find(|(key, _)| key == usage.name());
                let expected = last.map(|(_, value)| match value.as_str() {
                    "y" => Allowed,
                    "n" => Disallowed,
                    _ => Unclear,
                });
                prop_assert_eq!(read.uses.get(&usage).copied(), expected);
            }
        }
    }
}
