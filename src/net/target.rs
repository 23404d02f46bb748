//! What an HTTP request goes to, and what of it is never shown.

use std::fmt;
use std::num::NonZeroU16;

use super::Host;

/// An `http://` URL in the parts that are needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpTarget {
    /// As written, without user information, for logs and messages.
    pub url: String,
    /// `user:password` of the URL, percent-decoded, sent as Basic authorization; never logged.
    pub credentials: Option<Secret>,
    /// Host to connect to.
    pub host: Host,
    /// Port to connect to; 80 where the URL has none.
    pub port: NonZeroU16,
}

impl fmt::Display for HttpTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url)
    }
}

/// A header of a request: a token, usually.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// `Authorization`, say.
    pub name: String,
    /// Never shown.
    pub value: Secret,
}

/// Something that must not reach a log, the status page or `check`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
