//! Growth and size of arrays.

use super::tuning::Tuning;

/// Makes room for one more element.
///
/// A full array grows by an eighth instead of doubling, so that little memory lies idle. Each element is moved about
/// eight times in all.
pub(super) fn make_room<T>(array: &mut Vec<T>) {
    if array.len() == array.capacity() {
        array.reserve_exact(array.len() / Tuning::ARRAY_GROWTH_DIVISOR + Tuning::ARRAY_GROWTH_LEAST);
    }
}

/// Returns the bytes that an array holds on the heap.
pub(super) fn heap_bytes<T>(array: &Vec<T>) -> usize {
    array.capacity() * size_of::<T>()
}
