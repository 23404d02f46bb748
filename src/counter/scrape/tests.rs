//! Against an endpoint that answers a scripted list, and the rhythm by a clock of its own.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle};

use super::*;
use crate::settings::{Host, HttpTarget};

const PLENTY: Duration = Duration::from_secs(30);

/// Answers one connection after the other, then closes its port.
fn endpoint(answers: Vec<String>) -> (CounterSettings, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let settings = settings(listener.local_addr().unwrap());
    let serve = move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            stream.set_read_timeout(Some(PLENTY)).unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            assert!(lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).count() > 1);
            // A client that has read enough goes.
            let _ = stream.write_all(answer.as_bytes());
        }
    };
    (settings, thread::spawn(serve))
}

fn settings(address: SocketAddr) -> CounterSettings {
    CounterSettings {
        name: Some("players".into()),
        source: Source::Metrics {
            url: HttpTarget {
                url: format!("http://{address}/metrics"),
                credentials: None,
                host: Host::Ip(address.ip()),
                port: address.port().try_into().unwrap(),
            },
            metric: "m".parse().unwrap(),
            missing_is_zero: false,
        },
        publish_capacity: false,
        interval: PLENTY,
        list: None,
    }
}

fn count(count: u64) -> Reading {
    Reading { count, ..Reading::default() }
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

#[test]
fn case_33_a_reading_or_the_reason_why_there_is_none() {
    let cases = [
        (ok("m 4\n"), Ok(4)),
        (ok("# HELP m m 5\r\nm{a=\"1\"} 1.5\r\nm{a=\"2\"} 2"), Ok(4)),
        (ok("m NaN"), Err("metric \"m\" is NaN")),
        (ok("m_max 9"), Err("metric \"m\" not found")),
        ("HTTP/1.1 500 Oops\r\nContent-Length: 3\r\n\r\nm 4".into(), Err("HTTP 500")),
        ("HTTP/1.1 206 Partial\r\nContent-Length: 3\r\n\r\nm 4".into(), Err("HTTP 206")),
        ("HTTP/1.1 302 Found\r\nLocation: /m\r\n\r\n".into(), Err("HTTP 302 to /m")),
        ("m 4\n".into(), Err("not a valid HTTP answer: invalid HTTP version")),
        (ok(&"m 4\n".repeat(BODY_CAP / 4 + 1)), Err("the metrics are more than 16 MiB")),
    ];
    let (settings, endpoint) = endpoint(cases.iter().map(|(answer, _)| answer.clone()).collect());
    let mut resolver = Resolver::new();
    for (answer, wanted) in cases {
        let shown = answer.chars().take(60).collect::<String>();
        assert_eq!(
            scrape(&settings, None, &mut Program::default(), &mut resolver),
            wanted.map(count).map_err(str::to_owned),
            "{shown:?}"
        );
    }
    endpoint.join().unwrap();
    assert_eq!(scrape(&settings, None, &mut Program::default(), &mut resolver), Err("connection refused".into()));
}

#[test]
fn a_metric_that_is_missing_is_zero_only_where_that_is_set_and_the_text_is_whole() {
    let chunked = |body: &str| format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}");
    let zero = || Ok(Reading { missing: true, ..Reading::default() });
    let not_found = "metric \"m\" not found";
    let cases: Vec<(String, Result<Reading, String>)> = vec![
        (ok(""), zero()),
        (ok("# HELP m Players.\n# TYPE m gauge\n"), zero()),
        (ok("other{a=\"}\"} 1\r\n\r\n# EOF"), zero()),
        (chunked("8\r\nother 1\n\r\n0\r\n\r\n"), zero()),
        (ok("m 4\nother"), Ok(count(4))),
        (ok("m NaN\n"), Err("metric \"m\" is NaN".into())),
        (ok("m oops\n"), Err("metric \"m\" is malformed (line 1)".into())),
        (ok("other 1\nothe"), Err(format!("{not_found}, and line 2 is cut or is no metrics text"))),
        (ok("other 1\n#"), Err(format!("{not_found}, and line 2 is cut or is no metrics text"))),
        (ok("<html>It works!</html>\n"), Err(format!("{not_found}, and line 1 is cut or is no metrics text"))),
        (ok("{\"players\":0}\n"), Err(format!("{not_found}, and line 1 is cut or is no metrics text"))),
        (
            "HTTP/1.1 200 OK\r\n\r\nother 1\n".into(),
            Err(format!("{not_found}, and the answer has no length, so it may have been cut")),
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nother 1\n".into(),
            Err("connection closed before the answer was complete".into()),
        ),
        (chunked("8\r\nother 1\n\r\n"), Err("connection closed before the answer was complete".into())),
        ("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n".into(), Err("HTTP 500".into())),
        ("HTTP/1.1 204 No Content\r\n\r\n".into(), Err("HTTP 204".into())),
        (ok(&"other 4\n".repeat(BODY_CAP / 8 + 1)), Err("the metrics are more than 16 MiB".into())),
    ];
    let (mut settings, endpoint) = endpoint(cases.iter().map(|(answer, _)| answer.clone()).collect());
    let Source::Metrics { missing_is_zero, .. } = &mut settings.source else { panic!("{settings:?}") };
    *missing_is_zero = true;
    for (answer, wanted) in cases {
        let shown = answer.chars().take(90).collect::<String>();
        assert_eq!(scrape(&settings, None, &mut Program::default(), &mut Resolver::new()), wanted, "{shown:?}");
    }
    endpoint.join().unwrap();
}

