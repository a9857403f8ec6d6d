//! Reads settings from text and shows them.
//!
//! Flags, environment and files all arrive as text: one parser and one wording of errors serves them.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use regex::Regex;
use serde_json::Value;

use crate::cli::config::listen_address::ListenAddress;
use crate::cli::config::units::{Size, parse_duration, show_duration};
use crate::crawl::DuplicateLinks;
use crate::detect::{Thresholding, ThresholdingError};
use crate::model::{Detector, FieldWeights, KeepRule, MostLost, PartWeights, Threshold, ThresholdError};

/// A value written as one text.
pub trait Scalar: Sized {
    /// Parses the value; the error says what is wrong with the text.
    fn from_text(text: &str) -> Result<Self, String>;
    /// Returns the value as in a configuration file, secrets masked.
    fn to_value(&self) -> Value;
    /// How an absent value is shown: as nothing. Limits are shown as 0, which is no limit.
    fn absent() -> Value {
        Value::from("")
    }
}

/// The value of a key: a scalar, an optional scalar, or a list of scalars.
pub trait Setting: Sized {
    /// Parses the value from its texts.
    fn read(texts: &[String]) -> Result<Self, String>;
    /// Returns the value as in a configuration file, secrets masked.
    fn show(&self) -> Value;
}

impl<T: Scalar> Setting for T {
    fn read(texts: &[String]) -> Result<Self, String> {
        match texts {
            [text] => T::from_text(text),
            _ => Err(format!("takes one value, not {}", texts.len())),
        }
    }

    fn show(&self) -> Value {
        self.to_value()
    }
}

impl<T: Scalar> Setting for Vec<T> {
    fn read(texts: &[String]) -> Result<Self, String> {
        texts.iter().map(|text| T::from_text(text)).collect()
    }

    fn show(&self) -> Value {
        self.iter().map(T::to_value).collect()
    }
}

/// An absent value is empty text; for limits also zero.
impl<T: Scalar> Setting for Option<T> {
    fn read(texts: &[String]) -> Result<Self, String> {
        if let [text] = texts
            && text.is_empty()
        {
            return Ok(None);
        }
        let value = T::read(texts)?;
        let is_zero = matches!(value.to_value().to_string().as_str(), "0" | "\"0s\"");
        Ok(if is_zero && T::absent() == 0 { None } else { Some(value) })
    }

    fn show(&self) -> Value {
        self.as_ref().map_or_else(T::absent, T::to_value)
    }
}

macro_rules! whole_numbers {
    ($($type:ty),+) => {$(
        impl Scalar for $type {
            fn from_text(text: &str) -> Result<Self, String> {
                text.parse().map_err(|_| {
                    format!("'{text}' is not a whole number from {} to {}", <$type>::MIN, <$type>::MAX)
                })
            }

            fn to_value(&self) -> Value {
                Value::from(*self)
            }

            fn absent() -> Value {
                Value::from(0)
            }
        }
    )+};
}

whole_numbers!(u8, u16, u32, u64, usize);

impl Scalar for NonZeroUsize {
    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| format!("'{text}' is not a whole number from 1"))
    }

    fn to_value(&self) -> Value {
        Value::from(self.get())
    }
}

impl Scalar for bool {
    fn from_text(text: &str) -> Result<Self, String> {
        match text {
            "true" | "on" | "yes" | "1" => Ok(true),
            "false" | "off" | "no" | "0" => Ok(false),
            _ => Err(format!("'{text}' is neither on nor off (true nor false)")),
        }
    }

    fn to_value(&self) -> Value {
        Value::from(*self)
    }
}

impl Scalar for String {
    fn from_text(text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }

    fn to_value(&self) -> Value {
        Value::from(self.as_str())
    }
}

impl Scalar for PathBuf {
    fn from_text(text: &str) -> Result<Self, String> {
        if text.is_empty() { Err("a path can't be empty".to_owned()) } else { Ok(PathBuf::from(text)) }
    }

    fn to_value(&self) -> Value {
        Value::from(self.to_string_lossy())
    }
}

impl Scalar for Duration {
    fn from_text(text: &str) -> Result<Self, String> {
        parse_duration(text)
    }

    fn to_value(&self) -> Value {
        Value::from(show_duration(*self))
    }

    fn absent() -> Value {
        Value::from(0)
    }
}

