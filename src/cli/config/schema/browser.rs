//! Keys of rendering pages in Chromium.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use super::key::table;
use crate::cli::config::units::Size;
use crate::cli::config::value_enums::PageSource;

table! {
    /// Rendering of pages in Chromium.
    pub struct Browser in [browser] of Machine {
        /// static: as sent; browser: rendered by Chromium; auto: rendered if nearly empty as sent
        ///
        /// static, since a page that runs takes seconds and many requests. Needs Chromium, and a Unix system.
        /// Example: --page-source auto
        pub mode: PageSource = value("MODE", "static").flag("page-source").fixed().of_crawl(),
        /// Chromium executable
        ///
        /// Chromium has one of a few names.
        pub executable: Option<PathBuf> = value("FILE", "").note("the first one found in PATH"),
        /// Render at most N pages at a time
        ///
        /// Each takes a processor and some hundred MiB.
        pub tabs: NonZeroUsize = value("N", "2"),
        /// Stop rendering after this time and take the page as it is
        ///
        /// At one request a second, 15 s are 15 scripts and answers.
        pub timeout: Duration = value("DURATION", "15s"),
        /// Allow a page at most N requests
        ///
        /// Pages that ask for more ask without end.
        pub max_requests: u32 = value("N", "100"),
        /// Allow the responses to a page at most this size in total
        ///
        /// Scripts and data of a page have a few MiB.
        pub max_bytes: Size = value("SIZE", "32M"),
    }
}
