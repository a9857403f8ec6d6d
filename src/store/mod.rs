//! *What is kept, and how far did we get?*
