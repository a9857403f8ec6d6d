//! Stop words: articles, pronouns, prepositions, conjunctions and auxiliaries, by language.
//!
//! The lists are short on purpose, since every dropped word is lost to the comparison. They are frozen: a change
//! makes records incomparable and needs a new [`VERSION`].

/// Version of the lists.
pub(super) const VERSION: u32 = 1;

/// Returns the stop words of a language by its primary subtag, in byte order; none for other languages.
pub(super) fn of(language: &str) -> &'static [&'static str] {
    match language {
        "da" => DA,
        "de" => DE,
        "en" => EN,
        "es" => ES,
        "fi" => FI,
        "fr" => FR,
        "it" => IT,
        "nl" => NL,
        "nb" | "nn" | "no" => NO,
        "pt" => PT,
        "ru" => RU,
        "sv" => SV,
        _ => &[],
    }
}

#[rustfmt::skip]
const DA: &[&str] = &[
    "af", "alle", "andet", "at", "blev", "blive", "bliver", "da", "de", "dem", "den", "denne", "der", "deres",
    "det", "dette", "dig", "din", "disse", "dog", "du", "efter", "eller", "en", "end", "er", "et", "for", "fra",
    "ham", "han", "hans", "har", "havde", "hende", "hendes", "her", "hos", "hun", "hvad", "hvis", "hvor", "i",
    "ikke", "ind", "jeg", "jo", "kan", "kunne", "man", "mange", "med", "meget", "men", "mig", "min", "mit", "mod",
    "ned", "noget", "nogle", "nu", "når", "og", "også", "om", "op", "os", "over", "på", "selv", "sig", "sin",
    "skal", "skulle", "som", "sådan", "til", "ud", "under", "var", "vi", "vil", "ville", "vor", "være", "været",
];

#[rustfmt::skip]
const DE: &[&str] = &[
    "aber", "alle", "allem", "allen", "aller", "alles", "als", "also", "am", "an", "ander", "andere", "anderen",
    "anderer", "anderes", "auch", "auf", "aus", "bei", "beim", "bin", "bis", "bist", "da", "damit", "dann", "das",
    "dass", "dasselbe", "dein", "deine", "dem", "den", "denn", "der", "des", "dessen", "die", "dies", "diese",
    "diesem", "diesen", "dieser", "dieses", "doch", "dort", "du", "durch", "ein", "eine", "einem", "einen", "einer",
    "eines", "er", "es", "etwas", "euch", "euer", "für", "gegen", "hab", "habe", "haben", "hat", "hatte", "hatten",
    "hier", "hin", "hinter", "ich", "ihm", "ihn", "ihnen", "ihr", "ihre", "ihrem", "ihren", "ihrer", "im", "in",
    "indem", "ins", "ist", "ja", "jede", "jedem", "jeden", "jeder", "jedes", "jene", "kann", "kein", "keine",
    "keinem", "keinen", "keiner", "können", "könnte", "machen", "man", "manche", "mein", "meine", "mit", "muss",
    "nach", "nicht", "nichts", "noch", "nun", "nur", "ob", "oder", "ohne", "sehr", "sein", "seine", "seinem",
    "seinen", "seiner", "selbst", "sich", "sie", "sind", "so", "solche", "soll", "sollte", "sondern", "sonst", "um",
    "und", "uns", "unser", "unter", "viel", "vom", "von", "vor", "war", "waren", "was", "weil", "welche", "welchem",
    "welchen", "welcher", "welches", "wenn", "werde", "werden", "wie", "wieder", "will", "wir", "wird", "wirst",
    "wo", "wollen", "während", "würde", "würden", "zu", "zum", "zur", "zwar", "zwischen", "über",
];

#[rustfmt::skip]
const EN: &[&str] = &[
    "a", "about", "above", "after", "again", "against", "all", "also", "am", "an", "and", "any", "are", "aren't",
    "as", "at", "be", "because", "been", "before", "being", "below", "between", "both", "but", "by", "can", "can't",
    "cannot", "could", "couldn't", "did", "didn't", "do", "does", "doesn't", "doing", "don't", "down", "during",
    "each", "few", "for", "from", "further", "had", "hadn't", "has", "hasn't", "have", "haven't", "having", "he",
    "her", "here", "hers", "herself", "him", "himself", "his", "how", "i", "if", "in", "into", "is", "isn't", "it",
    "it's", "its", "itself", "let's", "me", "more", "most", "my", "myself", "no", "nor", "not", "of", "off", "on",
    "once", "only", "or", "other", "our", "ours", "ourselves", "out", "over", "own", "same", "she", "should",
    "shouldn't", "so", "some", "such", "than", "that", "that's", "the", "their", "theirs", "them", "themselves",
    "then", "there", "there's", "these", "they", "they're", "this", "those", "through", "to", "too", "under",
    "until", "up", "upon", "very", "was", "wasn't", "we", "were", "weren't", "what", "when", "where", "which",
    "while", "who", "whom", "why", "will", "with", "won't", "would", "wouldn't", "you", "you're", "your", "yours",
    "yourself", "yourselves",
];

