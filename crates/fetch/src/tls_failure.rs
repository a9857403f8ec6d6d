//! *Why is there no secure connection?* Errors of the TLS library in plain words, with what helps.

use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError, Error};

use super::FetchFailure;
use ndcrawl_model::FailureClass;

/// Most names of a certificate that a message lists.
const MOST_NAMES: usize = 5;

/// What helps if an issuer is not known.
const TRUST: &str = "--ca-file names further issuers to trust";
/// What helps in any case.
const ACCEPT: &str = "--insecure accepts any certificate";

/// Returns the failure for an error of TLS. `detail` describes errors that have no plainer words.
pub(super) fn tls_failure(error: &Error, detail: String) -> FetchFailure {
    let lasting = |detail: String| FetchFailure::lasting(FailureClass::Tls, detail);
    match error {
        // A bad certificate will not change within a retry.
        Error::InvalidCertificate(error) => lasting(certificate(error)),
        Error::NoCertificatesPresented => lasting("the server has no certificate".to_owned()),
        Error::InvalidMessage(_) => lasting("the server does not speak TLS at this port; it may speak http".to_owned()),
        Error::PeerIncompatible(_) | Error::AlertReceived(AlertDescription::ProtocolVersion) => {
            lasting(format!("the server speaks neither TLS 1.2 nor TLS 1.3 as it is spoken today ({error})"))
        }
        Error::AlertReceived(AlertDescription::UnrecognisedName) => {
            lasting("the server does not know this host name".to_owned())
        }
        Error::AlertReceived(AlertDescription::CertificateRequired) => {
            lasting("the server wants a certificate of its clients; there is none".to_owned())
        }
        Error::AlertReceived(AlertDescription::HandshakeFailure) => FetchFailure::passing(
            FailureClass::Tls,
            "the server refuses the handshake: it has no cipher in common, no such host, or wants a client certificate",
        ),
        Error::AlertReceived(alert) => {
            FetchFailure::passing(FailureClass::Tls, format!("the server refuses the connection: TLS alert {alert:?}"))
        }
        // A broken handshake may succeed the next time.
        _ => FetchFailure::passing(FailureClass::Tls, detail),
    }
}

/// Says what is wrong with a certificate.
fn certificate(error: &CertificateError) -> String {
    use CertificateError as E;
    match error {
        E::ExpiredContext { not_after, .. } => {
            format!("the server's certificate has expired: it was valid until {}; {ACCEPT}", date(*not_after))
        }
        E::Expired => format!("the server's certificate has expired; {ACCEPT}"),
        E::NotValidYetContext { not_before, .. } => {
            format!(
                "the server's certificate is not valid yet, only from {} on; is the clock right?",
                date(*not_before)
            )
        }
        E::NotValidYet => "the server's certificate is not valid yet; is the clock right?".to_owned(),
        E::NotValidForNameContext { presented, .. } => {
            format!("the server's certificate is not for this host but for {}; {ACCEPT}", names(presented))
        }
        E::NotValidForName => format!("the server's certificate is not for this host; {ACCEPT}"),
        E::UnknownIssuer => format!(
            "the issuer of the server's certificate is not known here: it is self-signed, of a private issuer, or the \
             server leaves out certificates in between; {TRUST}, {ACCEPT}"
        ),
        E::Revoked => "the server's certificate was revoked by its issuer".to_owned(),
        E::InvalidPurpose | E::InvalidPurposeContext { .. } => {
            format!("the server's certificate is not meant for servers; {ACCEPT}")
        }
        E::BadSignature => "the signature of the server's certificate is wrong".to_owned(),
        E::BadEncoding => format!("the server's certificate cannot be read; {ACCEPT}"),
        // The verifier names faults for which the TLS library has no words of its own.
        E::Other(other) => match other.to_string() {
            text if text.contains("CaUsedAsEndEntity") => format!(
                "the server shows the certificate of an issuer (CA:TRUE) as its own, as self-signed ones often are; {ACCEPT}"
            ),
            text if text.contains("UnsupportedCertVersion") => {
                format!("the server's certificate is of an old version, not X.509 version 3; {ACCEPT}")
            }
            text => format!("the server's certificate is not valid ({text}); {ACCEPT}"),
        },
        other => format!("the server's certificate is not valid ({other}); {ACCEPT}"),
    }
}

fn date(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    jiff::Timestamp::from_second(seconds).map(|time| time.strftime("%Y-%m-%d").to_string()).unwrap_or_default()
}

/// Lists the names of a certificate. The library spells them `DnsName("a.test")`.
fn names(presented: &[String]) -> String {
    let plain = |name: &String| {
        let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(name);
        inner.trim_matches('"').to_owned()
    };
    match presented {
        [] => "no host at all".to_owned(),
        _ if presented.len() > MOST_NAMES => {
            let listed: Vec<String> = presented.iter().take(MOST_NAMES).map(plain).collect();
            format!("{} and {} more", listed.join(", "), presented.len() - MOST_NAMES)
        }
        _ => presented.iter().map(plain).collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use rustls::OtherError;

    use super::*;

    fn told(error: CertificateError) -> FetchFailure {
        tls_failure(&Error::InvalidCertificate(error), "raw".to_owned())
    }

    #[test]
    fn every_fault_of_a_certificate_has_plain_words_and_lasts() {
        let time = UnixTime::since_unix_epoch(Duration::from_secs(1_767_225_600));
        #[derive(Debug, thiserror::Error)]
        #[error("CaUsedAsEndEntity")]
        struct Raw;
        for (error, words) in [
            (CertificateError::ExpiredContext { time, not_after: time }, "valid until 2026-01-01"),
            (CertificateError::NotValidYetContext { time, not_before: time }, "from 2026-01-01 on"),
            (CertificateError::UnknownIssuer, "--ca-file"),
            (CertificateError::Revoked, "revoked"),
            (CertificateError::Other(OtherError(Arc::new(Raw))), "CA:TRUE"),
        ] {
            let failure = told(error);
            assert_eq!((failure.class, failure.retryable), (FailureClass::Tls, false), "{failure}");
            assert!(failure.detail.contains(words) && !failure.detail.contains("EndEntity"), "{failure}");
        }
    }

    #[test]
    fn names_of_a_certificate_are_listed_without_their_wrapping() {
        let all: Vec<String> = (1..=7).map(|n| format!("DnsName(\"{n}.test\")")).collect();
        assert_eq!(names(&all[..2]), "1.test, 2.test");
        assert_eq!(names(&all), "1.test, 2.test, 3.test, 4.test, 5.test and 2 more");
        assert_eq!(names(&["IpAddress(127.0.0.1)".to_owned(), "odd".to_owned()]), "127.0.0.1, odd");
        assert_eq!(names(&[]), "no host at all");
    }

    #[test]
    fn a_handshake_that_breaks_may_succeed_later_and_one_without_common_version_will_not() {
        let failure = tls_failure(&Error::HandshakeNotComplete, "raw".to_owned());
        assert_eq!((failure.detail.as_str(), failure.retryable), ("raw", true));
        let old = tls_failure(&Error::AlertReceived(AlertDescription::ProtocolVersion), String::new());
        assert!(old.detail.contains("TLS 1.2") && !old.retryable);
    }
}
