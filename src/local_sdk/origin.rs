//! Who may change the GameServer over HTTP: every program that reaches the port, and of all web pages this server's own.
//!
//! A browser sends `Origin` with everything that a page posts, and no page can leave it out or forge it. So a request
//! without one is no page's, and may name this host as it likes (`sdk` in compose, the name of a Pod). With one, it has
//! to be the origin that `Host` names: not that of a page elsewhere, nor of another port. And `Host` has to be an
//! address or `localhost`: a name that the page's owner points at 127.0.0.1 (DNS rebinding) makes `Origin` and `Host`
//! equal, but the browser knows it as a name. Pure.

use std::net::{IpAddr, SocketAddr};

use super::request::{Code, Refusal};

/// Judges a request by all of its `Origin` and `Host` headers.
///
/// # Errors
/// It comes from a page that is not this server's own.
pub fn check<'a>(
    method: &str,
    origins: impl Iterator<Item = &'a str>,
    hosts: impl Iterator<Item = &'a str>,
) -> Result<(), Refusal> {
    let origins: Vec<&str> = origins.collect();
    if origins.is_empty() || matches!(method, "GET" | "HEAD") {
        return Ok(());
    }
    let hosts: Vec<&str> = hosts.collect();
    let refused = |message: String| Err(Refusal { code: Code::PermissionDenied, message });
    let ([origin], [host]) = (origins.as_slice(), hosts.as_slice()) else {
        return refused("more than one Origin, or not one Host".to_owned());
    };
    if !is_address(host) {
        return refused(format!(
            "a web page may only call this server by its IP address or as localhost, not as {host:?}"
        ));
    }
    if !origin.strip_prefix("http://").is_some_and(|from| from.eq_ignore_ascii_case(host)) {
        return refused(format!("the web page at {origin:?} may not call this server, {host:?}"));
    }
    Ok(())
}

/// No resolver has a say in where it leads.
fn is_address(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    name.eq_ignore_ascii_case("localhost")
        || host.parse::<SocketAddr>().is_ok()
        || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_ipv4())
        || host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).is_some_and(|ip| ip.parse::<IpAddr>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_allowed(method: &str, origins: &[&str], hosts: &[&str]) -> bool {
        check(method, origins.iter().copied(), hosts.iter().copied()).is_ok()
    }

    #[test]
    fn programs_may_by_any_name_and_pages_by_an_address_that_is_their_own() {
        for (origin, host, allowed) in [
            (None, "sdk:9358", true),
            (None, "127.0.0.1:9358", true),
            (Some("http://127.0.0.1:9358"), "127.0.0.1:9358", true),
            (Some("http://LocalHost:9358"), "localhost:9358", true),
            (Some("http://localhost"), "localhost", true),
            (Some("http://[::1]:9358"), "[::1]:9358", true),
            (Some("http://[::1]"), "[::1]", true),
            (Some("http://192.0.2.7:9358"), "192.0.2.7:9358", true),
            // A page elsewhere, or sandboxed, or from a file.
            (Some("https://evil.example"), "127.0.0.1:9358", false),
            (Some("http://192.0.2.7:9358"), "127.0.0.1:9358", false),
            (Some("null"), "127.0.0.1:9358", false),
            (Some(""), "127.0.0.1:9358", false),
            // Another server on this host.
            (Some("http://127.0.0.1:8000"), "127.0.0.1:9358", false),
            (Some("http://localhost:9358"), "127.0.0.1:9358", false),
            (Some("https://127.0.0.1:9358"), "127.0.0.1:9358", false),
            // Rebound: both are the name that leads here for now.
            (Some("http://evil.example:9358"), "evil.example:9358", false),
            (Some("http://localhost.evil.example:9358"), "localhost.evil.example:9358", false),
            (Some("http://127.0.0.1.evil.example"), "127.0.0.1.evil.example", false),
            (Some("http://sdk:9358"), "sdk:9358", false),
            (Some("http://2130706433:9358"), "2130706433:9358", false),
            (Some("http://"), "", false),
        ] {
            let origins: Vec<&str> = origin.into_iter().collect();
            assert_eq!(is_allowed("POST", &origins, &[host]), allowed, "{origin:?} {host:?}");
            assert!(is_allowed("GET", &origins, &[host]), "reading changes nothing");
        }
    }

    #[test]
    fn two_headers_of_a_kind_and_none_are_refused() {
        let own = "http://localhost:1";
        for method in ["POST", "PUT", "PATCH", "DELETE", "post"] {
            assert!(is_allowed(method, &[own], &["localhost:1"]));
            for (origins, hosts) in
                [(&[own, own][..], &["localhost:1"][..]), (&[own], &["localhost:1", "localhost:1"]), (&[own], &[])]
            {
                assert!(!is_allowed(method, origins, hosts), "{method} {origins:?} {hosts:?}");
            }
        }
    }
}
