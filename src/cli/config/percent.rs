//! A percentage, for `--fail-over`.

use serde_json::Value;

use crate::cli::config::value::Scalar;

/// A share from 0 to 100 percent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percent(f64);

impl Percent {
    /// Returns the share from 0 to 1.
    pub fn share(self) -> f64 {
        self.0 / 100.0
    }

    /// Returns whether `part` of `whole` exceeds this share. Zero of zero does not.
    pub fn is_exceeded_by(self, part: u64, whole: u64) -> bool {
        part as f64 * 100.0 > self.0 * whole as f64
    }
}

impl Scalar for Percent {
    fn from_text(text: &str) -> Result<Self, String> {
        let number = text.strip_suffix('%').unwrap_or(text).trim();
        match number.parse::<f64>() {
            Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(Self(percent)),
            _ => Err(format!("'{text}' is not a percentage from 0 to 100")),
        }
    }

    fn to_value(&self) -> Value {
        Value::from(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_exceeded_only_by_more() {
        let tenth = Percent::from_text("10%").unwrap();
        assert!(!tenth.is_exceeded_by(1, 10));
        assert!(tenth.is_exceeded_by(2, 19));
        assert!(!tenth.is_exceeded_by(0, 0));
        assert!((tenth.share() - 0.1).abs() < 1e-12);
        for text in ["-1", "101", "x", "NaN", ""] {
            assert!(Percent::from_text(text).is_err(), "{text}");
        }
    }
}
