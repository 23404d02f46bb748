//! Picks the ports of the host for a GameServer and keeps them for it.
//!
//! A port is kept by the name of an abstract Unix socket, not by binding it:
//! the game has to bind it. The kernel gives the name back when the server
//! ends, however it ends, so that two servers on one machine never pick the
//! same port and none is ever lost.

use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::ops::RangeInclusive;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use crate::manifest::spec::{PortPolicy, PortSpec, Protocol};

/// The ports of one GameServer. Dropping it hands them back.
#[derive(Debug, Default)]
pub struct Ports {
    /// By name, as `status.ports` lists them.
    pub listed: Vec<(String, u16)>,
    kept: Vec<UnixDatagram>,
}

impl Ports {
    /// `default=7000, query=7001`, for people.
    #[must_use]
    pub fn describe(&self) -> String {
        let each: Vec<_> = self.listed.iter().map(|(name, port)| format!("{name}={port}")).collect();
        if each.is_empty() { "none".to_owned() } else { each.join(", ") }
    }
}

/// Picks a port for each of the GameServer's.
///
/// # Errors
/// The range has no free port left. What was picked before is handed back.
pub fn pick(specs: &[PortSpec], range: &RangeInclusive<u16>) -> Result<Ports, String> {
    let mut ports = Ports::default();
    for spec in specs {
        let port = match spec.policy {
            PortPolicy::None => spec.container_port.unwrap_or(0),
            PortPolicy::Static => spec.host_port.unwrap_or(0),
            PortPolicy::Dynamic | PortPolicy::Passthrough => {
                let (port, kept) = range
                    .clone()
                    .filter(|port| is_free(spec.protocol, *port))
                    .find_map(|port| Some((port, keep(port)?)))
                    .ok_or_else(|| {
                        format!("no port from {} to {} is free for {:?}", range.start(), range.end(), spec.name)
                    })?;
                ports.kept.push(kept);
                port
            }
        };
        match spec.protocol {
            // Agones makes two ports of one that speaks both.
            Protocol::TcpUdp => {
                ports.listed.push((format!("{}-tcp", spec.name), port));
                ports.listed.push((format!("{}-udp", spec.name), port));
            }
            Protocol::Tcp | Protocol::Udp => ports.listed.push((spec.name.clone(), port)),
        }
    }
    Ok(ports)
}

fn is_free(protocol: Protocol, port: u16) -> bool {
    let tcp = || TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok();
    let udp = || UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok();
    match protocol {
        Protocol::Tcp => tcp(),
        Protocol::Udp => udp(),
        Protocol::TcpUdp => tcp() && udp(),
    }
}

fn keep(port: u16) -> Option<UnixDatagram> {
    let name = SocketAddr::from_abstract_name(format!("agones-shim/local-sdk/port/{port}")).ok()?;
    UnixDatagram::bind_addr(&name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(name: &str, policy: PortPolicy, protocol: Protocol) -> PortSpec {
        PortSpec { name: name.into(), policy, protocol, host_port: Some(81), container_port: Some(80) }
    }

    /// A port that was free a moment ago.
    fn free_port() -> u16 {
        UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).and_then(|socket| socket.local_addr()).expect("a port").port()
    }

    #[test]
    fn a_port_is_nobody_elses_until_it_is_handed_back() {
        let port = free_port();
        let one = [spec("game", PortPolicy::Dynamic, Protocol::Udp)];
        let first = pick(&one, &(port..=port)).expect("free");
        assert_eq!(first.listed, [("game".to_owned(), port)]);
        UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port)).expect("the game itself can bind it");
        let refusal = pick(&one, &(port..=port)).expect_err("taken");
        assert_eq!(refusal, format!("no port from {port} to {port} is free for \"game\""));
        drop(first);
        pick(&one, &(port..=port)).expect("handed back");
    }

    #[test]
    fn a_step_that_fails_hands_back_what_was_picked_before() {
        let port = free_port();
        let one = spec("a", PortPolicy::Passthrough, Protocol::Udp);
        let two = [one.clone(), spec("b", PortPolicy::Dynamic, Protocol::Udp)];
        pick(&two, &(port..=port)).expect_err("one port for two");
        pick(&[one], &(port..=port)).expect("handed back");
    }

    #[test]
    fn a_port_that_somebody_has_bound_is_not_picked() {
        let taken = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a port");
        let port = taken.local_addr().expect("bound").port();
        pick(&[spec("a", PortPolicy::Dynamic, Protocol::Udp)], &(port..=port)).expect_err("bound");
        pick(&[spec("a", PortPolicy::Dynamic, Protocol::TcpUdp)], &(port..=port)).expect_err("one of both is bound");
    }

    #[test]
    fn the_other_policies_pick_nothing() {
        let specs = [spec("s", PortPolicy::Static, Protocol::TcpUdp), spec("n", PortPolicy::None, Protocol::Tcp)];
        let ports = pick(&specs, &(1..=1)).expect("named");
        assert_eq!(ports.describe(), "s-tcp=81, s-udp=81, n=80");
        assert_eq!(Ports::default().describe(), "none");
    }
}
