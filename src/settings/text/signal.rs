//! The name or number of a signal that can stop a program gracefully.
//!
//! Real-time signals are counted from the C library's SIGRTMIN, asked at run
//! time: glibc keeps two of the kernel's for itself, musl three.

use nix::libc::{SIGRTMAX, SIGRTMIN};
use nix::sys::signal::Signal;

use super::plain::is_digits;
use crate::settings::engine::suggest;
use crate::settings::stop::StopSignal;

/// What the two uncatchable ones are answered with.
const NOT_GRACEFUL: &str = "cannot be caught, so it is no graceful stop (write TERM or INT)";

/// `TERM`, `SIGTERM`, `sigterm`, `15`, `RTMIN+3` or `SIGRTMAX-1`.
pub(crate) fn stop_signal(text: &str) -> Result<StopSignal, String> {
    let signal = if is_digits(text) { numbered(text)? } else { named(text)? };
    if signal.number == Signal::SIGKILL as i32 || signal.number == Signal::SIGSTOP as i32 {
        return Err(NOT_GRACEFUL.into());
    }
    Ok(signal)
}

fn numbered(text: &str) -> Result<StopSignal, String> {
    let out_of_range = || format!("is not a signal (write a number from 1 to {}, or a name like TERM)", SIGRTMAX());
    let number = text.parse::<i32>().map_err(|_| out_of_range())?;
    if let Ok(signal) = Signal::try_from(number) {
        return Ok(StopSignal { number, name: signal.as_str().to_owned() });
    }
    match number - SIGRTMIN() {
        0 => Ok(StopSignal { number, name: "SIGRTMIN".into() }),
        above if above > 0 && number <= SIGRTMAX() => Ok(StopSignal { number, name: format!("SIGRTMIN+{above}") }),
        _ if number > 31 && number < SIGRTMIN() => {
            Err(format!("is a signal that the C library keeps for itself (write {} for RTMIN)", SIGRTMIN()))
        }
        _ => Err(out_of_range()),
    }
}

fn named(text: &str) -> Result<StopSignal, String> {
    let upper = text.to_ascii_uppercase();
    let short = upper.strip_prefix("SIG").unwrap_or(&upper);
    let name = format!("SIG{short}");
    if let Ok(signal) = name.parse::<Signal>() {
        return Ok(StopSignal { number: signal as i32, name });
    }
    if short.starts_with("RTMIN") || short.starts_with("RTMAX") {
        return real_time(short)
            .filter(|number| (SIGRTMIN()..=SIGRTMAX()).contains(number))
            .map(|number| StopSignal { number, name })
            .ok_or_else(|| {
                let last = SIGRTMAX() - SIGRTMIN();
                format!("is not a signal (write RTMIN to RTMIN+{last}, or RTMAX-{last} to RTMAX)")
            });
    }
    let known = Signal::iterator().map(|signal| signal.as_str().trim_start_matches("SIG"));
    Err(match suggest::nearest(short, known) {
        Some(near) => format!("is not a signal (write {near})"),
        None => "is not a signal (write a name like TERM, a number like 15, or RTMIN+3)".into(),
    })
}

/// `RTMIN`, `RTMIN+n`, `RTMAX` or `RTMAX-n` as a number, in range or not.
fn real_time(short: &str) -> Option<i32> {
    let offset = |text: &str, sign: char| match text.strip_prefix(sign) {
        _ if text.is_empty() => Some(0),
        Some(digits) if is_digits(digits) => digits.parse::<i32>().ok(),
        _ => None,
    };
    match short.strip_prefix("RTMIN") {
        Some(rest) => SIGRTMIN().checked_add(offset(rest, '+')?),
        None => SIGRTMAX().checked_sub(offset(short.strip_prefix("RTMAX")?, '-')?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_has_names_and_a_number() {
        for (text, number, name) in [
            ("TERM", 15, "SIGTERM"),
            ("SIGTERM", 15, "SIGTERM"),
            ("sigterm", 15, "SIGTERM"),
            ("15", 15, "SIGTERM"),
            ("int", 2, "SIGINT"),
            ("SIGQUIT", 3, "SIGQUIT"),
            ("RTMIN", SIGRTMIN(), "SIGRTMIN"),
            ("RTMIN+3", SIGRTMIN() + 3, "SIGRTMIN+3"),
            ("sigrtmax-1", SIGRTMAX() - 1, "SIGRTMAX-1"),
            ("64", 64, &format!("SIGRTMIN+{}", 64 - SIGRTMIN())),
            (&SIGRTMIN().to_string(), SIGRTMIN(), "SIGRTMIN"),
        ] {
            assert_eq!(stop_signal(text), Ok(StopSignal { number, name: name.into() }), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_caught_is_no_graceful_stop() {
        for text in ["KILL", "SIGKILL", "sigstop", "STOP", "9", "19"] {
            assert_eq!(stop_signal(text), Err(NOT_GRACEFUL.into()), "{text}");
        }
    }

    #[test]
    fn what_is_no_signal_is_answered_with_one() {
        let number = "is not a signal (write a number from 1 to 64, or a name like TERM)".to_owned();
        let last = SIGRTMAX() - SIGRTMIN();
        let range = format!("is not a signal (write RTMIN to RTMIN+{last}, or RTMAX-{last} to RTMAX)");
        let any = "is not a signal (write a name like TERM, a number like 15, or RTMIN+3)".to_owned();
        for (text, message) in [
            ("0", number.clone()),
            ("65", number.clone()),
            ("99999999999", number),
            ("TREM", "is not a signal (write TERM)".into()),
            ("SIGHUB", "is not a signal (write HUP)".into()),
            ("bother", any.clone()),
            ("-15", any.clone()),
            ("SIG15", any),
            ("RTMIN+99", range.clone()),
            ("RTMIN-1", range.clone()),
            ("RTMAX+1", range.clone()),
            ("RTMIN+", range.clone()),
            ("RTMIN+99999999999", range.clone()),
            ("RTMIN+٣", range),
            ("32", format!("is a signal that the C library keeps for itself (write {} for RTMIN)", SIGRTMIN())),
        ] {
            assert_eq!(stop_signal(text), Err(message), "{text}");
        }
    }
}
