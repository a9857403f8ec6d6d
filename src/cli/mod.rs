//! *What was asked for, and what does a person see?*
