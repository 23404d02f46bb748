//! Metrics text (Prometheus text format, OpenMetrics) -> the sum of the series that were asked for.
//!
//! Pure and streaming: bytes come in chunks of any size, memory stays below `sum::MAX_LINE` whatever arrives, time is
//! linear in the input. A line that cannot be read spoils itself alone.
//! Deliberately not here: types, units, histograms and exemplars mean nothing to a sum, so they are stepped over.

mod line;
mod selector;
mod sum;

pub use selector::Selector;
#[cfg(test)]
use sum::MAX_LINE;
pub use sum::{Cause, MAX_READING, NoReading, Sum};

#[cfg(test)]
mod tests;

/// Asserts for arbitrary bytes what has to hold for every input. The first line is taken as a [`Selector`] if it is
/// one, the rest as metrics text. Called by the fuzz target, by the replay of its corpus and by property tests.
///
/// # Panics
///
/// When an invariant does not hold: a bug in this module.
#[doc(hidden)]
pub fn fuzz(bytes: &[u8]) {
    let head = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let asked = std::str::from_utf8(head).ok().and_then(|text| text.parse::<Selector>().ok());
    let (selector, text) = match asked {
        Some(selector) => (selector, bytes.get(head.len() + 1..).unwrap_or_default()),
        None => (Selector { name: "m".to_owned(), labels: Vec::new() }, bytes),
    };
    assert_eq!(selector.to_string().parse().as_ref(), Ok(&selector), "a selector reads back as it was written");

    let read = |text: &[u8], chunk: usize| {
        let mut sum = Sum::new(&selector);
        text.chunks(chunk.max(1)).for_each(|chunk| sum.feed(chunk));
        sum.finish()
    };
    let whole = read(text, text.len());
    if let Ok(reading) = whole {
        assert!(reading <= MAX_READING, "{reading} is more than a float can count");
    }
    for chunk in [1, 2, 3, 7, 64, 4096] {
        // By their texts: a NaN would be unequal to itself.
        let chunked = read(text, chunk);
        assert_eq!(shown(&chunked), shown(&whole), "chunks of {chunk} changed the outcome");
    }
    // Whoever cares about what is missing gets the same reading, or none.
    let strict = |text: &[u8], chunk: usize| {
        let mut sum = Sum::new(&selector).strict();
        text.chunks(chunk.max(1)).for_each(|chunk| sum.feed(chunk));
        sum.finish()
    };
    let absent = |cause| matches!(cause, Cause::NotFound | Cause::OtherLabels { .. });
    let judged = strict(text, text.len());
    match (&whole, &judged) {
        (Err(loose), Err(NoReading { cause: Cause::NotMetrics { .. }, .. })) => assert!(absent(loose.cause)),
        _ => assert_eq!(shown(&judged), shown(&whole), "strictness changed a reading"),
    }
    for chunk in [1, 7, 4096] {
        assert_eq!(shown(&strict(text, chunk)), shown(&judged), "chunks of {chunk} changed the strict outcome");
    }
    // Whatever the text is, lines that are no samples of the metric, put after it, change nothing.
    let mut longer = text.to_vec();
    longer.extend_from_slice(b"\n# HELP m m 4\n\r\n}{ \x00\xff\n{\"\nno_such_metric{\n# EOF");
    if selector.name != "no_such_metric" {
        assert_eq!(shown(&read(&longer, longer.len())), shown(&whole), "lines of others changed the outcome");
    }
}

fn shown(outcome: &Result<u64, NoReading>) -> String {
    match outcome {
        Ok(reading) => reading.to_string(),
        Err(reason) => reason.to_string(),
    }
}
