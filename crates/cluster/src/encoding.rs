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

/// A field that is compressed by itself: the likes of it lie together, and not between other things.
pub(super) mod packed {
    use serde::de::{DeserializeOwned, Error as _};
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::sealed::LEVEL;

    pub fn serialize<T: Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = postcard::to_stdvec(value).map_err(S::Error::custom)?;
        let packed = zstd::bulk::compress(&bytes, LEVEL).map_err(S::Error::custom)?;
        (bytes.len(), packed).serialize(serializer)
    }

    pub fn deserialize<'de, T: DeserializeOwned, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        let (length, packed) = <(usize, Vec<u8>)>::deserialize(deserializer)?;
        let bytes = zstd::bulk::decompress(&packed, length).map_err(D::Error::custom)?;
        postcard::from_bytes(&bytes).map_err(D::Error::custom)
    }
}
