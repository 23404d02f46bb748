//! Unix time as Kubernetes writes them. Pure; the Gregorian calendar only.

/// `2026-11-29T22:47:27Z`.
#[must_use]
pub fn rfc3339(unix_seconds: i64) -> String {
    let (days, second) = (unix_seconds.div_euclid(86_400), unix_seconds.rem_euclid(86_400));
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// `2026-11-29T22:47:27.05812345Z`: UTC, with as many nanoseconds as it takes, as Agones writes down an allocation.
#[must_use]
pub fn rfc3339_nano(unix_seconds: i64, nanoseconds: u32) -> String {
    let seconds = rfc3339(unix_seconds);
    let fraction = format!(".{nanoseconds:09}");
    format!("{}{}Z", seconds.trim_end_matches('Z'), fraction.trim_end_matches('0').trim_end_matches('.'))
}

/// The date that many days after 1970-01-01. Counted in years that begin in
/// March, so that the leap day is the last one of its year.
fn date(days: i64) -> (i64, i64, i64) {
    const DAYS_TO_MARCH_OF_YEAR_0: i64 = 719_468;
    const DAYS_IN_400_YEARS: i64 = 146_097;
    let days = days.saturating_add(DAYS_TO_MARCH_OF_YEAR_0);
    let (cycle, day_of_cycle) = (days.div_euclid(DAYS_IN_400_YEARS), days.rem_euclid(DAYS_IN_400_YEARS));
    let year_of_cycle =
        (day_of_cycle - day_of_cycle / 1_460 + day_of_cycle / 36_524 - day_of_cycle / 146_096).div_euclid(365);
    let day_of_year = day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    // Months alternate between 31 and 30 days in runs of five, 153 days each.
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = cycle * 400 + year_of_cycle + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::{rfc3339, rfc3339_nano};

    #[test]
    fn seconds_become_the_dates_that_calendars_show() {
        for (seconds, wanted) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_709_164_799, "2024-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
        ] {
            assert_eq!(rfc3339(seconds), wanted);
        }
    }

    #[test]
    fn nanoseconds_are_written_as_far_as_they_go() {
        for (nanoseconds, wanted) in [
            (0, "1970-01-01T00:00:00Z"),
            (5, "1970-01-01T00:00:00.000000005Z"),
            (120_000_000, "1970-01-01T00:00:00.12Z"),
            (999_999_999, "1970-01-01T00:00:00.999999999Z"),
        ] {
            assert_eq!(rfc3339_nano(0, nanoseconds), wanted);
        }
    }
}
