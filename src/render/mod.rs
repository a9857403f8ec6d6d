//! *Which terms and links does this page hold?*
