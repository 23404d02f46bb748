//! `http://` URLs of probes and of the metrics endpoint.
//!
//! What can be reached is decided here, so that a bad URL is an error at start
//! and never a probe that fails forever. A password in a URL is taken out at
//! once; no message and no shown form contains it.

use std::num::NonZeroU16;

use super::address::{bracketed_host, host};
use super::plain::{self, port, quote};
use super::target::{Header, HttpTarget, Secret};

/// The client writes the first line of its request in one piece of 16 KiB, and the line with user and password in
/// another, a third longer than they are.
const LONGEST: usize = 15 * 1024;
const LONGEST_USER: usize = 8 * 1024;

/// The port of a URL without one.
const DEFAULT_PORT: NonZeroU16 = NonZeroU16::new(80).expect("80 is not 0");

/// A list of URLs. A message shows of an item what [`shown_item`] lets through.
pub(crate) fn list(text: &str) -> Result<Vec<HttpTarget>, Vec<String>> {
    let parse = |items: &[&str], index: usize| {
        if is_torn(items, index) {
            return Err(PASSWORD.into());
        }
        http(items[index])
    };
    plain::list(text, parse, shown_item)
}

/// Said where a part of a password may have been taken for something else:
/// `http://user:12/34@host` would be a fine URL of a host called user.
const PASSWORD: &str = "is not a URL (write @ in a path as %40, and , / ? # in a password as %2C %2F %3F %23)";

/// An `http://` URL. The answer is a predicate that never quotes what is in
/// front of the `@`.
pub(crate) fn http(text: &str) -> Result<HttpTarget, String> {
    if text.len() > LONGEST {
        return Err(format!("is longer than a URL may be (write at most {LONGEST} bytes)"));
    }
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err("is not a URL: it has a blank or a control character in it (write %20 for a blank)".into());
    }
    if !text.is_ascii() {
        return Err("is not a URL: it has a letter outside ASCII in it (write it percent-encoded)".into());
    }
    let Some((scheme, rest)) = text.split_once("://") else {
        return Err("is not a URL (write http:// in front)".into());
    };
    if scheme.eq_ignore_ascii_case("https") {
        return Err("is not supported: this build has no TLS (write http://, which the game has to serve)".into());
    }
    if !scheme.eq_ignore_ascii_case("http") {
        return Err("is not an http:// URL".into());
    }
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if path.contains('@') {
        return Err(PASSWORD.into());
    }
    // A fragment is the reader's own: it is never sent.
    let path = path.split('#').next().unwrap_or_default();
    let (user, address) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    let wrong_part = |part: &str, wrong: &str| format!("is not a URL: {} {wrong}", quote(part));
    if user.is_some_and(|user| user.len() > LONGEST_USER) {
        return Err(format!("has a longer user and password than can be sent (write at most {LONGEST_USER} bytes)"));
    }
    let credentials = user.filter(|user| !user.is_empty()).map(credentials).transpose()?;
    let (written, number) = split_port(address)?;
    if written.is_empty() {
        return Err("is not a URL: it has no host (write http://127.0.0.1:8080/)".into());
    }
    let host = if written.starts_with('[') { bracketed_host(written) } else { host(written) }
        .map_err(|wrong| wrong_part(written, &wrong))?;
    let port = match number {
        None => DEFAULT_PORT,
        Some("") => return Err("is not a URL: it has no port behind the colon".into()),
        Some(number) => port(number).map_err(|wrong| wrong_part(number, &wrong))?,
    };
    // http://host?query is allowed, and means the root.
    let slash = if path.starts_with('?') { "/" } else { "" };
    let url = format!("http://{address}{slash}{path}");
    // The client's own judgement, so that it cannot come later, at every probe.
    ureq::http::Uri::try_from(url.as_str()).map_err(|wrong| format!("is not a URL: {wrong}"))?;
    Ok(HttpTarget { url, credentials, host, port })
}

/// `host`, `host:port`, `[v6]` or `[v6]:port` cut in two.
fn split_port(address: &str) -> Result<(&str, Option<&str>), String> {
    let end = if address.starts_with('[') { address.find(']').map_or(address.len(), |end| end + 1) } else { 0 };
    match address[end..].split_once(':') {
        None if end > 0 && end < address.len() => Err("is not a URL: only a port can follow the ]".into()),
        None => Ok((address, None)),
        Some((_, number)) if number.contains(':') => {
            Err("is not a URL: an IPv6 address stands in brackets (write http://[::1]:8080/)".into())
        }
        Some((before, _)) if end > 0 && !before.is_empty() => Err("is not a URL: only a port can follow the ]".into()),
        Some((before, number)) => Ok((&address[..end + before.len()], Some(number))),
    }
}