#[rustfmt::skip]
const ES: &[&str] = &[
    "a", "al", "algo", "algunas", "algunos", "ante", "antes", "como", "con", "contra", "cual", "cuando", "de",
    "del", "desde", "donde", "durante", "e", "el", "ella", "ellas", "ellos", "en", "entre", "era", "eran", "es",
    "esa", "esas", "ese", "eso", "esos", "estaba", "estar", "estas", "este", "esto", "estos", "está", "están",
    "fue", "fueron", "ha", "haber", "había", "han", "has", "hasta", "hay", "la", "las", "le", "les", "lo", "los",
    "me", "mi", "mis", "mucho", "muy", "más", "nada", "ni", "no", "nos", "nosotros", "nuestra", "nuestro", "o",
    "os", "otra", "otras", "otro", "otros", "para", "pero", "poco", "por", "porque", "que", "quien", "qué", "se",
    "sea", "ser", "si", "sido", "sin", "sobre", "solo", "son", "su", "sus", "sí", "también", "tanto", "te", "tiene",
    "tienen", "todo", "todos", "tu", "tus", "un", "una", "unas", "uno", "unos", "usted", "y", "ya", "yo", "él",
];

#[rustfmt::skip]
const FI: &[&str] = &[
    "ei", "eivät", "en", "että", "he", "hän", "häntä", "ja", "jo", "joka", "jonka", "jos", "jota", "jotka",
    "kanssa", "koska", "kuin", "kun", "me", "mikä", "minkä", "minä", "mitä", "mukaan", "muta", "mutta", "myös",
    "ne", "niin", "niitä", "nyt", "näin", "nämä", "ole", "olen", "oli", "olisi", "olla", "olleet", "ollut", "on",
    "ovat", "poikki", "se", "sekä", "sen", "siinä", "sitä", "suun", "tai", "te", "tämä", "tämän", "vaan", "vai",
    "vaikka", "voi", "yli",
];

#[rustfmt::skip]
const FR: &[&str] = &[
    "ai", "au", "aucun", "aussi", "autre", "aux", "avec", "avoir", "c'est", "car", "ce", "ceci", "cela", "celle",
    "celui", "ces", "cet", "cette", "ceux", "chaque", "ci", "comme", "d'un", "d'une", "dans", "de", "des", "donc",
    "dont", "du", "elle", "elles", "en", "encore", "entre", "est", "et", "eu", "eux", "fait", "font", "il", "ils",
    "j'ai", "je", "l'on", "la", "le", "les", "leur", "leurs", "lui", "là", "ma", "mais", "me", "mes", "moi", "mon",
    "même", "n'est", "ne", "ni", "nos", "notre", "nous", "on", "ont", "ou", "où", "par", "pas", "peu", "peut",
    "plus", "pour", "pourquoi", "qu'il", "qu'un", "qu'une", "quand", "que", "quel", "quelle", "quelles", "quels",
    "qui", "s'il", "sa", "sans", "se", "sera", "ses", "si", "son", "sont", "sous", "sur", "ta", "te", "tes", "toi",
    "ton", "tous", "tout", "toute", "toutes", "très", "tu", "un", "une", "vos", "votre", "vous", "y", "à",
    "étaient", "était", "été", "être",
];

#[rustfmt::skip]
const IT: &[&str] = &[
    "a", "ad", "agli", "ai", "al", "alla", "alle", "allo", "anche", "avere", "aveva", "c'è", "che", "chi", "ci",
    "come", "con", "contro", "cui", "da", "dagli", "dai", "dal", "dalla", "dalle", "dallo", "degli", "dei", "del",
    "dell'altro", "della", "delle", "dello", "di", "dove", "e", "ed", "era", "erano", "essere", "fra", "gli", "ha",
    "hai", "hanno", "ho", "i", "il", "in", "io", "la", "le", "lei", "li", "lo", "loro", "lui", "ma", "mi", "mia",
    "mio", "ne", "negli", "nei", "nel", "nella", "nelle", "nello", "noi", "non", "nostra", "nostro", "o", "ogni",
    "per", "perché", "più", "può", "quale", "quando", "quanto", "quella", "quelle", "quelli", "quello", "questa",
    "queste", "questi", "questo", "sarà", "se", "sei", "si", "sia", "siamo", "sono", "sta", "stato", "su", "sua",
    "sue", "sugli", "sui", "sul", "sulla", "sulle", "suo", "suoi", "ti", "tra", "tu", "tua", "tue", "tuo", "tutti",
    "tutto", "un", "un'altra", "una", "uno", "vi", "voi", "è",
];

