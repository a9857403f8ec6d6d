//! Passwords from the environment and from password files, as all programs of PostgreSQL read them.

use std::env;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// Returns the password for these servers: of `PGPASSWORD`, or of the file that the address or `PGPASSFILE` names, or of
/// `~/.pgpass`. Fails with the file that cannot be used.
pub(super) fn password(config: &Config, named: Option<PathBuf>) -> Result<Option<String>, (PathBuf, io::Error)> {
    if let Ok(password) = env::var("PGPASSWORD") {
        return Ok(Some(password));
    }
    let named = named.or_else(|| env::var_os("PGPASSFILE").map(PathBuf::from));
    let usual = || env::var_os("HOME").map(|home| Path::new(&home).join(".pgpass"));
    let is_named = named.is_some();
    let Some(path) = named.or_else(usual) else { return Ok(None) };
    match read(&path) {
        Ok(lines) => Ok(find(&lines, config)),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !is_named => Ok(None),
        Err(error) => Err((path, error)),
    }
}

/// Reads a file that its owner alone can read.
fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let mut file = File::open(path)?;
    check_mode(&file.metadata()?)?;
    file.read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(unix)]
fn check_mode(metadata: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    if metadata.permissions().mode() & 0o077 == 0 {
        return Ok(());
    }
    Err(io::Error::other("other users can read it; allow its owner alone to (chmod 600)"))
}

#[cfg(not(unix))]
fn check_mode(_: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

/// Returns the password of the first line that fits one of the servers: `host:port:database:user:password`.
fn find(lines: &str, config: &Config) -> Option<String> {
    let hosts = config.get_hosts().iter().enumerate();
    let servers: Vec<(String, String)> = hosts.map(|(place, host)| (name(host), port(config, place))).collect();
    let (database, user) = (config.get_dbname().or(config.get_user())?, config.get_user()?);
    lines.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let [host, port, known_database, known_user, password] = fields(line)?;
        let fits = |field: &str, value: &str| field == "*" || field == value;
        let is_server = servers.iter().any(|server| fits(&host, &server.0) && fits(&port, &server.1));
        (is_server && fits(&known_database, database) && fits(&known_user, user)).then_some(password)
    })
}

fn name(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
        // What stands for sockets in such files.
        #[cfg(unix)]
        Host::Unix(_) => "localhost".to_owned(),
    }
}

fn port(config: &Config, place: usize) -> String {
    let ports = config.get_ports();
    ports.get(place).or(ports.first()).copied().unwrap_or(5432).to_string()
}

/// Returns the fields of a line, in which a backslash takes the next sign as it is.
fn fields(line: &str) -> Option<[String; 5]> {
    let mut fields = vec![String::new()];
    let mut signs = line.chars();
    while let Some(sign) = signs.next() {
        if sign == ':' && fields.len() < 5 {
            fields.push(String::new());
            continue;
        }
        let sign = if sign == '\\' { signs.next()? } else { sign };
        fields.last_mut()?.push(sign);
    }
    fields.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_one_of_the_servers_counts() {
        let config: Config = "postgres://me@a.example:5433,b.example:5434/crawls".parse().unwrap();
        let file = "# a.example:5433:crawls:me:comment\n\
                    a.example:5433:other:me:1\n\
                    a.example:5433:crawls:you:2\n\
                    b.example:5433:crawls:me:3\n\
                    b.example:5434:*:me:4\\:5\\\\6:7\n\
                    *:*:*:*:8\n";
        assert_eq!(find(file, &config).as_deref(), Some("4:5\\6:7"));
        assert_eq!(find("broken:line\n", &config), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o640)).unwrap();
        assert!(read(file.path()).unwrap_err().to_string().contains("chmod 600"));
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(read(file.path()).unwrap(), "");
    }
}
