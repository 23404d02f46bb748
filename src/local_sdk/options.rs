//! The arguments of `agones-shim local-sdk`. Pure; opens and resolves nothing.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use lexopt::Arg;

/// `agones-shim local-sdk --help`.
pub const HELP: &str = "\
agones-shim local-sdk: a local Agones SDK server that behaves like the cluster's

One GameServer in memory, served over gRPC and HTTP as Agones' sidecar does: state calls show after the batch time,
RequestReady becomes Ready, missed beats end in Unhealthy. Each call and each change is printed as one line.

Usage: agones-shim local-sdk [OPTION]...

  --grpc ADDR          gRPC address [127.0.0.1:9357]
  --http ADDR|off      HTTP address, with /local/... [127.0.0.1:9358]
  --health ADDR|off    address of /healthz and /gshealthz [127.0.0.1:8080]
  -f, --file FILE      GameServer or Fleet manifest, YAML or JSON
  --batch-ms N         time from a state call until it shows [500]
  --min-port N         first port for portPolicy Dynamic and Passthrough [7000]
  --max-port N         last one [8000]
  --grace-secs N       how long a stop waits for the GameServer to show Shutdown [10]
  --print-gameserver   print the GameServer as it was understood, and exit
  -h, --help           print this

ADDR is IP:PORT, localhost:PORT or PORT (on 127.0.0.1). Port 0 picks a free one; the lines
'local-sdk: grpc listening on IP:PORT' say which.

At SIGTERM or SIGINT it stays, as the cluster's does, until the GameServer of a game that beats shows Shutdown or the
grace is over, so that what ends together with it can drain. A second signal ends it at once.

On the HTTP address, for people and tests:
  GET  /                  a page that shows all of this live, and has buttons for the following
  POST /local/allocate    what the allocator does     POST /local/unhealthy   what a dead game leads to
  POST /local/delete      what kubectl delete does    POST /local/reset       everything as at the start
  POST /local/api-delay   a number of seconds for which the API server answers no write: what was queued waits,
                          GetGameServer and the Counter calls wait with it, beats are answered
  GET  /local/fleet-scale-down   whether a Fleet that shrinks would remove it, as JSON
  GET  /local/calls       the calls seen so far, as JSON
  GET  /local/watch       what the page shows, as JSON lines

A web page may change something only if it is this one, opened by an IP address or as localhost.
";

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Print the help.
    Help,
    /// Print the GameServer.
    PrintGameServer(Options),
    /// Serve.
    Serve(Options),
}

/// How to serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The gRPC side.
    pub grpc: SocketAddr,
    /// The HTTP side, unless it is off.
    pub http: Option<SocketAddr>,
    /// `/healthz` and `/gshealthz`, unless they are off.
    pub health: Option<SocketAddr>,
    /// The manifest.
    pub file: Option<PathBuf>,
    /// From a state call until it shows.
    pub batch: Duration,
    /// Where Dynamic and Passthrough ports come from.
    pub ports: RangeInclusive<u16>,
    /// How long a stop waits for the game's Shutdown().
    pub grace: Duration,
}

impl Default for Options {
    fn default() -> Self {
        let on_loopback = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        Self {
            grpc: on_loopback(9357),
            http: Some(on_loopback(9358)),
            health: Some(on_loopback(8080)),
            file: None,
            batch: Duration::from_millis(500),
            ports: 7000..=8000,
            grace: Duration::from_secs(10),
        }
    }
}

/// Reads the arguments that follow `local-sdk`.
///
/// # Errors
/// A message that names the argument, the value and what is allowed.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Command, String> {
    let mut parser = lexopt::Parser::from_args(args);
    let mut options = Options::default();
    let (mut min_port, mut max_port) = (*options.ports.start(), *options.ports.end());
    let mut print = false;
    while let Some(arg) = parser.next().map_err(|error| error.to_string())? {
        match arg {
            Arg::Long("grpc") => options.grpc = address("grpc", &value(&mut parser, "grpc")?)?,
            Arg::Long("http") => options.http = address_or_off("http", &value(&mut parser, "http")?)?,
            Arg::Long("health") => options.health = address_or_off("health", &value(&mut parser, "health")?)?,
            Arg::Short('f') | Arg::Long("file") => {
                options.file = Some(parser.value().map_err(|error| error.to_string())?.into());
            }
            Arg::Long("batch-ms") => {
                options.batch =
                    Duration::from_millis(number("batch-ms", &value(&mut parser, "batch-ms")?, 0..=3_600_000)?);
            }
            Arg::Long("grace-secs") => {
                options.grace =
                    Duration::from_secs(number("grace-secs", &value(&mut parser, "grace-secs")?, 0..=3600)?);
            }
            Arg::Long("min-port") => min_port = port("min-port", &value(&mut parser, "min-port")?)?,
            Arg::Long("max-port") => max_port = port("max-port", &value(&mut parser, "max-port")?)?,
            Arg::Long("print-gameserver") => print = true,
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Help),
            Arg::Value(text) => {
                return Err(format!("unexpected argument {}; a manifest is given with -f FILE", text.display()));
            }
            other => return Err(format!("{}; see agones-shim local-sdk --help", other.unexpected())),
        }
    }
    if min_port > max_port {
        return Err(format!("--min-port {min_port} is above --max-port {max_port}"));
    }
    options.ports = min_port..=max_port;
    Ok(if print { Command::PrintGameServer(options) } else { Command::Serve(options) })
}

