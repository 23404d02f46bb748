//! A metrics page of 10 MB: what reading it costs the shim, and how fast the parser is by itself.

use std::hint::black_box;
use std::time::Instant;

use agones_shim::testing::counter::exposition::{Selector, Sum};

use super::figures::{Figure, Subject, Table, millis};
use super::meter::{self, megabytes};
use super::support::{Game, Reply, ScriptedSdk, proc, secs, shim, wait};
use super::{PARSER, Plan, SCRAPE_CPU, SCRAPE_MEMORY, SCRAPE_PEAK};

const BODY: usize = 10_000_000;
/// As game servers write it: most of a page is about something else.
const LINES: &str = "# HELP game_players Players on the server.\n\
    # TYPE game_players gauge\n\
    game_players{map=\"dust\",mode=\"ranked\"} 1\n\
    game_tick_seconds_bucket{map=\"dust\",le=\"0.005\"} 24054\n\
    game_tick_seconds_bucket{map=\"dust\",le=\"0.01\"} 33444\n\
    game_tick_seconds_bucket{map=\"dust\",le=\"+Inf\"} 144320\n\
    game_tick_seconds_sum{map=\"dust\"} 53423.2\n\
    process_resident_memory_bytes 2.4956928e+07\n";

/// CPU for one scrape, and how far memory grows above what the shim had before.
pub fn body(table: &mut Table, plan: &Plan, sdk: &ScriptedSdk) {
    let game = Game::open();
    game.reply_at("/metrics", Reply::text("game_players 1\n"));
    sdk.set_state("Scheduled").set_counter("players", 0, 1_000_000_000);
    let updates = sdk.count("UpdateCounter");
    let process = shim::shim()
        .sdk(sdk)
        .set("READY_TCP", game.port())
        .set("HEALTH_INTERVAL_SECS", 60)
        .set("COUNTER_NAME", "players")
        .set("COUNTER_METRICS_URL", game.url("/metrics"))
        .set("COUNTER_METRIC", "game_players")
        .set("COUNTER_INTERVAL_SECS", 1)
        .spawn();
    sdk.wait_for_count("UpdateCounter", updates + 1, secs(20));
    let scraped = |count: usize| game.wait_for_requests(count, secs(60));
    scraped(3);
    let pid = process.pid();
    let resident = proc::rss(pid);
    meter::forget_peak(pid);
    let before = meter::used(pid);
    game.reply_at("/metrics", Reply::huge(LINES, BODY));
    let first = game.requests().len();
    scraped(first + plan.scrapes);
    // The last one is under way: let it end.
    wait::let_pass(secs(1) / 2);
    let used = meter::used(pid).since(before);
    let count = game.requests().len() - first;
    assert!(count >= plan.scrapes, "the page was read");
    #[allow(clippy::cast_precision_loss)]
    table.add(SCRAPE_CPU, "ms", Subject::Shim, &Figure::One(millis(used.cpu) / count as f64));
    let peak = proc::peak_rss(pid);
    let grown = peak.saturating_sub(resident);
    table.add(SCRAPE_MEMORY, "MB", Subject::Shim, &Figure::One(megabytes(grown)));
    table.add(SCRAPE_PEAK, "MB", Subject::Shim, &Figure::One(megabytes(peak)));
}

/// The parser alone, in this program's own profile: the dependencies' code is optimised, ours hardly.
pub fn parser(table: &mut Table, plan: &Plan) {
    let selector: Selector = "game_players".parse().expect("a selector");
    let page = LINES.repeat(BODY / LINES.len());
    let rates = (0..plan.parses).map(|_| {
        let began = Instant::now();
        let mut sum = Sum::new(&selector);
        for chunk in page.as_bytes().chunks(16 * 1024) {
            sum.feed(black_box(chunk));
        }
        black_box(sum.finish().expect("a reading"));
        #[allow(clippy::cast_precision_loss)]
        let bytes = page.len() as f64;
        bytes / 1e6 / began.elapsed().as_secs_f64()
    });
    table.add(PARSER, "MB/s", Subject::Shim, &Figure::median(rates.collect()));
}
