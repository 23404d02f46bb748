//! Host and port -> socket addresses.
//!
//! Loopback and literals never meet a resolver: there is none in a FROM scratch image. For names there is only the
//! blocking one of libc, which knows no deadline: it runs in a thread of its own, at most one a name, that may outlive
//! whoever asked. Nothing is cached but such a late answer.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::num::NonZeroU16;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;

use crate::net::Host;
use crate::net::deadline::Deadline;

type Answer = io::Result<Vec<IpAddr>>;

/// Resolves for one thread, and remembers which lookups have not ended.
#[derive(Debug)]
pub struct Resolver {
    /// The lookup of each name that is under way or whose answer nobody has taken.
    pending: HashMap<String, Receiver<Answer>>,
    lookup: fn(&str) -> Answer,
}

impl Default for Resolver {
    fn default() -> Self {
        Self::new()
    }
}

impl Resolver {
    /// Nothing under way.
    #[must_use]
    pub fn new() -> Self {
        Self::with(system_lookup)
    }

    fn with(lookup: fn(&str) -> Answer) -> Self {
        Self { pending: HashMap::new(), lookup }
    }

    /// The addresses of a host, in the order in which they are to be tried; never none.
    ///
    /// # Errors
    ///
    /// The reason for people: the name does not resolve, or not within the deadline. A lookup that is still under way
    /// then goes on, and the next call for the same name waits for it instead of starting another.
    pub fn addresses(&mut self, host: &Host, port: NonZeroU16, deadline: Deadline) -> Result<Vec<SocketAddr>, String> {
        let ips = match host {
            Host::Loopback => vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
            Host::Ip(ip) => vec![*ip],
            Host::Name(name) => self.ask(name, deadline)?,
        };
        Ok(ips.into_iter().map(|ip| SocketAddr::new(ip, port.get())).collect())
    }

    fn ask(&mut self, name: &str, deadline: Deadline) -> Result<Vec<IpAddr>, String> {
        let fail = |why: &dyn std::fmt::Display| format!("cannot resolve {name:?}: {why}");
        let pending = match self.pending.remove(name) {
            Some(pending) => pending,
            None => start(self.lookup, name).map_err(|error| fail(&error))?,
        };
        match pending.recv_timeout(deadline.left().unwrap_or_default()) {
            Ok(Ok(ips)) if ips.is_empty() => Err(fail(&"it has no address")),
            Ok(Ok(ips)) => Ok(ips),
            Ok(Err(error)) => Err(fail(&without_preamble(&error.to_string()))),
            Err(RecvTimeoutError::Timeout) => {
                self.pending.insert(name.to_owned(), pending);
                Err(fail(&deadline))
            }
            Err(RecvTimeoutError::Disconnected) => Err(fail(&"the resolver thread died")),
        }
    }
}

fn start(lookup: fn(&str) -> Answer, name: &str) -> io::Result<Receiver<Answer>> {
    let (sender, receiver) = channel();
    let name = name.to_owned();
    thread::Builder::new().name("resolve".to_owned()).spawn(move || {
        // Nobody waits any more when the asker has gone.
        let _ = sender.send(lookup(&name));
    })?;
    Ok(receiver)
}

fn system_lookup(name: &str) -> Answer {
    Ok((name, 0).to_socket_addrs()?.map(|address| address.ip()).collect())
}

/// Std puts a sentence of its own before the resolver's.
fn without_preamble(error: &str) -> &str {
    error.strip_prefix("failed to lookup address information: ").unwrap_or(error)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::time::{Duration, Instant};

    use super::*;

    const PORT: NonZeroU16 = NonZeroU16::new(8085).unwrap();

    fn soon() -> Deadline {
        Deadline::after(Duration::from_secs(10))
    }

    /// Panics when it is asked at all.
    fn no_resolver(name: &str) -> Answer {
        panic!("{name} met a resolver")
    }

    /// The name is the address of the test, which says when the lookup ends and how.
    fn ask_the_test(name: &str) -> Answer {
        let mut text = String::new();
        TcpStream::connect(name)?.read_to_string(&mut text)?;
        Ok(text.split_whitespace().filter_map(|ip| ip.parse().ok()).collect())
    }

    #[test]
    fn loopback_is_ipv4_then_ipv6_and_meets_no_resolver() {
        let addresses = Resolver::with(no_resolver).addresses(&Host::Loopback, PORT, soon());
        assert_eq!(addresses.unwrap(), ["127.0.0.1:8085".parse().unwrap(), "[::1]:8085".parse().unwrap()]);
    }

    #[test]
    fn a_literal_is_itself_and_meets_no_resolver() {
        let host = Host::Ip("::2".parse().unwrap());
        let addresses = Resolver::with(no_resolver).addresses(&host, PORT, soon());
        assert_eq!(addresses.unwrap(), ["[::2]:8085".parse().unwrap()]);
    }

    #[test]
    fn a_name_that_does_not_resolve_is_named_with_the_reason() {
        // A NUL inside a name fails before any server is asked.
        let reason = Resolver::new().addresses(&Host::Name("no\0name".into()), PORT, soon()).unwrap_err();
        assert!(reason.starts_with("cannot resolve \"no\\0name\": "), "{reason}");
        let empty: fn(&str) -> Answer = |_| Ok(Vec::new());
        let reason = Resolver::with(empty).addresses(&Host::Name("game".into()), PORT, soon()).unwrap_err();
        assert_eq!(reason, "cannot resolve \"game\": it has no address");
    }

    #[test]
    fn a_dead_resolver_thread_is_a_reason_and_the_next_call_starts_another() {
        let mut resolver = Resolver::with(no_resolver);
        for _ in 0..2 {
            let reason = resolver.addresses(&Host::Name("game".into()), PORT, soon()).unwrap_err();
            assert_eq!(reason, "cannot resolve \"game\": the resolver thread died");
        }
    }

    #[test]
    fn a_late_lookup_is_not_started_twice_and_its_answer_goes_to_the_next_asker() {
        let test = TcpListener::bind("127.0.0.1:0").unwrap();
        let name = test.local_addr().unwrap().to_string();
        let host = Host::Name(name.clone());
        let mut resolver = Resolver::with(ask_the_test);

        for _ in 0..3 {
            let began = Instant::now();
            let reason = resolver.addresses(&host, PORT, Deadline::after(Duration::from_millis(20))).unwrap_err();
            assert_eq!(reason, format!("cannot resolve {name:?}: timed out after 0.02s"));
            assert!(began.elapsed() < Duration::from_secs(5));
        }
        let (mut lookup, _) = test.accept().unwrap();
        test.set_nonblocking(true).unwrap();
        assert_eq!(test.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock, "a second lookup was started");

        lookup.write_all(b"192.0.2.7 2001:db8::7").unwrap();
        drop(lookup);
        let addresses = resolver.addresses(&host, PORT, soon()).unwrap();
        assert_eq!(addresses, ["192.0.2.7:8085".parse().unwrap(), "[2001:db8::7]:8085".parse().unwrap()]);
        assert!(resolver.pending.is_empty());
    }
}
