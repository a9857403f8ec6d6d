//! How arrays grow here.

use super::tuning::Tuning;

/// Makes room for one more element: an array that is full grows by an eighth, not to the double, so
/// that no more than that lies idle. Each element is moved some eight times in all.
pub(super) fn make_room<T>(array: &mut Vec<T>) {
    if array.len() == array.capacity() {
        array.reserve_exact(array.len() / Tuning::ARRAY_GROWTH_DIVISOR + Tuning::ARRAY_GROWTH_LEAST);
    }
}

/// Bytes that an array holds on the heap.
pub(super) fn heap_bytes<T>(array: &Vec<T>) -> usize {
    array.capacity() * size_of::<T>()
}
