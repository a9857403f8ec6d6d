//! *Which settings hold, and who set them?*
//!
//! [`schema`] is the one table of keys. [`merge`] puts defaults, files, environment and flags on top of each other;
//! the result is [`Settings`].

mod defaults;
pub mod file;
pub mod http_values;
pub mod listen_address;
pub mod merge;
pub mod percent;
pub mod schema;
pub mod settings;
pub mod source;
pub mod template;
pub mod units;
pub mod value;
pub mod value_enums;

pub use settings::Settings;
