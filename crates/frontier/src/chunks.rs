//! A table that grows without moving its items.

/// Items in a chunk.
const CHUNK: usize = 1 << 14;

/// A table in chunks: growing it costs one chunk and never a copy, so that memory has no peaks.
pub(super) struct Chunks<T> {
    chunks: Vec<Vec<T>>,
}

impl<T> Chunks<T> {
    pub(super) fn new() -> Self {
        Self { chunks: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.chunks.last().map_or(0, |last| (self.chunks.len() - 1) * CHUNK + last.len())
    }

    /// Returns the bytes in use.
    pub(super) fn bytes(&self) -> usize {
        self.chunks.len() * CHUNK * size_of::<T>()
    }

    pub(super) fn get(&self, index: usize) -> Option<&T> {
        self.chunks.get(index / CHUNK)?.get(index % CHUNK)
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        self.chunks.get_mut(index / CHUNK)?.get_mut(index % CHUNK)
    }

    pub(super) fn push(&mut self, item: T) {
        match self.chunks.last_mut().filter(|last| last.len() < CHUNK) {
            Some(last) => last.push(item),
            None => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push(item);
                self.chunks.push(chunk);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_finds_everything_across_its_chunks() {
        let mut table = Chunks::new();
        for item in 0..CHUNK * 2 + 1 {
            assert_eq!(table.len(), item);
            table.push(item);
        }
        for index in [0, CHUNK - 1, CHUNK, 2 * CHUNK] {
            assert_eq!(table.get(index), Some(&index));
        }
        assert_eq!(table.get(2 * CHUNK + 1), None);
    }
}
