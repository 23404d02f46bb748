//! The whole surface of the official Agones SDK against `agones-shim local-sdk`, the binary that SHIM_UNDER_TEST names.
//! Prints one line for each step; the first thing that is not as in a cluster ends it with 1.

use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use agones::{GameServer, Sdk};

/// The stream's type, which the SDK returns and does not name.
type WatchStream = tonic::Streaming<GameServer>;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Far longer than any step takes.
const PATIENCE: Duration = Duration::from_secs(20);

fn main() -> Outcome<()> {
    let binary = std::env::var_os("SHIM_UNDER_TEST").ok_or("SHIM_UNDER_TEST must name the agones-shim binary")?;
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/gameserver.yaml");
    let mut server = Command::new(binary)
        .args(["local-sdk", "--grpc", "127.0.0.1:0", "--http", "off", "--health", "off", "-f", manifest])
        .stdout(Stdio::piped())
        .spawn()?;
    let outcome = grpc_port(&mut server).and_then(|port| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async { tokio::time::timeout(3 * PATIENCE, surface(port)).await? })
    });
    server.kill()?;
    server.wait()?;
    outcome
}

/// Reads the port from the server's first line, and goes on reading beside.
fn grpc_port(server: &mut Child) -> Outcome<u16> {
    let mut lines = BufReader::new(server.stdout.take().ok_or("no stdout")?).lines();
    let first = lines.next().ok_or("the server said nothing")??;
    let address = first.strip_prefix("local-sdk: grpc listening on 127.0.0.1:").ok_or(first.clone())?;
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| println!("    {line}")));
    Ok(address.parse()?)
}

async fn surface(port: u16) -> Outcome<()> {
    let mut sdk = Sdk::new_with_host(Some("http://127.0.0.1".to_owned()), Some(port), None).await?;
    let mut watch = sdk.watch_gameserver().await?;

    step("get_gameserver");
    let game_server = sdk.get_gameserver().await?;
    let meta = game_server.object_meta.ok_or("no meta")?;
    let status = game_server.status.ok_or("no status")?;
    check(meta.name == "official" && meta.labels["mode"] == "test", "the manifest's meta")?;
    check(status.state == "Scheduled" && !status.address.is_empty(), "Scheduled with an address")?;
    check(status.ports.len() == 1 && status.ports[0].name == "game" && status.ports[0].port >= 7000, "a dynamic port")?;
    check(game_server.spec.and_then(|spec| spec.health).is_some_and(|health| health.period_seconds == 1), "health")?;
    wait_for(&mut watch, "Scheduled").await?;

    step("health_check: 4 s of beats every 0.4 s, at 1 s patience");
    let health = sdk.health_check();
    let beats = tokio::spawn(async move {
        while health.send(()).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(400)).await;
        }
    });
    tokio::time::sleep(Duration::from_secs(4)).await;
    check(state(&mut sdk).await? == "Scheduled", "healthy")?;

    step("ready");
    let called = Instant::now();
    sdk.ready().await?;
    check(state(&mut sdk).await? == "Scheduled", "only enqueued")?;
    wait_for(&mut watch, "RequestReady").await?;
    wait_for(&mut watch, "Ready").await?;
    check(called.elapsed() >= Duration::from_millis(500), "after the batch time")?;

    step("allocate");
    sdk.allocate().await?;
    wait_for(&mut watch, "Allocated").await?;

    step("reserve");
    sdk.reserve(Duration::from_secs(1)).await?;
    wait_for(&mut watch, "Reserved").await?;
    let reserved = Instant::now();
    wait_for(&mut watch, "Ready").await?;
    check(reserved.elapsed() >= Duration::from_millis(1400), "a second and a batch")?;

    step("set_label, set_annotation");
    sdk.set_label("map", "de_dust2").await?;
    sdk.set_annotation("note", "any text").await?;
    check(sdk.set_label("bad key", "x").await.is_err(), "a bad key is refused")?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        let meta = sdk.get_gameserver().await?.object_meta.ok_or("no meta")?;
        let label = meta.labels.get("agones.dev/sdk-map").is_some_and(|value| value == "de_dust2");
        if label && meta.annotations.get("agones.dev/sdk-note").is_some_and(|value| value == "any text") {
            break;
        }
        check(Instant::now() < deadline, "label and annotation never showed")?;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    counters(&mut sdk).await?;
    lists(&mut sdk).await?;

    step("shutdown");
    sdk.shutdown().await?;
    wait_for(&mut watch, "Shutdown").await?;
    sdk.ready().await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    check(state(&mut sdk).await? == "Shutdown", "nothing moves after Shutdown")?;
    beats.abort();
    step("all of it");
    Ok(())
}

