//! *Have we kept this text before?*
