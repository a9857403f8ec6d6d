//! *What is a key?* Its facts, and the macro that declares it together with its field.

use serde_json::Value;

use super::NEAR_DUPLICATES;
use crate::cli::config::settings::Settings;
use crate::cli::config::value::Setting;
use crate::model::Detector;

/// What the last line of a doc comment begins with, if it is a use of the flag.
const EXAMPLE: &str = "Example: ";

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `--flag VALUE`, with the name of the value in the help.
    Value(&'static str),
    /// `--flag WORD`, one of these words, separated by bars.
    Choice(&'static str),
    /// `--flag` alone, which sets this text.
    Switch(&'static str),
    /// `--flag VALUE`, repeatable.
    List(&'static str),
    /// Like `List`; one text may hold several values, separated by commas.
    CommaList(&'static str),
}

/// Whose a setting is, where several processes share a crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The crawl's: all processes have the same.
    Crawl,
    /// That of each process.
    Machine,
    /// Of a crawl that one process runs alone.
    Alone,
}

/// A setting.
#[derive(Debug)]
pub struct Key {
    /// The name in configuration files: the path of the field in [`Settings`].
    pub name: &'static str,
    /// A short name at the top level of a file.
    pub alias: Option<&'static str>,
    /// The flag, without hyphens.
    pub flag: Option<&'static str>,
    /// The one-letter flag.
    pub short: Option<char>,
    /// How the value is written.
    pub shape: Shape,
    /// The default, as text. Lists are separated by commas.
    pub default: &'static str,
    /// The effective default, if the text does not say it.
    pub default_note: Option<&'static str>,
    /// The description of the flag, if it sets the opposite.
    pub flag_help: Option<&'static str>,
    /// The detectors that have this option; none if it is not theirs alone.
    pub detectors: &'static [Detector],
    /// Whether the value is fixed once a crawl has started.
    pub fixed: bool,
    /// Whose it is, where several processes share a crawl.
    pub owner: Owner,
    /// The doc comment of the field.
    docs: &'static [&'static str],
    read: fn(&mut Settings, &[String]) -> Result<(), String>,
    show: fn(&Settings) -> Value,
}

impl Key {
    pub(crate) const fn new(name: &'static str, docs: &'static [&'static str], access: Access, owner: Owner) -> Self {
        Self {
            name,
            alias: None,
            flag: None,
            short: None,
            shape: Shape::Value(""),
            default: "",
            default_note: None,
            flag_help: None,
            detectors: &[],
            fixed: false,
            owner,
            docs,
            read: access.0,
            show: access.1,
        }
    }

    pub(crate) const fn shaped(mut self, shape: Shape, default: &'static str) -> Self {
        (self.shape, self.default) = (shape, default);
        self
    }

    pub(crate) const fn value(self, name: &'static str, default: &'static str) -> Self {
        self.shaped(Shape::Value(name), default)
    }

    pub(crate) const fn choice(self, words: &'static str, default: &'static str) -> Self {
        self.shaped(Shape::Choice(words), default)
    }

    /// The flag sets the opposite of the default.
    pub(crate) const fn switch(self, default: bool) -> Self {
        match default {
            true => self.shaped(Shape::Switch("false"), "true"),
            false => self.shaped(Shape::Switch("true"), "false"),
        }
    }

    pub(crate) const fn list(self, name: &'static str) -> Self {
        self.shaped(Shape::List(name), "")
    }

    pub(crate) const fn comma_list(self, name: &'static str, default: &'static str) -> Self {
        self.shaped(Shape::CommaList(name), default)
    }

    pub(crate) const fn flag(mut self, flag: &'static str) -> Self {
        self.flag = Some(flag);
        self
    }

    pub(crate) const fn short(mut self, letter: char) -> Self {
        self.short = Some(letter);
        self
    }

    pub(crate) const fn alias(mut self, alias: &'static str) -> Self {
        self.alias = Some(alias);
        self
    }

    pub(crate) const fn note(mut self, note: &'static str) -> Self {
        self.default_note = Some(note);
        self
    }

    pub(crate) const fn flag_help(mut self, help: &'static str) -> Self {
        self.flag_help = Some(help);
        self
    }

    /// Puts the key behind `--detector-option`.
    pub(crate) const fn of(mut self, detectors: &'static [Detector]) -> Self {
        self.detectors = detectors;
        self
    }

    pub(crate) const fn fixed(mut self) -> Self {
        self.fixed = true;
        self
    }

    pub(crate) const fn of_crawl(mut self) -> Self {
        self.owner = Owner::Crawl;
        self
    }

    pub(crate) const fn of_machine(mut self) -> Self {
        self.owner = Owner::Machine;
        self
    }

    pub(crate) const fn of_one_process(mut self) -> Self {
        self.owner = Owner::Alone;
        self
    }

    /// Returns the description, one line: the first one of the doc comment.
    pub fn help(&self) -> &'static str {
        self.docs[0].trim()
    }

    /// Returns the reason for the default, and what else there is to know: the rest of the doc comment.
    pub fn because(&self) -> String {
        let lines = self.docs[1..].iter().map(|line| line.trim()).filter(|line| !line.is_empty());
        lines.filter(|line| !line.starts_with(EXAMPLE)).collect::<Vec<_>>().join(" ")
    }

    /// Returns a use of the flag: the last line of the doc comment.
    pub fn example(&self) -> Option<&'static str> {
        self.docs.last()?.trim().strip_prefix(EXAMPLE)
    }

    /// Reads texts into the field of the key.
    pub fn read(&self, settings: &mut Settings, texts: &[String]) -> Result<(), String> {
        (self.read)(settings, &self.split(texts))
    }

    /// Returns the value as in a configuration file, secrets masked.
    pub fn show(&self, settings: &Settings) -> Value {
        (self.show)(settings)
    }

    /// Returns whether a file or the environment may use this name for the key.
    pub fn is_named(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    /// Returns all names of the key, the current one first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        [Some(self.name), self.alias].into_iter().flatten()
    }

    /// Returns the help heading of the flag, which follows from the table.
    pub fn heading(&self) -> &'static str {
        match self.name.split('.').next().unwrap_or_default() {
            "seeds" | "seeds_file" => "Input",
            "engine" | "scope" | "focus" | "normalise" => "Scope",
            "politeness" | "identity" => "Politeness",
            "http" | "browser" | "pdf" => "HTTP",
            "security" => "Security",
            "random_seed" | "render" | "dedup" | "dust" => NEAR_DUPLICATES,
            "fail_over" | "max_duplicate_rate" | "out" => "Output",
            "dashboard" => "Dashboard",
            _ => "Logging",
        }
    }

    /// Returns the default as texts.
    pub fn default_texts(&self) -> Vec<String> {
        match self.shape {
            Shape::List(_) | Shape::CommaList(_) => split_at_commas(self.default).collect(),
            _ => vec![self.default.to_owned()],
        }
    }

    /// Returns the default as people read it.
    pub fn shown_default(&self) -> &'static str {
        self.default_note.unwrap_or(self.default)
    }

    /// Returns the name for `--detector-option`, if the key is an option of a detector.
    pub fn option_name(&self) -> Option<&'static str> {
        self.name.strip_prefix("dedup.").filter(|_| !self.detectors.is_empty())
    }

    /// Returns whether the value is a list.
    pub fn is_list(&self) -> bool {
        matches!(self.shape, Shape::List(_) | Shape::CommaList(_))
    }

    fn split(&self, texts: &[String]) -> Vec<String> {
        match self.shape {
            Shape::CommaList(_) => texts.iter().flat_map(|text| split_at_commas(text)).collect(),
            _ => texts.to_vec(),
        }
    }
}

