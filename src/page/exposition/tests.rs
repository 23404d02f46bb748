//! Pages that are read, pages that are not, and what holds for every input.

use std::fmt::Write;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

/// The outcome as people see it: a number or a reason.
fn reading_of(selector: &str, text: impl AsRef<[u8]>) -> String {
    let selector = selector.parse().unwrap();
    let mut sum = Sum::new(&selector);
    sum.feed(text.as_ref());
    shown(&sum.finish())
}

fn assert_readings(selector: &str, cases: &[(&str, &str)]) {
    for (text, wanted) in cases {
        assert_eq!(reading_of(selector, text), *wanted, "{selector} in {text:?}");
    }
}

#[test]
fn case_27_a_brace_inside_a_value_does_not_end_the_labels() {
    assert_readings("m", &[("m{n=\"cluster}prod\"} 7", "7")]);
    assert_readings("m{n=\"cluster}prod\"}", &[("m{n=\"cluster}prod\"} 7", "7")]);
}

#[test]
fn case_28_braces_and_commas_inside_a_value_are_part_of_it() {
    assert_readings("m", &[("m{e=\"{a,b}\",d=\"x\"} 3", "3")]);
    assert_readings("m{d=\"x\",e=\"{a,b}\"}", &[("m{e=\"{a,b}\",d=\"x\"} 3", "3")]);
}

#[test]
fn case_29_blanks_may_stand_between_all_parts() {
    for text in ["m { map = \"de dust\" } \t 5 ", "\t m\t{\tmap\t=\t\"de dust\"\t,\t}\t5\t", "m{map=\"de dust\"}5"] {
        assert_readings("m{map=\"de dust\"}", &[(text, "5")]);
    }
}

#[test]
fn case_30_no_blank_is_needed_before_the_value() {
    assert_readings("m", &[("m{a=\"b\"}12", "12"), ("m{}12", "12"), ("m+5", MALFORMED), ("m\"5\"", MALFORMED)]);
}

const MALFORMED: &str = "metric \"m\" is malformed (line 1)";

#[test]
fn case_32_a_malformed_line_spoils_itself_alone() {
    for before in ["m{a=\"b\" 3", "m{a=b} 3", "m{,} 3", "}{", "\0\u{7f}", "m 3 4 5", "m{a=\"b\"} three", "{\"m\""] {
        assert_readings("m", &[(&format!("{before}\r\n\r\n \t\r\nm 4\r\nm_other 5\r\n# EOF\r\n"), "4")]);
    }
    assert_eq!(reading_of("m", b"\xff\xfe\nm{a=\"\xff\"} 4"), "4", "bytes that are no UTF-8");
}

#[test]
fn case_33_values() {
    let no = |what: &str| format!("metric \"m\" {what}");
    let texts = [
        ("m NaN", no("is NaN")),
        ("m +Inf", no("is infinite")),
        ("m -inf", no("is infinite")),
        ("m -1", no("is negative (-1)")),
        ("m 1e3", "1000".into()),
        ("m +1", "1".into()),
        ("m 2.7", "3".into()),
        ("m 2.5", "3".into()),
        ("m .4", "0".into()),
        ("m -0", "0".into()),
        ("m -0.4", no("is negative (-0.4)")),
        ("m{a=\"1\"} 3\nm{a=\"2\"} 4", "7".into()),
        ("m_max 9", no("not found")),
        ("# HELP m m 4\n# TYPE m gauge\n#m 4", no("not found")),
        ("", no("not found")),
        ("m 9007199254740992", "9007199254740992".into()),
        ("m 9007199254740994", no("is above 2^53 (9.007199254740994e15)")),
        ("m 9007199254740992\nm{} 9007199254740992", no("is above 2^53 (1.8014398509481984e16)")),
        ("m 1e400", no("is infinite")),
        ("m 1e308\nm{} 1e308", no("is infinite")),
        ("m 0x10", MALFORMED.into()),
        ("m 0x1p4", MALFORMED.into()),
        ("m 1_000", MALFORMED.into()),
        ("m 1,5", MALFORMED.into()),
        ("m \u{665}", MALFORMED.into()),
        ("m", MALFORMED.into()),
        ("m{a=\"b\"}", MALFORMED.into()),
    ];
    for (text, wanted) in texts {
        assert_readings("m", &[(text, &wanted)]);
    }
}

#[test]
fn it_is_the_sum_that_is_judged() {
    assert_readings(
        "m",
        &[
            ("m{a=\"1\"} -1\nm{a=\"2\"} 3", "2"),
            ("m{a=\"1\"} NaN\nm{a=\"2\"} 3", "metric \"m\" is NaN"),
            ("m{a=\"1\"} +Inf\nm{a=\"2\"} -Inf", "metric \"m\" is NaN"),
            ("m{a=\"1\"} 0.4\nm{a=\"2\"} 0.4\nm{a=\"3\"} 0.4", "1"),
        ],
    );
}

