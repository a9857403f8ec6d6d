//! What a reader is sent and what it answers: a length in 8 bytes, then so many bytes.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

use ndcrawl_model::TextError;

/// The text of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentText {
    /// Text and metadata, as HTML in UTF-8.
    pub html: String,
    /// Whether there is more text than the limit allows.
    pub is_cut: bool,
}

/// What a reader answers.
pub(super) type Answer = Result<DocumentText, (TextError, String)>;

/// Sends bytes.
pub(super) fn send(to: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    to.write_all(&(bytes.len() as u64).to_le_bytes())?;
    to.write_all(bytes)?;
    to.flush()
}

/// Receives bytes; `None` if the other side has closed the pipe.
pub(super) fn receive(from: &mut impl Read, most: usize) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 8];
    match from.read_exact(&mut length) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let length = u64::from_le_bytes(length);
    if length > most as u64 {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("{length} bytes, the limit is {most}")));
    }
    let mut bytes = Vec::new();
    if from.take(length).read_to_end(&mut bytes)? as u64 != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_received_unless_it_is_too_long_or_ends_early() {
        let mut pipe = Vec::new();
        send(&mut pipe, b"body").unwrap();
        assert_eq!(receive(&mut &pipe[..], 4).unwrap().as_deref(), Some(&b"body"[..]));
        assert_eq!(receive(&mut &pipe[..], 3).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(receive(&mut &pipe[..11], 4).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(receive(&mut &pipe[..0], 4).unwrap(), None);
    }
}