fn split_at_commas(text: &str) -> impl Iterator<Item = String> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned)
}

type Access = (fn(&mut Settings, &[String]) -> Result<(), String>, fn(&Settings) -> Value);

/// Reads the default of the next key, which is that of the next field.
pub(crate) fn next_default<T: Setting>(keys: &mut std::slice::Iter<'_, Key>) -> T {
    let key = keys.next().expect("each field has a key");
    T::read(&key.default_texts()).unwrap_or_else(|why| panic!("the default of {}: {why}", key.name))
}

/// Declares a table of settings: its struct, the defaults of its fields, and a key for each. Description, reason and
/// example of a key are the doc comment of its field; the other facts follow the type.
///
/// `in [dedup]` names the place of the struct in [`Settings`], `of Crawl` the [`Owner`] of its keys. Fields behind `with`
/// have no key.
macro_rules! table {
    ($(#[$meta:meta])* pub struct $name:ident in $place:tt of $owner:ident {
        $($(#[doc = $doc:literal])+ pub $field:ident: $type:ty = $($fact:ident($($argument:expr),*)).+,)+
    } $(with {
        $($visibility:vis $inner:ident: $inner_type:ty,)+
    })?) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        // Examples are command lines.
        #[allow(rustdoc::bare_urls)]
        pub struct $name {
            $($(#[doc = $doc])+ pub $field: $type,)+
            $($(#[allow(missing_docs)] $visibility $inner: $inner_type,)+)?
        }

        impl $name {
            /// The keys of the table.
            pub const KEYS: &'static [$crate::cli::config::schema::key::Key] = &[
                $($crate::cli::config::schema::key::key!($place $field [$($doc),+] $owner) $(.$fact($($argument),*))+),+
            ];
        }

        impl Default for $name {
            fn default() -> Self {
                let mut keys = Self::KEYS.iter();
                Self {
                    $($field: $crate::cli::config::schema::key::next_default(&mut keys),)+
                    $($($inner: Default::default(),)+)?
                }
            }
        }
    };
    // The keys of a struct of another room.
    ($(#[$meta:meta])* pub const $name:ident in $place:tt of $owner:ident {
        $($(#[doc = $doc:literal])+ $field:ident = $($fact:ident($($argument:expr),*)).+,)+
    }) => {
        $(#[$meta])*
        pub const $name: &[$crate::cli::config::schema::key::Key] = &[
            $($crate::cli::config::schema::key::key!($place $field [$($doc),+] $owner) $(.$fact($($argument),*))+),+
        ];
    };
}

/// Makes the key of a field.
macro_rules! key {
    ([$($table:ident).*] $field:ident [$($doc:literal),+] $owner:ident) => {
        $crate::cli::config::schema::key::Key::new(
            concat!($(stringify!($table), ".",)* stringify!($field)),
            &[$($doc),+],
            (
                |settings, texts| {
                    settings$(.$table)*.$field = $crate::cli::config::value::Setting::read(texts)?;
                    Ok(())
                },
                |settings| $crate::cli::config::value::Setting::show(&settings$(.$table)*.$field),
            ),
            $crate::cli::config::schema::key::Owner::$owner,
        )
    };
}

pub(crate) use {key, table};
