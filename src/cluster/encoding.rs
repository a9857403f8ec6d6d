//! Values of the log as bytes.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::ClusterError;

pub(super) fn encoded<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, ClusterError> {
    postcard::to_stdvec(value).map_err(|error| ClusterError::Damaged(error.to_string()))
}

pub(super) fn decoded<T: DeserializeOwned>(body: &[u8], what: &str) -> Result<T, ClusterError> {
    postcard::from_bytes(body).map_err(|error| ClusterError::Damaged(format!("{what}: {error}")))
}
