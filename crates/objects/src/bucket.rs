//! A bucket, and what it holds.

use std::fmt;
use std::future::Future;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use futures_util::TryStreamExt;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path;
use object_store::{ClientConfigKey, Error, ObjectMeta, ObjectStore, ObjectStoreExt, RetryConfig};
use tokio::runtime::Runtime;

use super::ObjectUrl;
use super::failure::failure;

/// Limits of repeating a request. A store that restarts is back within them.
const MOST_RETRIES: usize = 8;
const PATIENCE: Duration = Duration::from_secs(120);
/// Time limit of a request with its body, unless `AWS_TIMEOUT` sets another one.
const REQUEST_TIMEOUT: &str = "5m";

/// A bucket. Clones are cheap and share its connections.
#[derive(Clone)]
pub struct Bucket(Arc<Connection>);

struct Connection {
    name: String,
    store: Arc<dyn ObjectStore>,
    /// There until it is dropped.
    runtime: Option<Runtime>,
}

/// An object.
#[derive(Clone, Debug)]
pub struct FoundObject {
    /// Where it is.
    pub url: ObjectUrl,
    /// Its bytes.
    pub size: u64,
    /// Milliseconds since 1970.
    pub modified: i64,
    pub(super) meta: ObjectMeta,
}

impl Bucket {
    /// Opens the bucket of an address, with endpoint and credentials of the `AWS_*` variables. Sends no request.
    ///
    /// # Errors
    /// If the variables contradict each other, or say too little.
    pub fn open(url: &ObjectUrl) -> io::Result<Self> {
        if url.bucket.is_empty() {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it names no bucket: give s3://BUCKET/NAME"));
        }
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let endpoint = std::env::var("AWS_ENDPOINT_URL_S3").or_else(|_| std::env::var("AWS_ENDPOINT_URL"));
        if endpoint.is_ok_and(|endpoint| endpoint.starts_with("http:")) && !is_set("AWS_ALLOW_HTTP") {
            let why = "AWS_ENDPOINT_URL is not encrypted: give https, or set AWS_ALLOW_HTTP=true";
            return Err(io::Error::new(ErrorKind::InvalidInput, why));
        }
        let retry = RetryConfig { max_retries: MOST_RETRIES, retry_timeout: PATIENCE, ..RetryConfig::default() };
        let mut builder = AmazonS3Builder::from_env().with_bucket_name(&url.bucket).with_retry(retry);
        if !is_set("AWS_TIMEOUT") {
            builder = builder.with_config(AmazonS3ConfigKey::Client(ClientConfigKey::Timeout), REQUEST_TIMEOUT);
        }
        let store = builder.build().map_err(|error| failure(&error))?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("objects")
            .enable_all()
            .build()
            .map(Some)?;
        Ok(Self(Arc::new(Connection { name: url.bucket.clone(), store: Arc::new(store), runtime })))
    }

    /// Returns the object of this address, or else all objects below it, in the order of their keys.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is none.
    pub fn find(&self, url: &ObjectUrl) -> io::Result<Vec<FoundObject>> {
        if !url.key.is_empty() {
            let (store, path) = (self.0.store.clone(), path(url)?);
            match self.wait(async move { store.head(&path).await })? {
                Ok(meta) => return Ok(vec![self.found(meta)]),
                Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(failure(&error)),
            }
        }
        let found = self.below(url)?;
        if found.is_empty() {
            return Err(io::Error::new(ErrorKind::NotFound, "the bucket holds no such object, and none below it"));
        }
        Ok(found)
    }

    /// Returns all objects below an address, in the order of their keys.
    ///
    /// # Errors
    /// If the bucket cannot be listed.
    pub fn below(&self, url: &ObjectUrl) -> io::Result<Vec<FoundObject>> {
        let store = self.0.store.clone();
        let prefix = (!url.key.is_empty()).then(|| path(url)).transpose()?;
        let listed = self.wait(async move { store.list(prefix.as_ref()).try_collect::<Vec<_>>().await })?;
        let mut found: Vec<_> =
            listed.map_err(|error| failure(&error))?.into_iter().map(|meta| self.found(meta)).collect();
        found.sort_by(|one, other| one.url.key.cmp(&other.url.key));
        Ok(found)
    }

    /// Deletes an object.
    ///
    /// # Errors
    /// If it cannot be deleted. One that is not there is no error.
    pub fn delete(&self, url: &ObjectUrl) -> io::Result<()> {
        let (store, path) = (self.0.store.clone(), path(url)?);
        match self.wait(async move { store.delete(&path).await })? {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(failure(&error)),
        }
    }

    pub(super) fn store(&self) -> Arc<dyn ObjectStore> {
        self.0.store.clone()
    }

    /// Waits for work that the bucket's own thread does.
    pub(super) fn wait<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> io::Result<T> {
        let lost = || io::Error::other("the request ended without an answer");
        let (send, receive) = sync_channel(1);
        let runtime = self.0.runtime.as_ref().ok_or_else(lost)?;
        runtime.spawn(async move {
            // Nobody waits any more if this fails.
            let _ = send.send(work.await);
        });
        receive.recv().map_err(|_| lost())
    }

    fn found(&self, meta: ObjectMeta) -> FoundObject {
        let url = ObjectUrl { bucket: self.0.name.clone(), key: meta.location.to_string() };
        FoundObject { url, size: meta.size, modified: meta.last_modified.timestamp_millis(), meta }
    }
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}", self.0.name)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // To wait here would be wrong within another runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The key of an address as the crate has it. Empty segments and control characters are refused.
pub(super) fn path(url: &ObjectUrl) -> io::Result<Path> {
    Path::parse(&url.key).map_err(|error| io::Error::new(ErrorKind::InvalidInput, error.to_string()))
}