#[test]
fn timestamps_and_exemplars_are_stepped_over() {
    let texts =
        ["m 4 1520879607789", "m 4 -3", "m 4 1520879607.789 # {t=\"}\"} 9 1.5", "m 4 # {} 0.5", "m{} 4 # {oops"];
    for text in texts {
        assert_readings("m", &[(text, "4")]);
    }
    assert_readings("m", &[("m 4 soon", MALFORMED), ("m 4 5 6", MALFORMED), ("m 4 # players", MALFORMED)]);
}

#[test]
fn an_openmetrics_counter_is_asked_for_by_its_sample_name() {
    let text = "# TYPE m counter\n# UNIT m players\nm_total 17.0 # {id=\"a b\"} 1\nm_created 1.5e9\n# EOF";
    assert_eq!(reading_of("m_total", text), "17");
    assert_eq!(reading_of("m", text), "metric \"m\" not found");
}

#[test]
fn a_quoted_name_inside_the_braces_is_read_too() {
    let text = "{\"m\"} 1\n{\"m\",a=\"b\"} 2\n{ \"m\" , \"a\" = \"c\" , } 4\n{\"m.max\"} 8\n{a=\"b\"} 16\n{\"m2\",a=\"";
    assert_eq!(reading_of("m", text), "7");
    assert_eq!(reading_of("m{a=\"c\"}", text), "4");
    assert_readings("m", &[("m{\"m\"} 1", MALFORMED), ("{\"m\",\"m\"} 1", MALFORMED), ("{\"m\"", MALFORMED)]);
}

#[test]
fn labels_select_in_any_order_and_others_do_not_matter() {
    let text = "m{team=\"a\",map=\"x\",z=\"1\"} 1\nm{map=\"x\",team=\"b\"} 2\nm{map=\"xx\",team=\"a\"} 4\nm 8";
    assert_eq!(reading_of("m{map=\"x\"}", text), "3");
    assert_eq!(reading_of("m{map=\"x\",team=\"a\"}", text), "1");
    assert_eq!(reading_of("m", text), "15");
    assert_eq!(reading_of("m{map=\"\"}", text), "8", "an empty value asks for the absence, as in Prometheus");
    assert_eq!(reading_of("m{map=\"y\"}", text), "metric \"m\" found, but none of its 4 series matches m{map=\"y\"}");
    assert_eq!(
        reading_of("m{map=\"y\"}", "m 1"),
        "metric \"m\" found, but its only series does not match m{map=\"y\"}"
    );
}

