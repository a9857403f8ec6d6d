//! *Who does what, in which order, and when is it over?*
