//! A command line in one text, split like a shell's words.
//!
//! Quotes and backslashes as in POSIX sh section 2.2. No expansion, no
//! operators: where the text looks as if it counted on a shell, [`Words`] says
//! so and the caller warns.

use super::plain::shown_name;
use crate::settings::engine::read::{Findings, Values};
use crate::settings::engine::row::Setting;

/// A command line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Words {
    /// Program and arguments, never empty, the program never an empty text.
    pub argv: Vec<String>,
    /// The first character outside quotes that a shell would have acted on.
    pub shell: Option<char>,
}

impl Words {
    /// What will not have been meant, as a predicate.
    fn warning(&self, what: &str) -> Option<String> {
        // From an env file, whose quotes are a part of the value.
        if self.argv.len() == 1 && self.argv[0].contains(char::is_whitespace) {
            return Some("is one word, a program with blanks in its name (leave out the quotes around it)".into());
        }
        let c = self.shell?;
        Some(format!(
            "{c} is passed on as it stands, since no shell runs the {what} (put it in quotes, or write sh -c '...')"
        ))
    }
}

/// Splits, or says why it cannot, as a predicate.
pub(crate) fn split(text: &str) -> Result<Words, String> {
    let mut argv: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut shell = None;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            ' ' | '\t' | '\n' | '\r' => argv.extend(word.take()),
            '\\' => match rest.next() {
                None => return Err(r"ends in a lone backslash (write \\ for one)".into()),
                // A line that goes on.
                Some('\n') => {}
                Some(escaped) => word.get_or_insert_default().push(escaped),
            },
            '\'' | '"' => {
                let quoted = if c == '"' { double_quoted(&mut rest, &mut shell) } else { single_quoted(&mut rest) };
                let quoted = quoted.ok_or_else(|| format!("has a {c} that is not closed (add another {c})"))?;
                word.get_or_insert_default().push_str(&quoted);
            }
            c => {
                if "|&;<>()$`*?[#~".contains(c) && shell.is_none() {
                    shell = Some(c).filter(|c| !"#~".contains(*c) || word.is_none());
                }
                word.get_or_insert_default().push(c);
            }
        }
    }
    argv.extend(word);
    match argv.first() {
        None => Err("has no program in it (write a program and its arguments)".into()),
        Some(program) if program.is_empty() => Err("has an empty program (write a program and its arguments)".into()),
        Some(_) => Ok(Words { argv, shell }),
    }
}

/// A command line as it may be shown: its program. Passwords are given as arguments, and in variables in front.
pub(crate) fn shown(text: &str) -> String {
    match text.trim().split_once(char::is_whitespace) {
        _ if text.contains('=') => "***".to_owned(),
        Some((program, _)) => format!("{program} ***"),
        None => text.trim().to_owned(),
    }
}

/// The program of a command line, as it may be shown: quotes around the whole of it have made one word of the program and
/// its arguments.
pub(crate) fn shown_program(argv: &[String]) -> String {
    shown_name(&shown(argv.first().map_or("", String::as_str)))
}

/// Warns about what will not have been meant; `what` is what the program is to whoever set it.
pub(crate) fn warn(values: &Values, command: &Setting<Words>, what: &str, findings: &mut Findings) {
    if let Some(message) = values.get(command).and_then(|words| words.warning(what)) {
        findings.warn(command.name(), message);
    }
}

/// Up to the closing quote; nothing in between means anything.
fn single_quoted(rest: &mut std::str::Chars<'_>) -> Option<String> {
    let text = rest.as_str();
    let end = text.find('\'')?;
    *rest = text[end + 1..].chars();
    Some(text[..end].to_owned())
}

/// Up to the closing quote; a backslash escapes `$`, a backquote, `"`, itself
/// and the end of the line, and is a backslash elsewhere.
fn double_quoted(rest: &mut std::str::Chars<'_>, shell: &mut Option<char>) -> Option<String> {
    let mut quoted = String::new();
    loop {
        match rest.next()? {
            '"' => return Some(quoted),
            '\\' => match rest.next()? {
                '\n' => {}
                c @ ('$' | '`' | '"' | '\\') => quoted.push(c),
                c => quoted.extend(['\\', c]),
            },
            c => {
                if (c == '$' || c == '`') && shell.is_none() {
                    *shell = Some(c);
                }
                quoted.push(c);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_splits_them() {
        for (text, wanted) in [
            ("save", vec!["save"]),
            ("  rcon  save\tall \n", vec!["rcon", "save", "all"]),
            (r#"rcon "save all" 'it''s' a\ b"#, vec!["rcon", "save all", "its", "a b"]),
            (r#"x "a\"b\\c\d" 'a\b' "#, vec!["x", r#"a"b\c\d"#, r"a\b"]),
            (r#"x '' "" a"#, vec!["x", "", "", "a"]),
            ("x a\\\nb", vec!["x", "ab"]),
            ("x \"a\\\nb\"", vec!["x", "ab"]),
            (r"x \'", vec!["x", "'"]),
            ("x ü=\"ß\"", vec!["x", "ü=ß"]),
        ] {
            let words = split(text).expect(text);
            assert_eq!(words.argv, wanted, "{text}");
            assert_eq!(words.shell, None, "{text}");
        }
    }

    #[test]
    fn what_would_need_a_shell_is_noticed() {
        for (text, wanted) in [
            ("a | b", Some('|')),
            ("a $HOME", Some('$')),
            (r#"a "$HOME""#, Some('$')),
            ("a ~/x", Some('~')),
            ("a x~", None),
            ("a # b", Some('#')),
            ("a b#c", None),
            (r"a \$HOME '$HOME' '|'", None),
            (r#"a "a|b;c" "\$x""#, None),
        ] {
            assert_eq!(split(text).expect(text).shell, wanted, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_split_is_an_error() {
        for (text, message) in [
            ("a 'b", "has a ' that is not closed (add another ')"),
            ("a \"b", "has a \" that is not closed (add another \")"),
            ("a \"b\\", "has a \" that is not closed (add another \")"),
            ("a\\", r"ends in a lone backslash (write \\ for one)"),
            (" \t", "has no program in it (write a program and its arguments)"),
            ("'' a", "has an empty program (write a program and its arguments)"),
        ] {
            assert_eq!(split(text), Err(message.into()), "{text}");
        }
    }

    #[test]
    fn of_a_command_its_program_is_shown_and_no_argument_however_it_is_quoted() {
        for (text, line, program) in [
            ("rcon -p secret", "rcon ***", "rcon"),
            ("'rcon -p secret'", "'rcon ***", "rcon ***"),
            (r#""rcon -p secret""#, r#""rcon ***"#, "rcon ***"),
            (r"rcon\ -p\ secret", r"rcon\ ***", "rcon ***"),
            ("'rcon\u{a0}secret'", "'rcon ***", "rcon ***"),
            ("PASSWORD=secret rcon", "***", "***"),
            ("'PASSWORD=secret rcon'", "***", "***"),
            ("/opt/save", "/opt/save", "/opt/save"),
        ] {
            assert_eq!(shown(text), line, "{text}");
            assert_eq!(shown_program(&split(text).expect(text).argv), program, "{text}");
        }
    }

    #[test]
    fn a_command_in_one_pair_of_quotes_is_warned_about() {
        let warning = |text| split(text).expect(text).warning("hook");
        assert_eq!(warning("save all"), None);
        assert_eq!(warning("'/opt/my game/save' all"), None);
        assert!(warning("'save all'").expect("one word").starts_with("is one word"));
        assert!(warning("save | cat").expect("a shell's").starts_with("| is passed on"));
    }
}
