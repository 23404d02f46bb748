//! `$(NAME)` in the value of a variable, in a command or in an argument, as the kubelet fills it in.
//!
//! Bounded: a chain of variables that each hold the one before twice would double with every line.

/// What is known of a name.
pub(super) enum Known<'a> {
    /// Its value.
    Value(&'a str),
    /// That it has one.
    Unknown,
    /// Nothing: the text stays as it is.
    Nothing,
}

/// What comes out.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Expanded {
    Text(String),
    /// A value in it is not known.
    Unknown,
    /// It is longer than what is left.
    TooLong,
}

/// `$$` is one dollar sign. Takes from `left` what references add.
pub(super) fn expand<'a>(text: &str, left: &mut usize, known: impl Fn(&str) -> Known<'a>) -> Expanded {
    let mut out = String::new();
    let mut rest = text;
    // Behind the last one no name ends, and none is looked for: that would be once for each `$(`.
    let last = text.rfind(')').map_or(0, |at| text.len() - at);
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if let Some((name, after)) = rest
            .strip_prefix('(')
            .filter(|inner| last > 0 && inner.len() >= last)
            .and_then(|inner| inner.split_once(')'))
        {
            match known(name) {
                Known::Value(value) => {
                    let Some(fewer) = left.checked_sub(value.len()) else { return Expanded::TooLong };
                    *left = fewer;
                    out.push_str(value);
                }
                Known::Unknown => return Expanded::Unknown,
                Known::Nothing => out.extend(["$(", name, ")"]),
            }
            rest = after;
        } else {
            out.push('$');
        }
    }
    out.push_str(rest);
    Expanded::Text(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_filled_in_as_the_kubelet_does() {
        let known = |name: &str| match name {
            "A" => Known::Value("1"),
            "SECRET" => Known::Unknown,
            _ => Known::Nothing,
        };
        for (text, wanted) in [
            ("", ""),
            ("x$(A)y$(A)", "x1y1"),
            ("$$(A) $$$(A) $$$$", "$(A) $1 $$"),
            ("$(B) $(A", "$(B) $(A"),
            ("$(A)$(A$(", "1$(A$("),
            ("$()", "$()"),
            ("$A $ ${A} $", "$A $ ${A} $"),
            ("$(AGONES_GAMESERVER_PORT)", "$(AGONES_GAMESERVER_PORT)"),
        ] {
            assert_eq!(expand(text, &mut 100, known), Expanded::Text(wanted.into()), "{text}");
        }
        assert_eq!(expand("$(A)$(SECRET)", &mut 100, known), Expanded::Unknown);
        let mut left = 2;
        assert_eq!(expand("$(A)$(A)", &mut left, known), Expanded::Text("11".into()));
        assert_eq!(expand("$(A)", &mut left, known), Expanded::TooLong);
    }

    proptest::proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "[$()A é]{0,60}") {
            let _ = expand(&text, &mut 10, |_| Known::Value("é"));
        }
    }
}
