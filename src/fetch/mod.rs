//! *What does the server say, asked politely?*