fn value(parser: &mut lexopt::Parser, name: &str) -> Result<String, String> {
    let value = parser.value().map_err(|error| error.to_string())?;
    value.into_string().map_err(|raw| format!("--{name}: {} is not UTF-8", raw.display()))
}

fn address_or_off(name: &str, text: &str) -> Result<Option<SocketAddr>, String> {
    if text == "off" {
        return Ok(None);
    }
    address(name, text).map(Some).map_err(|error| format!("{error}, or off"))
}

/// Literals only: nothing here waits for a resolver.
fn address(name: &str, text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let digits = text.strip_prefix("localhost:").unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match digits.parse::<u16>() {
        Ok(port) if is_number => Ok((IpAddr::from(Ipv4Addr::LOCALHOST), port).into()),
        _ => Err(format!("--{name}: {text:?} is not an address; write 127.0.0.1:9357, [::]:9357 or 9357")),
    }
}

fn port(name: &str, text: &str) -> Result<u16, String> {
    number(name, text, 1..=65_535).map(|number| u16::try_from(number).unwrap_or(u16::MAX))
}

fn number(name: &str, text: &str, allowed: RangeInclusive<u64>) -> Result<u64, String> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(number) if is_number && allowed.contains(&number) => Ok(number),
        _ => Err(format!("--{name}: {text:?} is not a number from {} to {}", allowed.start(), allowed.end())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Command, String> {
        parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn without_arguments_it_takes_the_places_of_agones() {
        let Ok(Command::Serve(options)) = read("") else { panic!("serves") };
        assert_eq!(options, Options::default());
        assert_eq!(options.grpc.to_string(), "127.0.0.1:9357");
    }

    #[test]
    fn each_option_has_its_effect() {
        let line = "--grpc [::1]:0 --http=9000 --health off -f gs.yaml --batch-ms 20 --grace-secs 3 --min-port 7100 \
                    --max-port 7200";
        let Ok(Command::Serve(options)) = read(line) else { panic!("serves") };
        let wanted = Options {
            grpc: "[::1]:0".parse().expect("an address"),
            http: Some("127.0.0.1:9000".parse().expect("an address")),
            health: None,
            file: Some("gs.yaml".into()),
            batch: Duration::from_millis(20),
            ports: 7100..=7200,
            grace: Duration::from_secs(3),
        };
        assert_eq!(options, wanted);
        assert_eq!(read(&format!("{line} --print-gameserver")), Ok(Command::PrintGameServer(wanted)));
        assert_eq!(read("--batch-ms x --help"), Err("--batch-ms: \"x\" is not a number from 0 to 3600000".into()));
        assert_eq!(read("--help"), Ok(Command::Help));
    }

    #[test]
    fn errors_name_the_argument_the_value_and_what_is_allowed() {
        let write = "is not an address; write 127.0.0.1:9357, [::]:9357 or 9357";
        for (line, wanted) in [
            ("--grpc off", format!("--grpc: \"off\" {write}")),
            ("--grpc example.org:1", format!("--grpc: \"example.org:1\" {write}")),
            ("--http 70000", format!("--http: \"70000\" {write}, or off")),
            ("--health ::1:80:", format!("--health: \"::1:80:\" {write}, or off")),
            ("--min-port 0", "--min-port: \"0\" is not a number from 1 to 65535".into()),
            ("--batch-ms +5", "--batch-ms: \"+5\" is not a number from 0 to 3600000".into()),
            ("--min-port 9000", "--min-port 9000 is above --max-port 8000".into()),
            ("gs.yaml", "unexpected argument gs.yaml; a manifest is given with -f FILE".into()),
            ("--nope", "invalid option '--nope'; see agones-shim local-sdk --help".into()),
            ("-f", "missing argument for option '-f'".into()),
        ] {
            assert_eq!(read(line), Err(wanted), "{line}");
        }
    }

    #[test]
    fn the_help_names_every_default() {
        let Options { grpc, http, health, batch, ports, grace, .. } = Options::default();
        for default in [
            grpc.to_string(),
            http.expect("on").to_string(),
            health.expect("on").to_string(),
            batch.as_millis().to_string(),
            ports.start().to_string(),
            ports.end().to_string(),
            grace.as_secs().to_string(),
        ] {
            assert!(HELP.contains(&format!("[{default}]\n")), "{default}");
        }
    }
}