/// `Name: value`. The messages say nothing of the value.
pub(crate) fn header(text: &str) -> Result<Header, String> {
    let wrong = "is not a header (write Name: value)";
    let (name, value) = text.split_once(':').ok_or(wrong)?;
    let value = value.trim();
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) || value.is_empty() {
        return Err(wrong.into());
    }
    if !value.bytes().all(|byte| matches!(byte, 0x20..=0x7e)) {
        return Err("has a letter outside ASCII or a control character in its value".into());
    }
    if text.len() > LONGEST_USER {
        return Err(format!("is longer than a header may be (write at most {LONGEST_USER} bytes)"));
    }
    // What the client writes itself would be there twice.
    if ["host", "connection", "content-length", "transfer-encoding"].contains(&name.to_ascii_lowercase().as_str()) {
        return Err("is a header that the shim writes itself".into());
    }
    Ok(Header { name: name.to_owned(), value: Secret(value.to_owned()) })
}

/// `user:password`, percent-decoded. The messages say nothing of either.
fn credentials(user: &str) -> Result<Secret, String> {
    let (name, password) = user.split_once(':').unwrap_or((user, ""));
    let (Some(name), Some(password)) = (percent_decoded(name), percent_decoded(password)) else {
        return Err("is not a URL: its user or password is badly percent-encoded (write % as %25)".into());
    };
    // Basic authorization parts the two at the first colon (RFC 7617 section 2).
    if name.contains(':') || name.chars().chain(password.chars()).any(char::is_control) {
        return Err("cannot be used: its user has a colon or a control character in it".into());
    }
    Ok(Secret(format!("{name}:{password}")))
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            bytes.push(u8::try_from(digit()? * 16 + digit()?).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// A URL, fit to be shown: `***` for what may be a user and a password.
pub(crate) fn shown(text: &str) -> String {
    masked(text, true, false)
}

/// A whole text of one or several URLs, fit to be shown, also where a comma in a password has torn a URL in two.
pub(crate) fn shown_list(text: &str) -> String {
    let items: Vec<&str> = text.split(',').collect();
    // From the end, so that each item is looked at once however many there are.
    let mut shown = Vec::with_capacity(items.len());
    let mut is_torn = false;
    for (index, item) in items.iter().enumerate().rev() {
        shown.push(masked(item, index == 0, is_torn));
        is_torn = !begins_anew(item) && (is_torn || item.contains('@'));
    }
    shown.reverse();
    shown.join(",")
}

/// An item of a list of URLs, fit to be shown.
fn shown_item(items: &[&str], index: usize) -> String {
    masked(items[index], index == 0, is_torn(items, index))
}

fn masked(item: &str, is_first: bool, is_torn: bool) -> String {
    // Behind a comma, what is in front of :// may be a part of a torn password: only what we know is a scheme there.
    let is_scheme = |text: &str| {
        if is_first {
            text.chars().all(|c| c.is_ascii_alphanumeric())
        } else {
            ["http", "https"].iter().any(|known| text.eq_ignore_ascii_case(known))
        }
    };
    let (scheme, mark, rest) = match item.split_once("://") {
        Some((scheme, rest)) if is_scheme(scheme) => (scheme, "://", rest),
        _ => ("", "", item),
    };
    match rest.rsplit_once('@') {
        _ if is_torn => format!("{scheme}{mark}***"),
        Some((_, address)) => format!("{scheme}{mark}***@{address}"),
        None => item.to_owned(),
    }
}

/// A later item has the `@` that this one's user and password end with.
fn is_torn(items: &[&str], index: usize) -> bool {
    items[index + 1..].iter().take_while(|next| !begins_anew(next)).any(|next| next.contains('@'))
}

fn begins_anew(item: &str) -> bool {
    item.get(..4).is_some_and(|begin| begin.eq_ignore_ascii_case("http")) && item.contains("://")
}

#[cfg(test)]
mod tests {
    use super::super::target::Host;
    use super::*;

    fn ip(text: &str) -> Host {
        Host::Ip(text.parse().unwrap())
    }

    #[test]
    fn a_url_is_taken_apart() {
        for (text, url, host, port) in [
            ("http://localhost:8080/healthz", "http://localhost:8080/healthz", Host::Loopback, 8080),
            ("HTTP://LOCALHOST/", "http://LOCALHOST/", Host::Loopback, 80),
            ("http://127.0.0.1", "http://127.0.0.1", ip("127.0.0.1"), 80),
            ("http://[::1]:9/a?b=c&d", "http://[::1]:9/a?b=c&d", ip("::1"), 9),
            ("http://[::1]", "http://[::1]", ip("::1"), 80),
            ("http://host?q=%401", "http://host/?q=%401", Host::Name("host".into()), 80),
            ("http://host/a%40b#top", "http://host/a%40b", Host::Name("host".into()), 80),
            ("http://host#/top", "http://host", Host::Name("host".into()), 80),
            ("http://@host/", "http://host/", Host::Name("host".into()), 80),
        ] {
            let port = NonZeroU16::new(port).unwrap();
            assert_eq!(http(text), Ok(HttpTarget { url: url.into(), credentials: None, host, port }), "{text}");
        }
    }

    #[test]
    fn user_and_password_are_decoded_and_shown_nowhere() {
        for (text, secret) in [
            ("http://ann:s%40cret@host/", "ann:s@cret"),
            ("http://ann@host/", "ann:"),
            ("http://ann:a:b@c@host/", "ann:a:b@c"),
            ("http://%C3%BC:%3a@host/", "ü::"),
        ] {
            let target = http(text).expect(text);
            assert_eq!(target.credentials, Some(Secret(secret.into())), "{text}");
            assert_eq!(target.url, "http://host/", "{text}");
            assert!(!format!("{target:?}").contains(secret), "{target:?}");
        }
    }

    #[test]
    fn a_header_is_a_name_and_a_value_that_no_message_shows() {
        let good = header("X-Api-Key:  s3cret ").expect("good");
        assert_eq!((good.name.as_str(), good.value.0.as_str()), ("X-Api-Key", "s3cret"));
        assert!(!format!("{good:?}").contains("s3cret"));
        for text in ["s3cret", ": s3cret", "A b: s3cret", "A:", "A: s3cr\u{e9}t", "A: s3\ncret", "Host: s3cret"] {
            let message = header(text).expect_err(text);
            assert!(!message.contains("s3"), "{message}");
        }
    }

    #[test]
    fn a_url_that_could_not_be_sent_is_an_error() {
        let of = |length: usize| format!("http://host/{}", "a".repeat(length - 12));
        assert!(http(&of(LONGEST)).is_ok());
        let wanted = "is longer than a URL may be (write at most 15360 bytes)";
        assert_eq!(http(&of(LONGEST + 1)), Err(wanted.into()));
        let user = |length: usize| http(&format!("http://{}@host/", "a".repeat(length)));
        assert!(user(LONGEST_USER).is_ok());
        let wanted = "has a longer user and password than can be sent (write at most 8192 bytes)";
        assert_eq!(user(LONGEST_USER + 1), Err(wanted.into()));
    }

    /// Looked at from each comma to the end, a megabyte of them took minutes.
    #[test]
    fn a_long_list_is_shown_in_linear_time_and_like_its_items() {
        let began = std::time::Instant::now();
        assert_eq!(shown_list(&",".repeat(1 << 20)).len(), 1 << 20);
        assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
        for text in ["http://a:b,c@d/,x@,http://e", "a,b@,http://c@,HTTP://d,@", ",,@,", "http://x,y,z"] {
            let items: Vec<&str> = text.split(',').collect();
            let one_by_one: Vec<String> = (0..items.len()).map(|index| shown_item(&items, index)).collect();
            assert_eq!(shown_list(text), one_by_one.join(","), "{text}");
        }
    }

    #[test]
    fn what_is_no_url_is_told_apart() {
        let name = "is not a host name or address (letters, digits, - and . only)";
        let port = "is not a port (write a number from 1 to 65535)";
        let ipv6 = "is not an IPv6 address in brackets (write [::1])";
        let bracket = "is not a URL: only a port can follow the ]";
        for (text, message) in [
            ("host:8085", "is not a URL (write http:// in front)".to_owned()),
            ("8085", "is not a URL (write http:// in front)".into()),
            (
                "HTTPS://host/",
                "is not supported: this build has no TLS (write http://, which the game has to serve)".into(),
            ),
            ("ftp://host/", "is not an http:// URL".into()),
            ("://host/", "is not an http:// URL".into()),
            ("http://", "is not a URL: it has no host (write http://127.0.0.1:8080/)".into()),
            ("http:///path", "is not a URL: it has no host (write http://127.0.0.1:8080/)".into()),
            ("http://:80/", "is not a URL: it has no host (write http://127.0.0.1:8080/)".into()),
            ("http://u:p@/", "is not a URL: it has no host (write http://127.0.0.1:8080/)".into()),
            ("http://host:/", "is not a URL: it has no port behind the colon".into()),
            ("http://host:0/", format!(r#"is not a URL: "0" {port}"#)),
            ("http://host:80path", format!(r#"is not a URL: "80path" {port}"#)),
            ("http://host:70000", format!(r#"is not a URL: "70000" {port}"#)),
            ("http://host\\path", format!(r#"is not a URL: "host\\path" {name}"#)),
            ("http://::1/", "is not a URL: an IPv6 address stands in brackets (write http://[::1]:8080/)".into()),
            ("http://[::1/", format!(r#"is not a URL: "[::1" {ipv6}"#)),
            ("http://[::g]/", format!(r#"is not a URL: "[::g]" {ipv6}"#)),
            ("http://[::1]80/", bracket.into()),
            ("http://[::1]a:80/", bracket.into()),
            (
                "http://ho st/",
                "is not a URL: it has a blank or a control character in it (write %20 for a blank)".into(),
            ),
            (
                "http://host/\u{7}",
                "is not a URL: it has a blank or a control character in it (write %20 for a blank)".into(),
            ),
            ("http://höst/", "is not a URL: it has a letter outside ASCII in it (write it percent-encoded)".into()),
            (
                "http://u:%zz@host/",
                "is not a URL: its user or password is badly percent-encoded (write % as %25)".into(),
            ),
            ("http://u:%", "is not a URL: \"%\" is not a port (write a number from 1 to 65535)".into()),
            (
                "http://u:%ff@host/",
                "is not a URL: its user or password is badly percent-encoded (write % as %25)".into(),
            ),
            ("http://u%3Av:p@host/", "cannot be used: its user has a colon or a control character in it".into()),
            ("http://u:%0a@host/", "cannot be used: its user has a colon or a control character in it".into()),
        ] {
            assert_eq!(http(text), Err(message), "{text}");
        }
    }

    #[test]
    fn no_message_quotes_what_may_be_a_password() {
        for text in ["http://u:12/secret@host/", "http://u:secret?@host/", "http://u:@secret#@host/", "http://host/a@b"]
        {
            assert_eq!(http(text), Err(PASSWORD.into()), "{text}");
        }
        assert_eq!(
            list("http://u:secret,1@host/"),
            Err(vec![
                format!(r#""http://***" {PASSWORD}"#),
                r#""***@host/" is not a URL (write http:// in front)"#.into(),
            ])
        );
    }

    #[test]
    fn a_password_is_not_shown_even_where_a_comma_tears_it() {
        for (text, wanted) in [
            ("http://host/", "http://host/"),
            ("http://u:secret@host/", "http://***@host/"),
            ("u:secret@host", "***@host"),
            ("http://u:sec@ret@host/", "http://***@host/"),
            ("http://u:sec,ret@host/", "http://***,***@host/"),
            ("http://u:s,e,cret@host/,http://b/", "http://***,***,***@host/,http://b/"),
            ("http://a/,http://u:secret@host/", "http://a/,http://***@host/"),
            ("http://u:a,secret://b@host/", "http://***,***@host/"),
            ("http://u:,secret@ttp://b/", "http://***,***@ttp://b/"),
            ("u:secret@ttp://b/", "***@ttp://b/"),
            ("ftp://u:secret@host/", "ftp://***@host/"),
            ("http://u:a,secret://b,c@host/", "http://***,***,***@host/"),
        ] {
            assert_eq!(shown_list(text), wanted, "{text}");
            let items: Vec<&str> = text.split(',').collect();
            let each: Vec<String> = (0..items.len()).map(|index| shown_item(&items, index)).collect();
            assert_eq!(each.join(","), wanted, "{text}: item by item");
        }
        assert_eq!(shown("http://u:s,e@cret@host/"), "http://***@host/", "one URL has commas of its own");
    }
}
