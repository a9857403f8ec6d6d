//! The address of the servers.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

use super::password_file;

/// Until a server that does not answer is given up.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Until a connection counts as broken on which nothing is acknowledged.
const SILENCE: Duration = Duration::from_secs(10);
/// Between two questions on the wire whether the other end is there. The system's own is more than a minute.
const BETWEEN_PROBES: Duration = Duration::from_secs(2);

/// The servers of a cluster, of which one takes writes.
#[derive(Clone)]
pub struct ServerAddress {
    pub(super) config: Config,
    /// Whether to speak TLS. The certificate is checked then.
    pub(super) needs_tls: bool,
    /// The issuers to trust, if not those of the system.
    pub(super) issuers: Option<PathBuf>,
}

/// Why an address cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Not the address of PostgreSQL.
    #[error("the address of the cluster is not of the form postgres://user@host:port,host:port/database")]
    Form,
    /// A password where other users can see it.
    #[error(
        "there is a password in the address of the cluster: all users of this machine can see it in the list of \
         processes. Leave it out, and put it into PGPASSWORD or into ~/.pgpass"
    )]
    Password,
    /// A part that is not understood.
    #[error("the address of the cluster: {0}")]
    Part(String),
    /// The password file cannot be used.
    #[error("password file {path}: {reason}")]
    PasswordFile {
        /// The file.
        path: String,
        /// Why not.
        reason: String,
    },
}

impl ServerAddress {
    /// Reads an address that was typed as an argument. It must have no password, which would be seen in the list of
    /// processes. The password comes from `PGPASSWORD` or from a password file.
    pub fn from_argument(text: &str) -> Result<Self, AddressError> {
        if has_password(text)? { Err(AddressError::Password) } else { Self::parse(text) }
    }

    /// Reads an address that nobody else sees.
    ///
    /// `sslmode=disable` speaks without TLS; `require` and `verify-full` demand it, and the certificate is checked in both
    /// cases. Unless it is named, servers of this machine are asked without TLS, all others with it.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        has_password(text)?;
        let (base, query) = text.split_once('?').unwrap_or((text, ""));
        let (mut mode, mut issuers, mut password_file, mut others) = (None, None, None, Vec::new());
        for part in query.split('&').filter(|part| !part.is_empty()) {
            match part.split_once('=').unwrap_or((part, "")) {
                ("sslmode", value) => mode = Some(value),
                ("sslrootcert", value) => issuers = Some(PathBuf::from(decoded(value)?)),
                ("passfile", value) => password_file = Some(PathBuf::from(decoded(value)?)),
                // Commits go to the primary whatever is said.
                ("target_session_attrs", _) => {}
                // A name with other signs is part of a password that has a question mark.
                (name, _) if !name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') => {
                    return Err(AddressError::Form);
                }
                _ => others.push(part),
            }
        }
        let mut config: Config = format!("{base}?{}", others.join("&")).parse().map_err(part_error)?;
        let is_local = config.get_hosts().iter().all(is_on_this_machine);
        let needs_tls = match mode {
            Some("disable") => false,
            Some("require" | "verify-ca" | "verify-full") => true,
            None => !is_local,
            Some(_) => {
                let choices = "sslmode is none of disable, require and verify-full".to_owned();
                return Err(AddressError::Part(choices));
            }
        };
        config.ssl_mode(if needs_tls { SslMode::Require } else { SslMode::Disable });
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        config.application_name("ndcrawl").connect_timeout(CONNECT_TIMEOUT);
        config.keepalives_idle(SILENCE).keepalives_interval(BETWEEN_PROBES).tcp_user_timeout(SILENCE);
        if config.get_hosts().is_empty() {
            return Err(AddressError::Part("it names no host".to_owned()));
        }
        if config.get_password().is_none() {
            let found = password_file::password(&config, password_file);
            let password = found.map_err(|(path, error)| AddressError::PasswordFile {
                path: path.display().to_string(),
                reason: error.to_string(),
            })?;
            if let Some(password) = password {
                config.password(password);
            }
        }
        Ok(Self { config, needs_tls, issuers })
    }

    /// Returns how to connect to each of the servers, in their order.
    pub(super) fn servers(&self) -> Vec<Config> {
        let all = &self.config;
        let ports = all.get_ports();
        let server = |(place, host): (usize, &Host)| {
            let mut one = Config::new();
            match host {
                Host::Tcp(name) => one.host(name),
                #[cfg(unix)]
                Host::Unix(path) => one.host_path(path),
            };
            all.get_hostaddrs().get(place).map(|address| one.hostaddr(*address));
            ports.get(place).or(ports.first()).map(|port| one.port(*port));
            all.get_user().map(|user| one.user(user));
            all.get_password().map(|password| one.password(password));
            all.get_dbname().map(|name| one.dbname(name));
            all.get_options().map(|options| one.options(options));
            all.get_application_name().map(|name| one.application_name(name));
            all.get_keepalives_interval().map(|interval| one.keepalives_interval(interval));
            all.get_keepalives_retries().map(|retries| one.keepalives_retries(retries));
            all.get_tcp_user_timeout().map(|timeout| one.tcp_user_timeout(*timeout));
            all.get_connect_timeout().map(|timeout| one.connect_timeout(*timeout));
            one.keepalives(all.get_keepalives()).keepalives_idle(all.get_keepalives_idle());
            one.ssl_mode(all.get_ssl_mode()).ssl_negotiation(all.get_ssl_negotiation());
            one.channel_binding(all.get_channel_binding()).target_session_attrs(all.get_target_session_attrs());
            one
        };
        all.get_hosts().iter().enumerate().map(server).collect()
    }
}

