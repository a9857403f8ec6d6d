//! One query: a line of JSON.

use data_encoding::BASE64;
use serde_json::{Map, Value};

/// Why a query has no answer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct QueryError(String);

impl QueryError {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

/// A query: a JSON object.
pub(super) struct Query(Map<String, Value>);

impl Query {
    /// Parses a line.
    pub(super) fn read(line: &[u8]) -> Result<Self, QueryError> {
        match serde_json::from_slice(line) {
            Ok(Value::Object(fields)) => Ok(Self(fields)),
            Ok(_) => Err(QueryError::new("not a JSON object")),
            Err(error) => Err(QueryError::new(format!("not JSON: {error}"))),
        }
    }

    /// Returns an optional text; null is absent.
    pub(super) fn text(&self, name: &str) -> Result<Option<&str>, QueryError> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(QueryError::new(format!("{name}: not a text"))),
        }
    }

    /// Returns a required text.
    pub(super) fn required(&self, name: &str) -> Result<&str, QueryError> {
        self.text(name)?.ok_or_else(|| QueryError::new(format!("{name}: missing")))
    }

    /// Returns bytes: a text as UTF-8, or `NAME_b64` in Base64.
    pub(super) fn bytes(&self, name: &str) -> Result<Option<Vec<u8>>, QueryError> {
        let packed = format!("{name}_b64");
        let Some(text) = self.text(&packed)? else {
            return Ok(self.text(name)?.map(|text| text.as_bytes().to_vec()));
        };
        let bytes = BASE64.decode(text.trim().as_bytes());
        bytes.map(Some).map_err(|error| QueryError::new(format!("{packed}: {error}")))
    }

    /// Returns whether the field is true.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.0.get(name) == Some(&Value::Bool(true))
    }

    /// Returns a whole number, zero or more.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, QueryError> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                value.as_u64().map(Some).ok_or_else(|| QueryError::new(format!("{name}: not a whole number from 0")))
            }
        }
    }

    /// Returns a list of texts, or a single one.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<&str>, QueryError> {
        match self.0.get(name) {
            Some(Value::Array(list)) => {
                let texts: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
                texts.ok_or_else(|| QueryError::new(format!("{name}: not texts")))
            }
            _ => Ok(self.text(name)?.into_iter().collect()),
        }
    }

    /// Returns names with values: `[["name", "value"]]`, `["name: value"]` or `{"name": "value"}`.
    pub(super) fn pairs(&self, name: &str) -> Result<Vec<(String, String)>, QueryError> {
        let pairs: Option<Vec<(String, String)>> = match self.0.get(name) {
            None | Some(Value::Null) => Some(Vec::new()),
            Some(Value::Array(list)) => list.iter().map(pair).collect(),
            Some(Value::Object(fields)) => {
                fields.iter().map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
            }
            Some(_) => None,
        };
        pairs.ok_or_else(|| QueryError::new(format!("{name}: not names with values")))
    }
}

fn pair(value: &Value) -> Option<(String, String)> {
    let (name, value) = match value {
        Value::Array(pair) => match pair.as_slice() {
            [name, value] => (name.as_str()?, value.as_str()?),
            _ => return None,
        },
        Value::String(line) => line.split_once(':')?,
        _ => return None,
    };
    Some((name.trim().to_owned(), value.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_in_three_forms() {
        for text in [r#"{"h":[["A","b: c"]]}"#, r#"{"h":["A: b: c"]}"#, r#"{"h":{"A":"b: c"}}"#] {
            let pairs = Query::read(text.as_bytes()).unwrap().pairs("h").unwrap();
            assert_eq!(pairs, [("A".to_owned(), "b: c".to_owned())], "{text}");
        }
        assert!(Query::read(br#"{"h":[["A"]]}"#).unwrap().pairs("h").is_err());
    }

    #[test]
    fn bytes_may_be_packed() {
        let query = Query::read(br#"{"a":"\u00e9","b_b64":"6Q=="}"#).unwrap();
        assert_eq!(query.bytes("a").unwrap().unwrap(), "é".as_bytes());
        assert_eq!(query.bytes("b").unwrap().unwrap(), [0xe9]);
    }
}
