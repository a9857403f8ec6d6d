//! *Who sends this request?* HTTP message signatures (RFC 9421) with Ed25519, as Web Bot Auth wants them.
//!
//! Each request is signed for the authority that it goes to (draft-ietf-webbotauth-httpsig-protocol-01, section 4.2). A
//! site fetches the key directory that `Signature-Agent` names, and finds the key there by its thumbprint (RFC 7638).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::rand;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use data_encoding::{BASE64, BASE64URL_NOPAD};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject;
use serde::Deserialize;
use url::Url;

/// How long a signature counts. Whoever sees a request may repeat it at the same site meanwhile; the clocks of sites
/// are minutes off at most.
const LIFETIME: Duration = Duration::from_secs(5 * 60);

/// The label of the signature, and the key of its member of `Signature-Agent`.
const LABEL: &str = "sig1";

const SIGNATURE_AGENT: HeaderName = HeaderName::from_static("signature-agent");
const SIGNATURE_INPUT: HeaderName = HeaderName::from_static("signature-input");
const SIGNATURE: HeaderName = HeaderName::from_static("signature");

/// Why a file gives no key. Nothing of the file is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SigningKeyError {
    /// The key needs a password.
    #[error("the private key is encrypted")]
    Encrypted,
    /// A PEM of something else, such as a public key.
    #[error("a PEM without a private key in PKCS#8 (BEGIN PRIVATE KEY)")]
    NoPrivateKey,
    /// Neither PEM nor JWK.
    #[error("neither a PEM nor a JWK")]
    UnknownFormat,
    /// A key of another algorithm, or a damaged one.
    #[error("no Ed25519 key")]
    NoEd25519,
}

/// The parts of a JWK that a private Ed25519 key has (RFC 8037, section 2).
#[derive(Deserialize)]
struct PrivateJwk {
    kty: String,
    crv: Option<String>,
    d: Option<String>,
    x: Option<String>,
}

/// A private key of Ed25519 (RFC 8032).
pub struct SigningKey {
    pair: Ed25519KeyPair,
    thumbprint: String,
}

impl SigningKey {
    /// Reads a private key: PKCS#8 in PEM, or a JWK.
    pub fn read(file: &[u8]) -> Result<Self, SigningKeyError> {
        let text = file.trim_ascii_start();
        let pair = if text.starts_with(b"{") { key_of_jwk(text) } else { key_of_pem(text) }?;
        let thumbprint = BASE64URL_NOPAD.encode(digest(&SHA256, thumbprint_input(&pair).as_bytes()).as_ref());
        Ok(Self { pair, thumbprint })
    }

    /// Returns the directory of this key (RFC 7517, section 5), as it is published. It holds nothing secret.
    pub fn directory(&self) -> String {
        let (kid, x) = (&self.thumbprint, public_part(&self.pair));
        format!(r#"{{"keys":[{{"kty":"OKP","crv":"Ed25519","kid":"{kid}","x":"{x}","use":"sig"}}]}}"#)
    }
}

fn key_of_pem(file: &[u8]) -> Result<Ed25519KeyPair, SigningKeyError> {
    let has = |words: &[u8]| memchr::memmem::find(file, words).is_some();
    if has(b"-----BEGIN ENCRYPTED PRIVATE KEY-----") {
        return Err(SigningKeyError::Encrypted);
    }
    if !has(b"-----BEGIN ") {
        return Err(SigningKeyError::UnknownFormat);
    }
    let key = PrivatePkcs8KeyDer::from_pem_slice(file).map_err(|_| SigningKeyError::NoPrivateKey)?;
    Ed25519KeyPair::from_pkcs8(key.secret_pkcs8_der()).map_err(|_| SigningKeyError::NoEd25519)
}

fn key_of_jwk(file: &[u8]) -> Result<Ed25519KeyPair, SigningKeyError> {
    let jwk: PrivateJwk = serde_json::from_slice(file).map_err(|_| SigningKeyError::UnknownFormat)?;
    let secret = jwk.d.filter(|_| jwk.kty == "OKP" && jwk.crv.as_deref() == Some("Ed25519"));
    let decode = |text: String| BASE64URL_NOPAD.decode(text.as_bytes()).map_err(|_| SigningKeyError::NoEd25519);
    let secret = decode(secret.ok_or(SigningKeyError::NoEd25519)?)?;
    let pair = match jwk.x {
        Some(public) => Ed25519KeyPair::from_seed_and_public_key(&secret, &decode(public)?),
        None => Ed25519KeyPair::from_seed_unchecked(&secret),
    };
    pair.map_err(|_| SigningKeyError::NoEd25519)
}

fn public_part(pair: &Ed25519KeyPair) -> String {
    BASE64URL_NOPAD.encode(pair.public_key().as_ref())
}

/// The members that a thumbprint is made of (RFC 8037, appendix A.3).
fn thumbprint_input(pair: &Ed25519KeyPair) -> String {
    format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{}"}}"#, public_part(pair))
}

/// Signs the requests of a crawl.
pub struct RequestSigner {
    key: SigningKey,
    /// The URL of the key directory, as an item of a structured field (RFC 9651).
    agent: String,
}

impl std::fmt::Debug for RequestSigner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RequestSigner").field("keyid", &self.key.thumbprint).field("agent", &self.agent).finish()
    }
}

