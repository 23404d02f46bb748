//! The listening sockets of the status endpoint.
//!
//! Opening them can fail and they can be lost: that is told and nothing else.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::time::Duration;

use nix::libc;

use crate::net::deadline::Deadline;
use crate::net::resolve::Resolver;
use crate::settings::StatusAddr;

/// For a name in `AGONES_SHIM_STATUS_ADDR`; it holds up nothing but the endpoint.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(2);

/// Opens all sockets of an address, non-blocking.
///
/// # Errors
/// For people: which address, and why not.
pub fn open(addr: &StatusAddr, resolver: &mut Resolver) -> Result<Vec<TcpListener>, String> {
    match addr {
        StatusAddr::AllAddresses(port) => {
            let v6 = SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), port.get());
            let v4 = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port.get());
            match listen(v6) {
                // Linux gives it IPv4 too, unless net.ipv6.bindv6only says otherwise: then that is still free.
                Ok(both) => Ok(std::iter::once(both).chain(listen(v4)).collect()),
                Err(error) if is_absent(&error) => listen(v4).map(|only| vec![only]).map_err(|error| tell(v4, &error)),
                Err(error) => Err(tell(v6, &error)),
            }
        }
        StatusAddr::Host(host, port) => {
            let addresses = resolver.addresses(host, *port, Deadline::after(RESOLVE_TIMEOUT))?;
            let mut open = Vec::new();
            let mut absent = None;
            for address in addresses {
                match listen(address) {
                    Ok(listener) => open.push(listener),
                    Err(error) if is_absent(&error) => absent = Some(tell(address, &error)),
                    Err(error) => return Err(tell(address, &error)),
                }
            }
            match absent {
                Some(error) if open.is_empty() => Err(error),
                _ => Ok(open),
            }
        }
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// This host does not have the address, or not the whole family.
fn is_absent(error: &io::Error) -> bool {
    error.kind() == ErrorKind::AddrNotAvailable || error.raw_os_error() == Some(libc::EAFNOSUPPORT)
}

fn tell(address: SocketAddr, error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::AddrInUse => format!("{address}: the port is in use"),
        ErrorKind::PermissionDenied => format!("{address}: not allowed (ports below 1024 need a capability)"),
        _ => format!("{address}: {error}"),
    }
}