#[test]
fn escapes_mean_what_they_stand_for() {
    assert_eq!(reading_of(r#"m{a="\"\\\n"}"#, r#"m{a="\"\\\n"} 1"#), "1");
    assert_eq!(reading_of("m{a=\"C:\\\\maps\"}", r#"m{a="C:\maps"} 1"#), "1", "an unknown escape stands for itself");
    assert_eq!(reading_of(r#"m{a="\\"}"#, r#"m{a="\\",b="\""} 1"#), "1");
    assert_readings("m", &[(r#"m{a="\"} 1"#, MALFORMED)]);
}

#[test]
fn a_wanted_label_that_is_there_twice_spoils_the_line() {
    let wanted = "metric \"m\" is malformed (line 1)";
    assert_eq!(reading_of("m{a=\"b\"}", "m{a=\"b\",a=\"b\"} 1"), wanted);
    assert_eq!(reading_of("m{a=\"b\"}", "m{a=\"b\",a=\"c\"} 1"), wanted);
}

#[test]
fn an_overlong_line_spoils_itself_alone_and_costs_no_memory() {
    let selector: Selector = "m".parse().unwrap();
    // The second one would be a good sample, cut at the bound.
    let lines: [fn(usize) -> String; 2] = [
        |length| format!("m{{a=\"{}\"}} 1", "x".repeat(length - 9)),
        |length| format!("m 1{}", " ".repeat(length - 3)),
    ];
    for line in lines {
        for (length, wanted) in [(MAX_LINE, "5"), (MAX_LINE + 1, "4"), (MAX_LINE * 5, "4")] {
            let text = line(length) + "\nm 4\n";
            assert_eq!(text.lines().next().map(str::len), Some(length));
            for chunk in [text.len(), 1000, 1] {
                let mut sum = Sum::new(&selector);
                for chunk in text.as_bytes().chunks(chunk) {
                    sum.feed(chunk);
                    assert!(sum.kept() <= 2 * MAX_LINE, "{} bytes", sum.kept());
                }
                assert_eq!(shown(&sum.finish()), wanted, "a line of {length} bytes in chunks of {chunk}");
            }
        }
        assert_eq!(reading_of("m", line(MAX_LINE * 3)), MALFORMED);
    }
    assert_eq!(reading_of("m", "#".repeat(MAX_LINE * 3) + "\nm 3"), "3");
}

#[test]
fn selectors_read_and_write() {
    for (text, wanted) in [
        ("m", "m"),
        ("a_B:9{}", "a_B:9"),
        (" m { a = \"x\" , b = \"\\\"\\\\\\n,}\" , } \n", "m{a=\"x\",b=\"\\\"\\\\\\n,}\"}"),
        ("m{a=\"ü\nx\"}", "m{a=\"ü\\nx\"}"),
    ] {
        assert_eq!(text.parse::<Selector>().unwrap().to_string(), wanted);
    }
}

#[test]
fn a_bad_selector_says_precisely_what_is_wrong() {
    for (text, wanted) in [
        ("", "'' has no metric name (write name or name{label=\"value\"})"),
        ("1m", "'1m' does not begin with a metric name (a letter, _ or : comes first)"),
        ("{a=\"b\"}", "'{a=\"b\"}' does not begin with a metric name (a letter, _ or : comes first)"),
        (
            "m-x",
            "'m-x' is not understood at the '-': a metric name has only letters, digits, _ and :, then { or the end",
        ),
        (
            "m\u{7}",
            "'m\\u{7}' is not understood at the '\\u{7}': a metric name has only letters, digits, _ and :, then { or the end",
        ),
        ("m{", "'m{' ends too early: a label name or the closing } is expected there"),
        ("m{1=\"\"}", "'m{1=\"\"}' is not understood at the '1': a label name or the closing } is expected there"),
        ("m{a", "'m{a' ends too early: after a label name there is a ="),
        ("m{a:b=\"\"}", "'m{a:b=\"\"}' is not understood at the ':': after a label name there is a ="),
        ("m{a!=\"x\"}", "'m{a!=\"x\"}' compares the label a by !=, but = is the only comparison"),
        ("m{a=~\"x\"}", "'m{a=~\"x\"}' compares the label a by =~, but = is the only comparison"),
        ("m{a='x'}", "'m{a='x'}' has no \" before the value of the label a (write a=\"value\")"),
        ("m{a=\"x", "'m{a=\"x' has no \" after the value of the label a"),
        ("m{a=\"x\\", "'m{a=\"x\\' has no \" after the value of the label a"),
        ("m{a=\"\\d\"}", "'m{a=\"\\d\"}' has an unknown escape \\d (there are \\\\, \\\" and \\n)"),
        (
            "m{a=\"x\" b=\"y\"}",
            "'m{a=\"x\" b=\"y\"}' is not understood at the 'b': after a label there is a comma or the closing }",
        ),
        ("m{a=\"x\",a=\"y\"}", "'m{a=\"x\",a=\"y\"}' names the label a twice"),
        ("m{} 5", "'m{} 5' is not understood at the '5': nothing may follow the }"),
    ] {
        assert_eq!(text.parse::<Selector>().unwrap_err(), wanted);
    }
}

#[test]
fn time_is_linear_in_the_length_of_a_line() {
    const LONG: usize = 16;
    let selector: Selector = "m{a=\"b\",c=\"d\"}".parse().unwrap();
    let fastest = |text: &str| {
        let once = || {
            let began = Instant::now();
            let mut sum = Sum::new(&selector);
            sum.feed(text.as_bytes());
            let _ = sum.finish();
            began.elapsed()
        };
        (0..20).map(|_| once()).min().unwrap()
    };
    for part in ["x=\"\",", "a", "\\", "\"", "{", " ", "1", "m{", "a=\"b\\\""] {
        for head in ["m{a=\"", "m{", "m ", "{", "m{x=\"\"} "] {
            let line = |bytes: usize| format!("{head}{}\n", part.repeat(bytes / part.len()));
            let short = fastest(&line(MAX_LINE / LONG).repeat(LONG));
            let long = fastest(&line(MAX_LINE - 64));
            // The same number of bytes. Quadratic time would be 16 times the time, linear is once.
            assert!(
                long < short * 8 + Duration::from_millis(1),
                "{head}{part}...: {short:?} in pieces, {long:?} in one"
            );
        }
    }
}

/// Text out of the pieces of the format is more telling than arbitrary bytes.
fn almost_metrics() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("m".to_owned()),
        Just("m{a=\"b\"} 1\n".to_owned()),
        Just("{\"m\",".to_owned()),
        Just("\r\n".to_owned()),
        Just("# {".to_owned()),
        "[m{}\"=,\\\\ \t\n\r#ab019.e+-]",
        "[+-]?[0-9]{1,3}(e[0-9]{1,3})?",
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

#[derive(Clone, Debug)]
struct Sample {
    name: &'static str,
    labels: Vec<(&'static str, String)>,
    value: u32,
    blank: &'static str,
    tail: &'static str,
}

fn sample() -> impl Strategy<Value = Sample> {
    let labels = proptest::sample::subsequence(vec!["a", "b", "c"], 0..=3).prop_shuffle().prop_flat_map(|names| {
        names.into_iter().map(|name| (Just(name), "[xy\\\\\"\n},={ü]{0,2}")).collect::<Vec<_>>()
    });
    let name = proptest::sample::select(vec!["m", "m", "m_max", "mm", "other"]);
    let blank = proptest::sample::select(vec!["", " ", " \t"]);
    let tail = proptest::sample::select(vec![
        "\n",
        "\r\n",
        " \n",
        " 123\n",
        " 1.5 # {x=\"y\"} 1\n",
        "\n\nm{ 3\n# HELP m m 4\n",
    ]);
    (name, labels, any::<u32>(), blank, tail).prop_map(|(name, labels, value, blank, tail)| Sample {
        name,
        labels,
        value,
        blank,
        tail,
    })
}

impl Sample {
    fn write(&self, text: &mut String) {
        let Self { name, labels, value, blank, tail } = self;
        write!(text, "{blank}{name}").unwrap();
        if labels.is_empty() {
            write!(text, " {value}{tail}").unwrap();
            return;
        }
        write!(text, "{blank}{{").unwrap();
        for (label, value) in labels {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            write!(text, "{blank}{label}{blank}={blank}\"{value}\"{blank},").unwrap();
        }
        write!(text, "}}{blank}{value}{tail}").unwrap();
    }

    fn has(&self, (label, wanted): &(String, String)) -> bool {
        self.labels.iter().any(|(name, value)| name == label && value == wanted)
    }
}

proptest! {
    #[test]
    fn nothing_panics_and_chunks_do_not_matter(bytes: Vec<u8>) {
        fuzz(&bytes);
    }

    #[test]
    fn nothing_panics_and_chunks_do_not_matter_in_almost_metrics(text in almost_metrics()) {
        fuzz(text.as_bytes());
    }

    #[test]
    fn a_selector_reads_back_as_it_was_written(
        name in "[a-z_:][a-z0-9_:]{0,3}",
        labels in proptest::collection::btree_map("[a-z_][a-z0-9_]{0,2}", ".{0,3}|[\\\\\"\n},={]{0,4}", 0..4),
    ) {
        let selector = Selector { name, labels: labels.into_iter().collect() };
        prop_assert_eq!(selector.to_string().parse::<Selector>(), Ok(selector));
    }

    #[test]
    fn a_selector_of_arbitrary_text_is_read_or_refused(text: String, almost in "m?[{} ]{0,2}[am=\"\\\\n,]{0,9}[} ]{0,2}") {
        for text in [text, almost] {
            if let Ok(selector) = text.parse::<Selector>() {
                prop_assert_eq!(selector.to_string().parse::<Selector>(), Ok(selector));
            }
        }
    }

    #[test]
    fn a_valid_text_gives_the_sum_of_what_was_put_in(
        samples in proptest::collection::vec(sample(), 0..40),
        asked in proptest::option::of(0_usize..40),
    ) {
        // All labels of one of the samples, where there is one; no label otherwise.
        let labels = asked.and_then(|index| samples.get(index)).map(|sample| sample.labels.clone()).unwrap_or_default();
        let labels = labels.into_iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| (name.to_owned(), value));
        let selector = Selector { name: "m".to_owned(), labels: labels.collect() };
        let mut text = String::new();
        for sample in &samples {
            sample.write(&mut text);
        }
        let matching = samples.iter().filter(|sample| sample.name == "m" && selector.labels.iter().all(|label| sample.has(label)));
        let wanted = matching.clone().map(|sample| u64::from(sample.value)).sum::<u64>();

        let mut sum = Sum::new(&selector);
        text.as_bytes().chunks(7).for_each(|chunk| sum.feed(chunk));
        let outcome = sum.finish();
        if matching.count() == 0 {
            prop_assert!(outcome.is_err(), "{:?}", outcome);
        } else {
            prop_assert_eq!(outcome, Ok(wanted), "{}", text);
        }
    }
}