impl RequestSigner {
    /// Creates a signer whose key stands in this directory.
    pub fn new(key: SigningKey, directory: &Url) -> Self {
        Self { key, agent: text_item(directory.as_str()) }
    }

    /// Adds the three header fields of a signature that counts from now on. Replaces those of an earlier attempt.
    pub(super) fn sign(&self, url: &Url, headers: &mut HeaderMap) {
        let created = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let mut nonce = [0; 64];
        // Without chance there is no nonce, and the signature is valid all the same.
        let nonce = rand::fill(&mut nonce).ok().map(|()| BASE64.encode(&nonce));
        let validity = Validity { created, expires: created + LIFETIME.as_secs(), nonce: nonce.as_deref() };
        let (input, signature) = self.signature(LABEL, &authority(url), &validity);
        let fields = [
            (SIGNATURE_AGENT, format!("{LABEL}={}", self.agent)),
            (SIGNATURE_INPUT, format!("{LABEL}={input}")),
            (SIGNATURE, format!("{LABEL}=:{signature}:")),
        ];
        for (name, value) in fields {
            // Quotes, letters and digits are valid in any header.
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(name, value);
            }
        }
    }

    /// Returns the parameters of a signature, and the signature (RFC 9421, sections 2.5 and 3.1).
    fn signature(&self, member: &str, authority: &str, validity: &Validity) -> (String, String) {
        let component = format!(r#""signature-agent";key="{member}""#);
        let Validity { created, expires, nonce } = validity;
        let nonce = nonce.map_or_else(String::new, |nonce| format!(";nonce=\"{nonce}\""));
        let input = format!(
            "(\"@authority\" {component});created={created};keyid=\"{}\";alg=\"ed25519\";expires={expires}{nonce};\
             tag=\"web-bot-auth\"",
            self.key.thumbprint,
        );
        let base = format!("\"@authority\": {authority}\n{component}: {}\n\"@signature-params\": {input}", self.agent);
        let signature = BASE64.encode(self.key.pair.sign(base.as_bytes()).as_ref());
        (input, signature)
    }
}

/// When a signature counts, in seconds since 1970, and what makes it unique.
struct Validity<'a> {
    created: u64,
    expires: u64,
    nonce: Option<&'a str>,
}

