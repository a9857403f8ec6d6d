//! *What do we fetch next, and what have we seen?*
