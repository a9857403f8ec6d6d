//! Arrays of numbers as bytes, for snapshots of derived state.
//!
//! An array is its length, u64, and its elements, all little-endian. These functions do not verify the bytes: the
//! owner of a snapshot checks a checksum before reading it. So an error means that another version wrote the bytes.

use std::io::{self, Error, ErrorKind, Read, Write};

/// Elements that are converted at a time.
const CHUNK: usize = 8 * 1024;

/// A number of fixed width.
pub trait Number: Copy {
    /// Its width.
    const BYTES: usize;

    /// Writes the number into `BYTES` bytes.
    fn put(self, bytes: &mut [u8]);

    /// Reads the number from `BYTES` bytes.
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Number for $number {
            const BYTES: usize = size_of::<$number>();

            fn put(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }

            fn get(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<$number>()];
                own.copy_from_slice(bytes);
                Self::from_le_bytes(own)
            }
        }
    )*};
}

numbers!(u8, u16, u32, u64, u128);

/// Writes an array.
///
/// # Errors
/// Those of `out`.
pub fn write_array<N: Number>(out: &mut dyn Write, array: &[N]) -> io::Result<()> {
    write_number(out, array.len() as u64)?;
    let mut bytes = vec![0; CHUNK.min(array.len()) * N::BYTES];
    for chunk in array.chunks(CHUNK) {
        let bytes = &mut bytes[..chunk.len() * N::BYTES];
        for (number, place) in chunk.iter().zip(bytes.chunks_exact_mut(N::BYTES)) {
            number.put(place);
        }
        out.write_all(bytes)?;
    }
    Ok(())
}

/// Reads an array that [`write_array`] wrote, into exactly as much memory as it needs.
///
/// # Errors
/// Those of `input`; [`ErrorKind::InvalidData`] if the length is impossible.
pub fn read_array<N: Number>(input: &mut dyn Read) -> io::Result<Vec<N>> {
    let length = read_number::<u64>(input)?;
    let length = usize::try_from(length).map_err(|_| invalid("an array longer than memory"))?;
    let mut array = Vec::new();
    array.try_reserve_exact(length).map_err(|_| invalid("an array longer than memory"))?;
    let mut bytes = vec![0; CHUNK.min(length) * N::BYTES];
    while array.len() < length {
        let bytes = &mut bytes[..CHUNK.min(length - array.len()) * N::BYTES];
        input.read_exact(bytes)?;
        array.extend(bytes.chunks_exact(N::BYTES).map(N::get));
    }
    Ok(array)
}

/// Writes one number.
///
/// # Errors
/// Those of `out`.
pub fn write_number<N: Number>(out: &mut dyn Write, number: N) -> io::Result<()> {
    let mut bytes = [0; 16];
    number.put(&mut bytes[..N::BYTES]);
    out.write_all(&bytes[..N::BYTES])
}

/// Reads one number.
///
/// # Errors
/// Those of `input`.
pub fn read_number<N: Number>(input: &mut dyn Read) -> io::Result<N> {
    let mut bytes = [0; 16];
    input.read_exact(&mut bytes[..N::BYTES])?;
    Ok(N::get(&bytes[..N::BYTES]))
}

/// Creates the error for invalid bytes.
pub fn invalid(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_of_any_length_come_back_and_take_no_more_than_they_need() {
        for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 7] {
            let array: Vec<u32> = (0..length as u32).map(|n| n.wrapping_mul(0x9E37_79B1)).collect();
            let mut bytes = Vec::new();
            write_array(&mut bytes, &array).unwrap();
            write_array(&mut bytes, &[u128::MAX, 7]).unwrap();
            let mut input = &bytes[..];
            let read = read_array::<u32>(&mut input).unwrap();
            assert_eq!(read, array);
            assert_eq!(read.capacity(), length);
            assert_eq!(read_array::<u128>(&mut input).unwrap(), [u128::MAX, 7]);
            assert!(input.is_empty());
        }
    }

    #[test]
    fn absurd_lengths_and_short_inputs_are_errors() {
        let mut bytes = Vec::new();
        write_number(&mut bytes, u64::MAX).unwrap();
        assert_eq!(read_array::<u16>(&mut &bytes[..]).unwrap_err().kind(), ErrorKind::InvalidData);
        assert_eq!(read_array::<u16>(&mut &bytes[..5]).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }
}