#[test]
fn the_interval_is_the_deadline_when_it_is_the_shorter_one() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let interval = Duration::from_millis(100);
    let settings = CounterSettings { interval, ..settings(listener.local_addr().unwrap()) };
    let began = Instant::now();
    assert_eq!(
        scrape(&settings, None, &mut Program::default(), &mut Resolver::new()),
        Err("timed out after 0.1s".into())
    );
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[test]
fn it_scrapes_at_once_then_at_every_interval_and_stops_with_its_handle() {
    let rounds = 10;
    let (settings, endpoint) = endpoint((0..rounds).map(|round| ok(&format!("m {round}"))).collect());
    let interval = Duration::from_millis(100);
    let settings = CounterSettings { interval, ..settings };
    let (sender, events) = channel();
    let began = Instant::now();
    let scrape = spawn(3, &settings, None, sender).unwrap();
    for round in 0..rounds {
        assert_eq!(events.recv_timeout(PLENTY).unwrap(), Event::Scraped { source: 3, outcome: Ok(count(round)) });
        let rounds = u32::try_from(round).unwrap();
        assert!(began.elapsed() + Duration::from_millis(1) >= interval * rounds, "round {round} came too early");
    }
    endpoint.join().unwrap();
    assert_eq!(
        events.recv_timeout(PLENTY).unwrap(),
        Event::Scraped { source: 3, outcome: Err("connection refused".into()) }
    );
    drop(scrape);
    let gone = std::iter::repeat_with(|| events.recv_timeout(PLENTY)).take(100).find_map(Result::err);
    assert_eq!(gone, Some(RecvTimeoutError::Disconnected), "it goes on without its handle");
}

#[test]
fn it_stops_when_nobody_listens_to_it() {
    let (settings, endpoint) = endpoint(vec![ok("m 1")]);
    let (sender, events) = channel();
    drop(events);
    let (_handle, told) = channel();
    let (ended, end) = channel();
    thread::spawn(move || {
        run(0, &settings, None, &sender, &told);
        let _ = ended.send(());
    });
    assert_eq!(end.recv_timeout(PLENTY / 2), Ok(()), "it goes on for nobody");
    endpoint.join().unwrap();
}

#[test]
fn the_rhythm_neither_drifts_nor_catches_up() {
    let start = Instant::now();
    let second = Duration::from_secs(1);
    for (took, wanted) in [(0.0, 1), (0.3, 1), (0.999, 1), (1.0, 2), (1.2, 2), (7.5, 8)] {
        let now = start + Duration::from_secs_f64(took);
        assert_eq!(next(start, now, second), start + second * wanted, "a scrape that took {took} s");
    }
    let _ = next(start, start + PLENTY, Duration::from_nanos(1));
    let _ = next(start, start, Duration::from_secs(10 * 366 * 24 * 60 * 60));
}

#[test]
fn a_program_prints_a_count_or_a_count_and_a_capacity() {
    let reading = |count, capacity| Ok(Reading { count, capacity, ..Reading::default() });
    assert_eq!(printed("5"), reading(5, None));
    assert_eq!(printed(" 5\t16 "), reading(5, Some(16)));
    assert_eq!(printed("0 0"), reading(0, Some(0)));
    assert_eq!(printed(""), Err("it has printed nothing (print COUNT, or COUNT CAPACITY)".into()));
    for line in ["five", "-1", "+5", "5 16 1", "5/16", "5.0", "99999999999999999999", "٥"] {
        assert_eq!(printed(line), Err("its last line is not COUNT, or COUNT CAPACITY, in digits".into()), "{line}");
    }
}
