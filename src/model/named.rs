//! Names of the variants of enums.

/// Gives the variants of an enum their names in files, and maybe what they mean. The compiler misses those left out.
macro_rules! named {
    ($kind:ident { $($variant:ident => $name:literal $(: $meaning:literal)?,)+ }) => {
        impl $kind {
            /// All of them.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The name used in `pages.jsonl`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
        named! { @explain $kind $($variant $($meaning)?,)+ }
    };
    (@explain $kind:ident $($variant:ident $meaning:literal,)+) => {
        impl $kind {
            /// Says in words what it means, and which flag decides.
            pub fn explain(self) -> &'static str {
                match self {
                    $(Self::$variant => $meaning,)+
                }
            }
        }
    };
    (@explain $kind:ident $($variant:ident,)+) => {};
}

pub(super) use named;
