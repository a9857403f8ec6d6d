//! Enums whose variants have names.

/// Declares an enum, with the name of each variant in files, and maybe what it means.
#[macro_export]
macro_rules! named {
    ($(#[$meta:meta])* pub enum $kind:ident {
        $($(#[$doc:meta])* $variant:ident = $name:literal $(: $meaning:literal)?,)+
    }) => {
        $(#[$meta])*
        pub enum $kind {
            $($(#[$doc])* $variant,)+
        }

        impl $kind {
            /// All of them.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Returns the name in output.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
        $crate::named! { @explain $kind $($variant $($meaning)?,)+ }
    };
    (@explain $kind:ident $($variant:ident $meaning:literal,)+) => {
        impl $kind {
            /// Says in words what it means.
            pub fn explain(self) -> &'static str {
                match self {
                    $(Self::$variant => $meaning,)+
                }
            }
        }
    };
    (@explain $kind:ident $($variant:ident,)+) => {};
}
