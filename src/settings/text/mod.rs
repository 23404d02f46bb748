//! What values look like as text, and what comes out of it: one file a form.
//!
//! Each parser answers with the value or with a predicate about the text, such as `is not a port (write ...)`. Nothing
//! here knows which setting it reads.

pub(crate) mod address;
pub(crate) mod filter;
pub(crate) mod pairs;
pub(crate) mod pattern;
pub(crate) mod plain;
pub(crate) mod query;
pub(crate) mod signal;
pub(crate) mod target;
pub(crate) mod url;
pub(crate) mod words;
