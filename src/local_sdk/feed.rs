//! What the page shows beside the GameServer as it is: what has happened lately, the states that it came through, and
//! its numbers over the last ten minutes. Pure; every part of it is bounded, whatever happens how often.
//!
//! Viewers get frames, at most 25 a second however much happens: one line of JSON with all that is new.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::time::Duration;

use super::change::Change;
use super::gameserver::GameServer;
use super::json::{self, Writer};
use super::request::Request;

/// So many calls and changes are remembered, and shown to a new viewer.
const NEWS: usize = 200;
/// So many of them are in one frame.
const NEWS_A_FRAME: usize = 50;
/// So many characters of each.
const MAX_TEXT: usize = 240;
/// So many states: the newest ones.
const TRAIL: usize = 24;
/// So many Counters and Lists have a line.
const LINES: usize = 48;
/// How far back a line goes.
const SPAN: Duration = Duration::from_secs(600);
/// A line has at most one point in this time.
const STEP: Duration = Duration::from_secs(2);
/// Between two frames.
const FRAME: Duration = Duration::from_millis(40);
/// A frame comes even where nothing happens: it finds out who has gone, on both sides.
const STILL_THERE: Duration = Duration::from_secs(5);

/// One call or one change.
#[derive(Debug)]
struct News {
    number: u64,
    at: Duration,
    /// The first of several in a row that are the same.
    since: Duration,
    times: u64,
    topic: &'static str,
    text: String,
    /// Why a call was refused; else empty.
    reason: String,
}

/// The record.
#[derive(Debug, Default)]
pub struct Feed {
    news: VecDeque<News>,
    next: u64,
    /// News from this number on have not been in a frame.
    unsent: u64,
    trail: VecDeque<(&'static str, Duration)>,
    /// When a number has become what it is; by `C.name` for Counters and `L.name` for Lists.
    lines: BTreeMap<String, VecDeque<(Duration, i64)>>,
    beats: u64,
    /// Counts the GameServers: a line of one is none of the next.
    life: u64,
    is_dirty: bool,
    has_moved: bool,
    last_frame: Duration,
}

impl Feed {
    /// A new GameServer: nothing of the one before it but what has happened.
    pub fn begin(&mut self, now: Duration, game_server: &GameServer) {
        self.trail.clear();
        self.lines.clear();
        self.beats = 0;
        self.life += 1;
        self.step(now, game_server.state().as_str());
        self.sample(now, game_server);
    }

    /// A call, with the reason where it was refused.
    pub fn call(&mut self, now: Duration, request: &Request, reason: &str) {
        self.beats += u64::from(*request == Request::Health);
        self.push(now, if reason.is_empty() { "call" } else { "refused" }, &request.to_string(), reason);
    }

    /// Changes, and the GameServer after them.
    pub fn changed(&mut self, now: Duration, changes: &[Change], game_server: &GameServer) {
        for change in changes {
            match change {
                Change::State { to, .. } => self.step(now, to.as_str()),
                Change::Deleted { .. } => self.step(now, "Deleted"),
                Change::Counter(..) | Change::List(..) => self.sample(now, game_server),
                _ => {}
            }
            self.push(now, change.topic(), &change.to_string(), "");
            self.has_moved |= change.shows();
        }
    }

    /// When the next frame is due, if anybody looks.
    #[must_use]
    pub fn due(&self) -> Duration {
        self.last_frame + if self.is_dirty { FRAME } else { STILL_THERE }
    }

    /// All that is new, for those who have seen everything before.
    pub fn frame(&mut self, now: Duration, game_server: &GameServer) -> String {
        let frame = self.write(now, game_server, false);
        self.last_frame = now;
        (self.is_dirty, self.has_moved, self.unsent) = (false, false, self.next);
        frame
    }

    /// Everything, for a new viewer. What the others have not seen yet, it sees twice.
    #[must_use]
    pub fn whole(&self, now: Duration, game_server: &GameServer) -> String {
        self.write(now, game_server, true)
    }

    /// For those who run no scripts.
    #[must_use]
    pub fn plain(&self, now: Duration, game_server: &GameServer) -> String {
        let mut out = json::pretty_game_server(&game_server.snapshot());
        // Writing to a String cannot fail.
        let mut line = |text: std::fmt::Arguments<'_>| {
            let _ = writeln!(out, "{text}");
        };
        line(format_args!("\n\n{} beats", self.beats));
        if let Some(at) = game_server.unhealthy_at() {
            line(format_args!("Unhealthy in {:.1}s without another beat", at.saturating_sub(now).as_secs_f64()));
        }
        line(format_args!(""));
        for News { at, times, topic, text, reason, .. } in self.news.iter().rev().take(NEWS_A_FRAME) {
            let times = if *times > 1 { format!(" x {times}") } else { String::new() };
            let colon = if reason.is_empty() { "" } else { ": " };
            line(format_args!("{:>8.3}s  {topic:<9} {text}{times}{colon}{reason}", at.as_secs_f64()));
        }
        out
    }

