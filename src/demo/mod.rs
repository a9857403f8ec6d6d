//! *What does a crawl look like, without a network?*
