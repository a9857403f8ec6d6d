//! *Which settings hold, and who set them?*
//!
//! [`schema`] is the table of keys. [`merge`] applies defaults, files, environment and flags in this order; the
//! result is [`Settings`]. Keys, values and files have one module each.

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
