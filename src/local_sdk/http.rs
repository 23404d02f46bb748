//! The HTTP sides: the SDK as JSON, and the health port. Each request has a
//! thread of its own, so that one that dawdles holds up nobody.
//!
//! A development tool's server: bounded in memory, in threads and in the time for a write, not in that for a request.

use std::io::{self, Read as _, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use tiny_http::{HTTPVersion, Header, Request, Response};

use super::json;
use super::origin;
use super::request::{Code, Outcome, Refusal, Reply, Request as Call};
use super::routes::{self, Route};
use super::server::{Door, VIEW_ROOM, WATCH_ROOM};
use crate::insight::page;

/// The largest body that is read; a List of 1000 long values fits many times.
const MAX_BODY: usize = 1 << 20;
/// The largest body that is thrown away by reading on.
const MAX_DRAINED: usize = 1 << 30;
/// So many requests at a time.
const MAX_THREADS: usize = 256;
/// For a client that reads nothing: after that it has gone.
const WRITE_DEADLINE: Duration = Duration::from_secs(10);
/// How long accepting pauses when the system has no descriptor left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What one side does with a request.
pub type Handler = fn(&Door, Request);

/// Starts serving.
///
/// # Errors
/// The system has no thread left.
pub fn serve(listener: TcpListener, door: Door, handler: Handler) -> io::Result<()> {
    // A connection inherits it, and tiny_http has no other way to its sockets.
    TcpStream::from(OwnedFd::from(listener.try_clone()?)).set_write_timeout(Some(WRITE_DEADLINE))?;
    thread::Builder::new().name("local-sdk-http".into()).spawn(move || accept(&listener, &door, handler)).map(drop)
}

/// Any error ends tiny_http's accepting; the listener outlives it.
fn accept(listener: &TcpListener, door: &Door, handler: Handler) {
    let running = Arc::new(());
    loop {
        if let Some(server) = listener.try_clone().ok().and_then(|own| tiny_http::Server::from_listener(own, None).ok())
        {
            while let Ok(request) = server.recv() {
                let token = Arc::clone(&running);
                let door = door.clone();
                let mut thread = None;
                if Arc::strong_count(&running) <= MAX_THREADS {
                    let named = thread::Builder::new().name("local-sdk-request".into());
                    thread = named
                        .spawn(move || {
                            handler(&door, request);
                            drop(token);
                        })
                        .ok();
                }
                // Without a thread the request is dropped, which answers 500.
                drop(thread);
            }
        }
        thread::sleep(ACCEPT_PAUSE);
    }
}

/// Answers one request of the SDK's side.
pub fn answer_sdk(door: &Door, mut request: Request) {
    if let Err(refusal) = origin::check(request.method().as_str(), values(&request, "Origin"), values(&request, "Host"))
    {
        return respond(request, refusal.code.http_status(), json::refusal(&refusal));
    }
    let body = match read_body(&mut request) {
        Ok(body) => body,
        Err((status, message)) => {
            let refusal = Refusal { code: Code::InvalidArgument, message };
            return respond(request, status, json::refusal(&refusal));
        }
    };
    let outcome = match routes::route(request.method().as_str(), request.url(), &body) {
        Ok(Route::Watch) => return watch(door, request),
        Ok(Route::View) => return view(door, request),
        Ok(Route::Page) => return show_page(door, request),
        Ok(Route::Beats(0)) => return respond(request, 400, String::new()),
        Ok(Route::Beats(number)) => {
            (0..number).map(|_| door.call(&Call::Health)).find(Result::is_err).unwrap_or(Ok(Reply::Empty))
        }
        Ok(Route::Calls) => door.calls(),
        Ok(Route::Call(call)) => door.call(&call),
        Err(refusal) => Err(refusal),
    };
    match outcome {
        Ok(reply) => respond(request, 200, json::reply(&reply)),
        Err(refusal) => respond(request, refusal.code.http_status(), json::refusal(&refusal)),
    }
}

/// Answers one request of the health port: the kubelet's two questions.
pub fn answer_health(door: &Door, request: Request) {
    let path = request.url().split('?').next().unwrap_or_default();
    let healthy = match path {
        "/healthz" => true,
        "/gshealthz" => door.is_healthy(),
        _ => return drop(request.respond(Response::from_string("404 page not found\n").with_status_code(404))),
    };
    let (status, body) = if healthy { (200, "ok") } else { (500, "") };
    drop(request.respond(Response::from_string(body).with_status_code(status)));
}

fn read_body(request: &mut Request) -> Result<Vec<u8>, (u16, String)> {
    let too_large = || (413, format!("the body is larger than {MAX_BODY} bytes"));
    if request.body_length().is_some_and(|length| length > MAX_BODY) {
        return Err(too_large());
    }
    let mut body = Vec::new();
    let limit = u64::try_from(MAX_BODY).unwrap_or(u64::MAX).saturating_add(1);
    match request.as_reader().take(limit).read_to_end(&mut body) {
        Ok(length) if length > MAX_BODY => Err(too_large()),
        Ok(_) => Ok(body),
        Err(error) => Err((400, format!("the body could not be read: {error}"))),
    }
}

fn respond(request: Request, status: u16, body: String) {
    let mut response = Response::from_string(body).with_status_code(status);
    response.add_header(json_type());
    if request.body_length().is_some_and(|length| length > MAX_DRAINED) {
        return refuse_terabytes(request, response);
    }
    // A client that has gone needs no answer.
    drop(request.respond(response));
}

/// tiny_http throws the rest of a body away by allocating room for all of it.
/// That is address space and no memory while the length is sane; a length of
/// terabytes would end the process. So the reader of such a body is never
/// dropped, at the price of its connection. The one way to a writer that leaves
/// the reader alone writes a head first: an interim one, which clients skip.
fn refuse_terabytes(request: Request, response: Response<io::Cursor<Vec<u8>>>) {
    let mut stream = request.upgrade("none", Response::empty(103));
    let _ = response.raw_print(&mut stream, HTTPVersion(1, 1), &[], false, None).and_then(|()| stream.flush());
    std::mem::forget(stream);
}

fn values<'a>(request: &'a Request, name: &'static str) -> impl Iterator<Item = &'a str> {
    request.headers().iter().filter(move |header| header.field.equiv(name)).map(|header| header.value.as_str())
}

fn show_page(door: &Door, request: Request) {
    let Ok(Reply::Text(page)) = door.page() else { return respond(request, 503, String::new()) };
    let headers = [
        ("Content-Type", "text/html; charset=utf-8"),
        ("Content-Security-Policy", &page::policy()),
        ("Cache-Control", "no-store"),
    ];
    let response = headers
        .iter()
        .fold(Response::from_string(page), |response, (name, value)| response.with_header(header(name, value)));
    drop(request.respond(response));
}

fn watch(door: &Door, request: Request) {
    let (watcher, changes) = sync_channel(WATCH_ROOM);
    door.watch(watcher);
    stream(request, &mut changes.iter().map(|game_server| json::watch_line(&game_server)));
}

fn view(door: &Door, request: Request) {
    let (viewer, frames) = sync_channel::<Outcome>(VIEW_ROOM);
    door.view(viewer);
    stream(request, &mut frames.iter().filter_map(|frame| frame.ok().map(|frame| json::reply(&frame))));
}

/// A stream of JSON lines, each flushed: tiny_http's own chunks wait for 8 KiB.
fn stream(request: Request, lines: &mut dyn Iterator<Item = String>) {
    let chunked = *request.http_version() >= (1, 1);
    // An error is a client that has gone.
    let _ = write_lines(&mut request.into_writer(), lines, chunked);
}

fn write_lines(writer: &mut dyn Write, lines: &mut dyn Iterator<Item = String>, chunked: bool) -> io::Result<()> {
    writer.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")?;
    writer.write_all(if chunked { b"Transfer-Encoding: chunked\r\n\r\n" } else { b"Connection: close\r\n\r\n" })?;
    writer.flush()?;
    for line in lines {
        if chunked {
            write!(writer, "{:x}\r\n{line}\r\n", line.len())?;
        } else {
            writer.write_all(line.as_bytes())?;
        }
        writer.flush()?;
    }
    if chunked {
        writer.write_all(b"0\r\n\r\n")?;
    }
    writer.flush()
}

fn json_type() -> Header {
    header("Content-Type", "application/json")
}

fn header(name: &str, value: &str) -> Header {
    Header::from_bytes(name, value).expect("both are ASCII")
}
