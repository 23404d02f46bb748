//! Development only: the wrapper's edges wired up without the machine, until the runtime exists.
//!
//! Stops with the stop signal at once and leaves when the group is empty; `NO_STOP=1` never leaves on its own child.

use std::ffi::OsString;
use std::sync::mpsc;
use std::time::Duration;

use agones_shim::exit::ExitReason;
use agones_shim::machine::Event;
use agones_shim::settings::{Hup, StopHook, StopScope, StopSettings, StopSignal};
use agones_shim::{hook, signal};

fn main() {
    let blocked = signal::block();
    let argv: Vec<OsString> = std::env::args_os().skip(1).filter(|argument| argument != "--").collect();
    let var = |name: &str| std::env::var(format!("AGONES_SHIM_{name}")).unwrap_or_default();
    let number = match var("STOP_SIGNAL").as_str() {
        "INT" => 2,
        "QUIT" => 3,
        _ => 15,
    };
    let stop = StopSettings {
        signal: StopSignal { number, name: String::new() },
        hup: if var("HUP") == "pass" { Hup::Pass } else { Hup::Stop },
        timeout: None,
        scope: if var("STOP_SCOPE") == "child" { StopScope::Child } else { StopScope::Group },
    };
    let (sender, events) = mpsc::channel();
    let mut processes = blocked.wrapper(std::env::vars_os(), stop.clone(), sender.clone()).expect("wrapper");
    if var("WAIT_FOR_SDK") == "1" {
        let env = std::sync::Arc::new(grpcio::EnvBuilder::new().cq_count(1).build());
        let channel = grpcio::ChannelBuilder::new(env).connect("ipv4:127.0.0.1:9");
        assert!(!futures_executor::block_on(channel.wait_for_connected(Duration::from_millis(200))));
        std::mem::forget(channel);
    }
    let child = match processes.start_child(&argv, vec![]) {
        Ok(child) => child,
        Err(error) => {
            eprintln!("agones-shim: {error}");
            std::process::exit(error.reason.code().into());
        }
    };
    let (mut end, mut stopping) = (None, false);
    for event in events {
        if var("VERBOSE") == "1" {
            eprintln!("{event:?}");
        }
        stopping |= event == Event::StopRequested;
        match event {
            Event::StopRequested if var("STOP_HOOK").is_empty() => child.send_stop_signal(&stop),
            Event::StopRequested => {
                let hook = StopHook {
                    argv: var("STOP_HOOK").split(' ').map(str::to_owned).collect(),
                    timeout: Duration::from_secs(1),
                };
                hook::start(&mut processes, &hook, "signal", Some(child.pid()), sender.clone());
            }
            Event::HookEnded(how) => {
                eprintln!("{how:?}");
                child.send_stop_signal(&stop);
            }
            Event::ChildEnded { end: how, .. } => {
                end = Some(how);
                if !stopping {
                    child.terminate_group();
                }
            }
            Event::GroupEmpty => break,
            _ => {}
        }
    }
    std::process::exit(end.map_or(70, |end| ExitReason::Child(end).code()).into());
}
