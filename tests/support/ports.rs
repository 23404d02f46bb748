//! Ports that belong to one test, whether something listens on them or not.
//!
//! A port that was merely found free is free for everybody: another test, or the kernel for the near end of
//! any outgoing connection (a probe can then even connect to itself). A [`Port`] stays bound, without
//! listening, for as long as it lives: connecting to it is refused, nobody else is given it, and a listener
//! with SO_REUSEADDR (std's and gRPC's have it) may be opened on it and closed again at any time.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use nix::libc;

/// A reserved port of a loopback address, TCP unless told otherwise.
#[derive(Debug)]
pub struct Port {
    addr: SocketAddr,
    bound: OwnedFd,
}

impl Port {
    /// One of 127.0.0.1.
    pub fn reserve() -> Self {
        Self::reserve_on(IpAddr::V4(Ipv4Addr::LOCALHOST))
    }

    /// One of ::1, where there is IPv6.
    pub fn reserve_v6() -> Self {
        Self::reserve_on(IpAddr::V6(Ipv6Addr::LOCALHOST))
    }

    fn reserve_on(ip: IpAddr) -> Self {
        bind_without_listening(SocketAddr::new(ip, 0)).unwrap_or_else(|error| panic!("no port on {ip}: {error}"))
    }

    /// A UDP port of 127.0.0.1: a datagram to it is refused (by ICMP), until it is opened.
    pub fn reserve_udp() -> Self {
        Self::reserve_udp_on(Ipv4Addr::LOCALHOST.into())
    }

    /// The same of ::1.
    pub fn reserve_udp_v6() -> Self {
        Self::reserve_udp_on(Ipv6Addr::LOCALHOST.into())
    }

    fn reserve_udp_on(ip: IpAddr) -> Self {
        let port =
            bind(SocketAddr::new(ip, 0), libc::SOCK_DGRAM).unwrap_or_else(|error| panic!("no port on {ip}: {error}"));
        // Connected to somebody else (the discard port), it takes nobody's datagrams.
        let socket = UdpSocket::from(port.bound.try_clone().expect("a descriptor is left"));
        socket.connect(SocketAddr::new(ip, 9)).expect("UDP connects to anything");
        port
    }

    /// A socket on a reserved UDP port: datagrams arrive from now on, until it is dropped.
    pub fn open_udp(&self) -> UdpSocket {
        bind(self.addr, libc::SOCK_DGRAM).expect("both sockets share the address").bound.into()
    }

    /// The same number on ::1, where nobody has it: for tests about `localhost`. `None` when it is taken.
    pub fn twin_v6(&self) -> Option<Self> {
        bind_without_listening(SocketAddr::new(IpAddr::V6(Ipv6Addr::LOCALHOST), self.number())).ok()
    }

    /// Its number.
    pub fn number(&self) -> u16 {
        self.addr.port()
    }

    /// Where a listener on it binds.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }
}

/// Opens a UDP port of 127.0.0.1 that a [`Port`] keeps, in this process or another.
pub fn open_udp(port: u16) -> UdpSocket {
    bind((Ipv4Addr::LOCALHOST, port).into(), libc::SOCK_DGRAM).expect("both sockets share the address").bound.into()
}

fn bind_without_listening(wanted: SocketAddr) -> io::Result<Port> {
    bind(wanted, libc::SOCK_STREAM)
}

fn bind(wanted: SocketAddr, kind: libc::c_int) -> io::Result<Port> {
    let family = if wanted.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    // SAFETY: plain socket(2); the result is checked.
    let fd = unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just created and belongs to nobody else.
    let bound = unsafe { OwnedFd::from_raw_fd(fd) };
    set_option(&bound, libc::SOL_SOCKET, libc::SO_REUSEADDR)?;
    let mut addr = wanted;
    match &mut addr {
        SocketAddr::V4(v4) => {
            // SAFETY: all zeros is a valid sockaddr_in.
            let mut raw: libc::sockaddr_in = unsafe { std::mem::zeroed() };
            raw.sin_family = family_number(family);
            raw.sin_port = v4.port().to_be();
            raw.sin_addr.s_addr = u32::from(*v4.ip()).to_be();
            bind_and_read_back(&bound, &mut raw)?;
            v4.set_port(u16::from_be(raw.sin_port));
        }
        SocketAddr::V6(v6) => {
            set_option(&bound, libc::IPPROTO_IPV6, libc::IPV6_V6ONLY)?;
            // SAFETY: all zeros is a valid sockaddr_in6.
            let mut raw: libc::sockaddr_in6 = unsafe { std::mem::zeroed() };
            raw.sin6_family = family_number(family);
            raw.sin6_port = v6.port().to_be();
            raw.sin6_addr.s6_addr = v6.ip().octets();
            bind_and_read_back(&bound, &mut raw)?;
            v6.set_port(u16::from_be(raw.sin6_port));
        }
    }
    Ok(Port { addr, bound })
}

fn family_number(family: libc::c_int) -> libc::sa_family_t {
    libc::sa_family_t::try_from(family).expect("address families are small numbers")
}

fn set_option(socket: &OwnedFd, level: libc::c_int, name: libc::c_int) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the value is an int that lives across the call, and its size is passed.
    let code = unsafe {
        libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const on).cast(), size_of_socklen::<libc::c_int>())
    };
    if code == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn bind_and_read_back<A>(socket: &OwnedFd, addr: &mut A) -> io::Result<()> {
    let mut len = size_of_socklen::<A>();
    let raw: *mut A = addr;
    // SAFETY: `raw` is a sockaddr of the socket's family, `len` its size; getsockname writes no more than that.
    let code = unsafe {
        match libc::bind(socket.as_raw_fd(), raw.cast(), len) {
            0 => libc::getsockname(socket.as_raw_fd(), raw.cast(), &raw mut len),
            refused => refused,
        }
    };
    if code == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn size_of_socklen<T>() -> libc::socklen_t {
    libc::socklen_t::try_from(size_of::<T>()).expect("a sockaddr is small")
}
