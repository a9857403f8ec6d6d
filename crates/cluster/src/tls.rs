//! TLS to the servers. A certificate is always checked, by the issuers of the system or of a file.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::AddressError;

/// Returns how to speak TLS, trusting the issuers in this file, or those of the system.
pub(super) fn connector(issuers: Option<&Path>) -> Result<MakeRustlsConnect, AddressError> {
    let failed = |error: rustls::Error| AddressError::Part(format!("cannot speak TLS: {error}"));
    let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(failed)?;
    let config = match issuers {
        Some(path) => builder.with_root_certificates(roots(path)?).with_no_client_auth(),
        None => builder.with_platform_verifier().map_err(failed)?.with_no_client_auth(),
    };
    Ok(MakeRustlsConnect::new(config))
}

fn roots(path: &Path) -> Result<RootCertStore, AddressError> {
    let failed = |reason: String| AddressError::Part(format!("sslrootcert {}: {reason}", path.display()));
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| failed(error.to_string()))? {
        let certificate = certificate.map_err(|error| failed(error.to_string()))?;
        roots.add(certificate).map_err(|error| failed(error.to_string()))?;
    }
    if roots.is_empty() { Err(failed("it has no certificate".to_owned())) } else { Ok(roots) }
}
