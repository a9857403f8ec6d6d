//! *Which stored records could match?*