/// Whether an address has a password.
fn has_password(text: &str) -> Result<bool, AddressError> {
    let rest = text.strip_prefix("postgres://").or_else(|| text.strip_prefix("postgresql://"));
    let rest = rest.ok_or(AddressError::Form)?;
    let (base, query) = rest.split_once('?').unwrap_or((rest, ""));
    // A second one belongs to a password, the rest of which would count as the name of a host.
    if base.matches('@').count() > 1 {
        return Err(AddressError::Form);
    }
    let user = base.rsplit_once('@').map_or("", |(user, _)| user);
    let is_named = query.split('&').any(|part| part.starts_with("password=") || part.starts_with("sslpassword="));
    Ok(user.contains(':') || is_named)
}

fn is_on_this_machine(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => name == "localhost" || name.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback()),
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

/// Names the part of an address that is wrong. The client's errors name parts and no values.
fn part_error(error: tokio_postgres::Error) -> AddressError {
    let reason = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
    AddressError::Part(reason)
}

fn decoded(value: &str) -> Result<String, AddressError> {
    let bytes = percent_decoded(value).ok_or(AddressError::Form)?;
    String::from_utf8(bytes).map_err(|_| AddressError::Form)
}

fn percent_decoded(value: &str) -> Option<Vec<u8>> {
    let mut bytes = value.bytes();
    let mut decoded = Vec::with_capacity(value.len());
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            let (high, low) = (digit(bytes.next()?)?, digit(bytes.next()?)?);
            // Both are below 16.
            decoded.push((high * 16 + low) as u8);
        } else {
            decoded.push(byte);
        }
    }
    Some(decoded)
}

/// Writes the address without password and parameters.
impl fmt::Display for ServerAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("postgres://")?;
        let ports = self.config.get_ports();
        for (place, host) in self.config.get_hosts().iter().enumerate() {
            let separator = if place == 0 { "" } else { "," };
            match host {
                Host::Tcp(name) => write!(formatter, "{separator}{name}")?,
                #[cfg(unix)]
                Host::Unix(path) => write!(formatter, "{separator}{}", path.display())?,
            }
            if let Some(port) = ports.get(place).or(ports.first()) {
                write!(formatter, ":{port}")?;
            }
        }
        write!(formatter, "/{}", self.config.get_dbname().unwrap_or_default())
    }
}

impl fmt::Debug for ServerAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_an_argument_is_refused_and_never_shown() {
        for (address, expected) in [
            ("postgres://me:geheim@db.example:5433/crawls", AddressError::Password),
            ("postgresql://me@db.example/crawls?password=geheim", AddressError::Password),
            ("postgres://me:geh/eim@db.example/crawls", AddressError::Password),
            ("postgres://me:geh:eim@db.example/crawls", AddressError::Password),
            // What belongs to the password cannot be told here.
            ("postgres://me:geh@eim@db.example/crawls", AddressError::Form),
            ("postgres://me:geh?eim@db.example/crawls", AddressError::Form),
        ] {
            let refused = ServerAddress::from_argument(address).unwrap_err();
            assert_eq!(std::mem::discriminant(&refused), std::mem::discriminant(&expected), "{address}");
            assert!(!refused.to_string().contains("geh"), "{refused}");
            let shown = match ServerAddress::parse(address) {
                Ok(address) => format!("{address} {address:?}"),
                Err(error) => format!("{error} {error:?}"),
            };
            assert!(!shown.contains("geh") && !shown.contains("eim"), "{shown}");
        }
    }

    #[test]
    fn tls_is_demanded_of_other_machines_unless_it_is_switched_off() {
        for (address, needs_tls) in [
            ("postgres://me@127.0.0.1:5433,[::1]:5434/x", false),
            ("postgres://me@localhost/x", false),
            ("postgres://me@%2Fvar%2Frun%2Fpostgresql/x", false),
            ("postgres://me@db.example/x", true),
            ("postgres://me@127.0.0.1,db.example/x", true),
            ("postgres://me@db.example/x?sslmode=disable", false),
            ("postgres://me@127.0.0.1/x?sslmode=require", true),
            ("postgres://me@127.0.0.1/x?sslmode=verify-full&sslrootcert=/etc/ca.pem", true),
        ] {
            let read = ServerAddress::parse(address).unwrap();
            assert_eq!(read.needs_tls, needs_tls, "{address}");
            assert_eq!(read.issuers.is_some(), address.contains("sslrootcert"));
        }
    }

    #[test]
    fn what_is_wrong_with_an_address_is_named() {
        for (address, message) in [
            (
                "db.example",
                "the address of the cluster is not of the form postgres://user@host:port,host:port/database",
            ),
            ("postgres://me@db.example/x?sslmode=prefer", "sslmode is none of disable, require and verify-full"),
            ("postgres://me@db.example/x?colour=red", "unknown option `colour`"),
            ("postgres://me@db.example:port/x", "invalid value for option `port`"),
        ] {
            let error = ServerAddress::parse(address).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn an_address_is_shown_with_all_servers() {
        let address = ServerAddress::parse("postgres://me@a.example:5433,b.example:5434/crawls").unwrap();
        assert_eq!(address.to_string(), "postgres://a.example:5433,b.example:5434/crawls");
    }
}
