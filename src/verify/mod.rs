//! *How similar are two records, exactly?*
