//! Says why a request failed.

use std::io::{self, ErrorKind};

use object_store::Error;

/// Variables whose values no error repeats.
const SECRETS: [&str; 3] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];

/// Says why a request failed, in one line and without credentials.
pub(super) fn failure(error: &Error) -> io::Error {
    let (kind, why) = match error {
        Error::NotFound { .. } => (ErrorKind::NotFound, "no such bucket or object".to_owned()),
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
            let remedy = "look at AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION, and at the bucket's policy";
            (ErrorKind::PermissionDenied, format!("the store denies access: {remedy}"))
        }
        Error::Precondition { .. } => (ErrorKind::InvalidData, "the object has changed while it was read".to_owned()),
        other => (ErrorKind::Other, chain(other)),
    };
    io::Error::new(kind, masked(&why))
}

/// Returns an error with its causes, each once.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text += &format!(": {next}");
        }
        cause = error.source();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn masked(text: &str) -> String {
    let values = SECRETS.iter().filter_map(|name| std::env::var(name).ok()).filter(|value| !value.is_empty());
    values.fold(text.to_owned(), |text, value| text.replace(&value, "***"))
}