    fn push(&mut self, now: Duration, topic: &'static str, text: &str, reason: &str) {
        self.is_dirty = true;
        let (text, reason) = (cut(text), cut(reason));
        if let Some(last) =
            self.news.back_mut().filter(|last| last.topic == topic && last.text == text && last.reason == reason)
        {
            last.at = now;
            last.times += 1;
            self.unsent = self.unsent.min(last.number);
            return;
        }
        if self.news.len() == NEWS {
            self.news.pop_front();
        }
        let (text, reason) = (text.to_owned(), reason.to_owned());
        self.news.push_back(News { number: self.next, at: now, since: now, times: 1, topic, text, reason });
        self.next += 1;
    }

    fn step(&mut self, now: Duration, state: &'static str) {
        (self.is_dirty, self.has_moved) = (true, true);
        if self.trail.len() == TRAIL {
            self.trail.pop_front();
        }
        self.trail.push_back((state, now));
    }

    fn sample(&mut self, now: Duration, game_server: &GameServer) {
        for (name, value) in game_server.numbers() {
            if self.lines.len() >= LINES && !self.lines.contains_key(&name) {
                continue;
            }
            let line = self.lines.entry(name).or_default();
            match line.back_mut() {
                Some((_, last)) if *last == value => continue,
                Some((at, last)) if now.saturating_sub(*at) < STEP => *last = value,
                _ => line.push_back((now, value)),
            }
            // One older than that stays: it is where the line comes from.
            while line.get(1).is_some_and(|(at, _)| now.saturating_sub(*at) > SPAN) {
                line.pop_front();
            }
        }
    }

    fn write(&self, now: Duration, game_server: &GameServer, whole: bool) -> String {
        let mut out = Writer::compact();
        let health = game_server.health();
        let health = &health;
        out.object(|out| {
            out.field("now", |out| out.raw(now.as_millis()));
            out.field("life", |out| out.raw(self.life));
            out.field("beats", |out| out.raw(self.beats));
            out.field("beat", |out| out.raw(health.last_beat().as_millis()));
            out.field("doom", |out| match game_server.unhealthy_at() {
                Some(at) => out.raw(at.as_millis()),
                None => out.raw("null"),
            });
            out.field("failures", |out| out.raw(health.failures()));
            out.field("disabled", |out| out.raw(health.health().disabled));
            out.field("period", |out| out.raw(u64::from(health.health().period_seconds) * 1000));
            out.field("threshold", |out| out.raw(health.health().failure_threshold));
            out.field("trail", |out| {
                out.list(&self.trail, |out, (state, at)| {
                    out.list([0, 1], |out, part| if part == 0 { out.string(state) } else { out.raw(at.as_millis()) });
                });
            });
            out.field("refused", |out| {
                out.object(|out| {
                    for (name, request) in [
                        ("allocate", Request::LocalAllocate),
                        ("unhealthy", Request::LocalUnhealthy),
                        ("delete", Request::LocalDelete),
                    ] {
                        let refusal = game_server.refusal(&request);
                        out.field(name, |out| out.string(refusal.as_deref().unwrap_or_default()));
                    }
                });
            });
            let from = if whole { 0 } else { self.unsent };
            let count = self.news.iter().filter(|news| news.number >= from).count();
            let skip = self.news.len() - if whole { count } else { count.min(NEWS_A_FRAME) };
            out.field("news", |out| out.list(self.news.iter().skip(skip), write_news));
            if whole || self.has_moved {
                out.field("gameserver", |out| json::write_game_server(out, &game_server.snapshot()));
            }
            if whole {
                out.field("lines", |out| {
                    out.object(|out| {
                        for (name, line) in &self.lines {
                            out.field(name, |out| {
                                out.list(line, |out, (at, value)| {
                                    out.raw(format_args!("[{},{value}]", at.as_millis()));
                                });
                            });
                        }
                    });
                });
            }
        });
        let mut line = out.finish();
        line.push('\n');
        line
    }
}

fn write_news(out: &mut Writer, news: &News) {
    out.object(|out| {
        out.field("n", |out| out.raw(news.number));
        out.field("at", |out| out.raw(news.at.as_millis()));
        out.field("since", |out| out.raw(news.since.as_millis()));
        out.field("times", |out| out.raw(news.times));
        out.field("topic", |out| out.string(news.topic));
        out.field("text", |out| out.string(&news.text));
        out.field("reason", |out| out.string(&news.reason));
    });
}

fn cut(text: &str) -> &str {
    text.char_indices().nth(MAX_TEXT).map_or(text, |(end, _)| &text[..end])
}