async fn counters(sdk: &mut Sdk) -> Outcome<()> {
    step("counters");
    let mut beta = sdk.beta().clone();
    check(beta.get_counter_count("rooms").await? == 1, "the manifest's count")?;
    check(beta.get_counter_capacity("rooms").await? == 10, "the manifest's capacity")?;
    beta.increment_counter("rooms", 3).await?;
    beta.decrement_counter("rooms", 2).await?;
    check(beta.get_counter_count("rooms").await? == 2, "1 + 3 - 2, before the batch")?;
    beta.set_counter_capacity("rooms", 20).await?;
    beta.set_counter_count("rooms", 20).await?;
    check(beta.get_counter_count("rooms").await? == 20, "set")?;
    refused(beta.increment_counter("rooms", 1).await, "out of range. Count must be within range [0,Capacity]")?;
    refused(beta.set_counter_count("rooms", 21).await, "Found Count: 21, Capacity: 20")?;
    refused(beta.get_counter_count("nope").await, "counter not found: nope")
}

async fn lists(sdk: &mut Sdk) -> Outcome<()> {
    step("lists");
    let mut beta = sdk.beta().clone();
    check(beta.get_list_capacity("names").await? == 2, "the manifest's capacity")?;
    beta.append_list_value("names", "ann").await?;
    beta.append_list_value("names", "bob").await?;
    refused(beta.append_list_value("names", "cid").await, "out of range. No available capacity")?;
    beta.set_list_capacity("names", 3).await?;
    refused(beta.append_list_value("names", "bob").await, "already exists. Value: bob already in List: names")?;
    check(beta.list_contains("names", "ann").await?, "ann")?;
    beta.delete_list_value("names", "ann").await?;
    refused(beta.delete_list_value("names", "zoe").await, "not found: value zoe not in list names")?;
    check(beta.get_list_values("names").await? == ["bob"], "bob alone")?;
    check(beta.get_list_length("names").await? == 1, "one")?;
    refused(beta.get_list_values("nope").await, "list not found: nope")
}

async fn state(sdk: &mut Sdk) -> Outcome<String> {
    Ok(sdk.get_gameserver().await?.status.ok_or("no status")?.state)
}

async fn wait_for(watch: &mut WatchStream, wanted: &str) -> Outcome<()> {
    loop {
        let next = tokio::time::timeout(PATIENCE, watch.message()).await.map_err(|_| format!("never {wanted}"))?;
        let game_server = next?.ok_or("the watch ended")?;
        if game_server.status.ok_or("no status")?.state == wanted {
            return Ok(());
        }
    }
}

fn refused<T>(outcome: Result<T, agones::errors::Error>, wanted: &str) -> Outcome<()> {
    let error = outcome.err().ok_or(format!("not refused: {wanted}"))?;
    let text = format!("{error:?}");
    check(text.contains(wanted) && text.contains("Unknown"), &format!("{wanted} as UNKNOWN, not {text}"))
}

fn check(holds: bool, what: &str) -> Outcome<()> {
    if holds { Ok(()) } else { Err(what.into()) }
}

fn step(name: &str) {
    println!("{name}");
}
