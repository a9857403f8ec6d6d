//! Keys of rendering pages in Chromium.

use std::path::PathBuf;
use std::time::Duration;

use super::{Shape, table};
use crate::cli::config::units::{Positive, Size};
use crate::cli::config::value_enums::PageSource;

table! {
    /// Rendering of pages in Chromium.
    #[derive(Default)]
    pub struct Browser: browser {
        /// static: as sent; browser: rendered by Chromium; auto: rendered if nearly empty as sent
        pub mode: PageSource = key(Shape::Value("MODE"), "static")
            .because("static, since a page that runs takes seconds and many requests. Needs Chromium, and a Unix \
                system.")
            .example("--page-source auto")
            .flag("page-source")
            .fixed(),
        /// Chromium executable
        pub executable: Option<PathBuf> = key(Shape::Value("FILE"), "")
            .because("Chromium has one of a few names.")
            .note("the first one found in PATH"),
        /// Render at most N pages at a time
        pub tabs: Positive = key(Shape::Value("N"), "2")
            .because("Each takes a processor and some hundred MiB."),
        /// Stop rendering after this time and take the page as it is
        pub timeout: Duration = key(Shape::Value("DURATION"), "15s")
            .because("At one request a second, 15 s are 15 scripts and answers."),
        /// Allow a page at most N requests
        pub max_requests: u32 = key(Shape::Value("N"), "100")
            .because("Pages that ask for more ask without end."),
        /// Allow the responses to a page at most this size in total
        pub max_bytes: Size = key(Shape::Value("SIZE"), "32M")
            .because("Scripts and data of a page have a few MiB."),
    }
}