#[rustfmt::skip]
const NL: &[&str] = &[
    "aan", "al", "alles", "als", "altijd", "andere", "ben", "bij", "daar", "dan", "dat", "de", "der", "deze", "die",
    "dit", "doch", "doen", "door", "dus", "een", "eens", "en", "er", "ge", "geen", "geweest", "haar", "had", "heb",
    "hebben", "heeft", "hem", "het", "hier", "hij", "hoe", "hun", "iemand", "iets", "ik", "in", "is", "ja", "je",
    "kan", "kon", "kunnen", "maar", "me", "meer", "men", "met", "mij", "mijn", "moet", "na", "naar", "niet",
    "niets", "nog", "nu", "of", "om", "omdat", "onder", "ons", "ook", "op", "over", "reeds", "te", "tegen", "toch",
    "toen", "tot", "u", "uit", "uw", "van", "veel", "voor", "want", "waren", "was", "wat", "werd", "wezen", "wie",
    "wil", "worden", "wordt", "zal", "ze", "zelf", "zich", "zij", "zijn", "zo", "zonder", "zou",
];

#[rustfmt::skip]
const NO: &[&str] = &[
    "alle", "at", "av", "begge", "ble", "bli", "blir", "både", "da", "de", "deg", "dei", "dem", "den", "denne",
    "der", "dere", "det", "dette", "din", "disse", "du", "eg", "ein", "eit", "eller", "en", "er", "et", "etter",
    "for", "fordi", "fra", "før", "ha", "hadde", "han", "hans", "har", "henne", "her", "hos", "hun", "hva", "hver",
    "hvis", "hvor", "hvordan", "hvorfor", "i", "ikke", "inn", "ja", "jeg", "kan", "kom", "kun", "kunne", "man",
    "mange", "med", "meg", "mellom", "men", "mer", "min", "mot", "må", "ned", "noe", "noen", "nå", "når", "og",
    "også", "om", "opp", "oss", "over", "på", "seg", "selv", "si", "sin", "skal", "skulle", "slik", "som", "så",
    "til", "um", "under", "ut", "uten", "var", "ved", "vi", "vil", "ville", "være", "vært",
];

#[rustfmt::skip]
const PT: &[&str] = &[
    "a", "ao", "aos", "aquela", "aquele", "aquilo", "as", "até", "com", "como", "da", "das", "de", "dela", "dele",
    "deles", "depois", "do", "dos", "e", "ela", "elas", "ele", "eles", "em", "entre", "era", "eram", "essa",
    "essas", "esse", "esses", "esta", "estas", "este", "estes", "está", "estão", "eu", "foi", "foram", "há", "isso",
    "isto", "já", "lhe", "mais", "mas", "me", "mesmo", "meu", "minha", "muito", "na", "nas", "nem", "no", "nos",
    "nossa", "nosso", "num", "numa", "não", "nós", "o", "os", "ou", "para", "pela", "pelas", "pelo", "pelos", "por",
    "qual", "quando", "que", "quem", "se", "sem", "ser", "será", "seu", "seus", "sua", "suas", "são", "só",
    "também", "te", "tem", "tinha", "tu", "têm", "um", "uma", "umas", "uns", "você", "vocês", "à", "às", "é",
];

#[rustfmt::skip]
const RU: &[&str] = &[
    "а", "без", "более", "бы", "был", "была", "были", "было", "быть", "в", "вам", "вас", "весь", "во", "вот", "все",
    "всего", "всех", "вы", "где", "да", "даже", "для", "до", "его", "ее", "если", "есть", "еще", "же", "за",
    "здесь", "и", "из", "или", "им", "их", "к", "как", "ко", "когда", "кто", "ли", "либо", "мне", "может", "мы",
    "на", "над", "надо", "наш", "не", "него", "нее", "нет", "ни", "них", "но", "ну", "о", "об", "однако", "он",
    "она", "они", "оно", "от", "очень", "по", "под", "при", "с", "со", "так", "также", "такой", "там", "те", "тем",
    "то", "того", "тоже", "той", "только", "том", "ты", "у", "уже", "хотя", "чего", "чей", "чем", "что", "чтобы",
    "чье", "эта", "эти", "это", "этого", "этой", "этот", "эту", "я",
];

#[rustfmt::skip]
const SV: &[&str] = &[
    "alla", "allt", "att", "av", "blev", "bli", "blir", "de", "dem", "den", "denna", "deras", "dess", "dessa",
    "det", "detta", "dig", "din", "ditt", "du", "där", "efter", "ej", "eller", "en", "er", "ett", "från", "för",
    "ha", "hade", "han", "hans", "har", "hon", "honom", "hur", "här", "i", "icke", "in", "inte", "jag", "ju", "kan",
    "kunde", "man", "med", "mellan", "men", "mig", "min", "mitt", "mot", "mycket", "ni", "nu", "när", "och", "om",
    "oss", "på", "samma", "sedan", "sig", "sin", "sitt", "ska", "skulle", "som", "så", "till", "under", "upp", "ut",
    "utan", "vad", "var", "vara", "varför", "varit", "vem", "vi", "vid", "vilka", "vilken", "vår", "är", "över",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_and_in_lower_case() {
        for language in ["da", "de", "en", "es", "fi", "fr", "it", "nl", "no", "pt", "ru", "sv"] {
            let list = of(language);
            assert!(list.len() > 40, "{language}");
            assert!(list.is_sorted(), "{language}");
            assert!(list.iter().all(|word| word.to_lowercase() == **word), "{language}");
        }
        assert!(of("zh").is_empty());
    }
}