/// Returns the authority of a URL (RFC 9421, section 2.2.3). A parsed URL has its host in lower case and no usual port.
fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Returns a text of ASCII as an item of a structured field (RFC 9651, section 4.1.6).
fn text_item(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};

    use super::*;

    /// The key of RFC 9421, appendix B.1.4, as PKCS#8 and as JWK.
    const PEM: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF\n\
        -----END PRIVATE KEY-----\n";
    const JWK: &str = r#"{"kty":"OKP","crv":"Ed25519","kid":"test-key-ed25519",
        "d":"n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}"#;
    const THUMBPRINT: &str = "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";

    fn signer(file: &str) -> RequestSigner {
        let mut signer = RequestSigner::new(SigningKey::read(file.as_bytes()).unwrap(), &url("https://bot.test/keys"));
        // The vectors have an address without a path, which a parsed one always has.
        signer.agent = text_item("https://signature-agent.test");
        signer
    }

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn the_key_of_the_rfc_signs_as_the_rfc_says() {
        // RFC 9421, appendix B.2.6: the signature of this base.
        let base = "\"date\": Tue, 20 Apr 2021 02:07:55 GMT\n\"@method\": POST\n\"@path\": /foo\n\
            \"@authority\": example.com\n\"content-type\": application/json\n\"content-length\": 18\n\
            \"@signature-params\": (\"date\" \"@method\" \"@path\" \"@authority\" \"content-type\" \
            \"content-length\");created=1618884473;keyid=\"test-key-ed25519\"";
        let signature = signer(PEM).key.pair.sign(base.as_bytes());
        let expected = "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==";
        assert_eq!(BASE64.encode(signature.as_ref()), expected);
    }

    #[test]
    fn signatures_are_those_of_the_draft() {
        // draft-ietf-webbotauth-httpsig-protocol-01, appendix D.2.1.
        let validity = Validity {
            created: 1_735_689_600,
            expires: 4_889_289_600,
            nonce: Some("n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA=="),
        };
        for file in [PEM, JWK] {
            let (input, signature) = signer(file).signature("agent2", "example.com", &validity);
            let expected = "(\"@authority\" \"signature-agent\";key=\"agent2\");created=1735689600;\
                keyid=\"poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U\";alg=\"ed25519\";expires=4889289600;\
                nonce=\"n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA==\";\
                tag=\"web-bot-auth\"";
            assert_eq!(input, expected);
            let expected = "RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==";
            assert_eq!(signature, expected);
        }
    }

    #[test]
    fn the_directory_is_that_of_the_draft_and_holds_nothing_secret() {
        let expected = format!(
            r#"{{"keys":[{{"kty":"OKP","crv":"Ed25519","kid":"{THUMBPRINT}","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs","use":"sig"}}]}}"#
        );
        for file in [PEM, JWK] {
            assert_eq!(signer(file).key.directory(), expected);
            assert!(!format!("{:?}", signer(file)).contains("n4Ni"));
        }
    }

    #[test]
    fn the_authority_has_a_port_if_it_is_unusual() {
        for (address, expected) in [
            ("https://Example.COM/a?b", "example.com"),
            ("https://example.com:443/", "example.com"),
            ("http://example.com:443/", "example.com:443"),
            ("http://user:word@127.0.0.1:8000/", "127.0.0.1:8000"),
            ("http://[::1]:80/", "[::1]"),
            ("https://bücher.example/", "xn--bcher-kva.example"),
        ] {
            assert_eq!(authority(&url(address)), expected, "{address}");
        }
    }

    #[test]
    fn each_request_is_signed_for_its_own_authority_and_anew() {
        let signer = signer(PEM);
        let mut headers = HeaderMap::new();
        let mut values = Vec::new();
        for address in ["http://a.test/", "http://b.test:81/", "http://b.test:81/"] {
            signer.sign(&url(address), &mut headers);
            let field = |name: HeaderName| headers[name].to_str().unwrap().to_owned();
            assert_eq!(field(SIGNATURE_AGENT), "sig1=\"https://signature-agent.test\"");
            let input = field(SIGNATURE_INPUT).strip_prefix("sig1=").unwrap().to_owned();
            let signature = field(SIGNATURE);
            let signature = BASE64.decode(&signature.as_bytes()[6..signature.len() - 1]).unwrap();
            let key = UnparsedPublicKey::new(&ED25519, signer.key.pair.public_key());
            let base = |authority: &str| {
                format!(
                    "\"@authority\": {authority}\n\"signature-agent\";key=\"sig1\": \"https://signature-agent.test\"\n\
                     \"@signature-params\": {input}"
                )
            };
            for (authority, is_ours) in [(authority(&url(address)), true), ("other.test".to_owned(), false)] {
                assert_eq!(key.verify(base(&authority).as_bytes(), &signature).is_ok(), is_ours, "{authority}");
            }
            values.push(field(SIGNATURE));
        }
        assert_ne!(values[1], values[2], "two requests of one second");
        assert_eq!(headers.len(), 3);
    }

    #[test]
    fn what_is_no_key_is_named_without_its_words() {
        let rsa = "-----BEGIN PRIVATE KEY-----\nMAsCAQAwDQYJKoZIhvcNAQEBBQAEAA==\n-----END PRIVATE KEY-----\n";
        let public = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=\n\
            -----END PUBLIC KEY-----\n";
        let other = JWK.replace("x\":\"J", "x\":\"K");
        for (file, expected) in [
            ("", SigningKeyError::UnknownFormat),
            ("{\"a\":", SigningKeyError::UnknownFormat),
            (rsa, SigningKeyError::NoEd25519),
            (public, SigningKeyError::NoPrivateKey),
            (
                "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMA==\n-----END ENCRYPTED PRIVATE KEY-----\n",
                SigningKeyError::Encrypted,
            ),
            (r#"{"kty":"OKP","crv":"Ed25519","x":"JrQL"}"#, SigningKeyError::NoEd25519),
            (r#"{"kty":"EC","crv":"P-256","d":"JrQL"}"#, SigningKeyError::NoEd25519),
            (&other, SigningKeyError::NoEd25519),
        ] {
            assert_eq!(SigningKey::read(file.as_bytes()).err(), Some(expected), "{file}");
        }
    }
}