impl Scalar for Regex {
    fn from_text(text: &str) -> Result<Self, String> {
        Regex::new(text).map_err(|error| {
            // The regex crate prints the expression on several lines; the last one has the cause.
            let error = error.to_string();
            let why = error.lines().last().unwrap_or_default().trim().trim_start_matches("error: ");
            let pattern = text.trim_start_matches('*');
            let is_glob = text.starts_with('*') && !pattern.is_empty();
            let hint = match is_glob {
                true => format!("; to match the end of a URL, write '{}$'", regex::escape(pattern)),
                false => String::new(),
            };
            format!("'{text}' is not a regular expression: {why}{hint}")
        })
    }

    fn to_value(&self) -> Value {
        Value::from(self.as_str())
    }
}

/// Types that are printed as they are read. An error begins with what is wrong, or else with the whole text.
macro_rules! printed {
    ($($type:ty),+) => {$(
        impl Scalar for $type {
            fn from_text(text: &str) -> Result<Self, String> {
                text.parse().map_err(|error: <$type as FromStr>::Err| quoting(text, &error.to_string()))
            }

            fn to_value(&self) -> Value {
                Value::from(self.to_string())
            }
        }
    )+};
}

printed!(DuplicateLinks, FieldWeights, KeepRule, ListenAddress, MostLost, PartWeights, Size);

fn quoting(text: &str, why: &str) -> String {
    if why.starts_with('\'') { why.to_owned() } else { format!("'{text}': {why}") }
}

impl Scalar for Threshold {
    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map_err(|error: ThresholdError| error.to_string())
    }

    fn to_value(&self) -> Value {
        Value::from(f64::from(*self))
    }
}

impl Scalar for Thresholding {
    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map_err(|error: ThresholdingError| error.to_string())
    }

    fn to_value(&self) -> Value {
        match self {
            Thresholding::Fixed(share) => share.to_value(),
            word => Value::from(word.to_string()),
        }
    }
}

impl Scalar for Detector {
    fn from_text(text: &str) -> Result<Self, String> {
        let names = || Detector::ALL.map(Detector::name).join(", ");
        Detector::ALL
            .into_iter()
            .find(|detector| detector.name() == text)
            .ok_or_else(|| format!("'{text}' is not a detector: {}", names()))
    }

    fn to_value(&self) -> Value {
        Value::from(self.name())
    }
}

impl Scalar for ipnet::IpNet {
    fn from_text(text: &str) -> Result<Self, String> {
        text.parse()
            .or_else(|_| text.parse::<std::net::IpAddr>().map(Self::from))
            .map_err(|_| format!("'{text}' is not a network such as 192.168.0.0/16 or fd00::/8"))
    }

    fn to_value(&self) -> Value {
        Value::from(self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(all: &[&str]) -> Vec<String> {
        all.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_scalar_takes_exactly_one_text() {
        assert_eq!(u16::read(&texts(&["5"])), Ok(5));
        assert!(u16::read(&texts(&["5", "6"])).is_err());
        assert_eq!(u16::read(&texts(&["-1"])).unwrap_err(), "'-1' is not a whole number from 0 to 65535");
    }

    #[test]
    fn a_limit_of_zero_is_no_limit() {
        assert_eq!(Option::<u64>::read(&texts(&["0"])), Ok(None));
        assert_eq!(Option::<u64>::read(&texts(&["7"])), Ok(Some(7)));
        assert_eq!(Option::<Duration>::read(&texts(&["0ms"])), Ok(None));
        assert_eq!(Option::<PathBuf>::read(&texts(&["0"])), Ok(Some(PathBuf::from("0"))));
        assert_eq!(None::<u64>.show(), Value::from(0));
        assert_eq!(None::<Duration>.show(), Value::from(0));
        assert_eq!(None::<PathBuf>.show(), Value::from(""));
    }

    #[test]
    fn a_bad_expression_is_told_in_one_line() {
        let error = Regex::from_text("a(b").unwrap_err();
        assert_eq!(error, "'a(b' is not a regular expression: unclosed group");
    }

    #[test]
    fn an_address_is_a_network_of_one() {
        assert_eq!(ipnet::IpNet::from_text("127.0.0.1").unwrap().to_string(), "127.0.0.1/32");
        assert!(ipnet::IpNet::from_text("localhost").is_err());
    }
}
