//! The containers of a Pod: their environment as the kubelet resolves it, and what they run.

use std::collections::BTreeMap;

use super::catalogue::{FIELD, VALUE_UNKNOWN};
use super::expand::{Expanded, Known, expand};
use super::{Findings, Position};
use crate::manifest::field::{Field, shortened};
use crate::manifest::yaml::Wrong;
use crate::settings::{Unknown, Variable, is_ours};

/// What Agones sets itself in every container; a value of the user's own is taken out.
const OF_AGONES: [&str; 2] = ["AGONES_SDK_GRPC_PORT", "AGONES_SDK_HTTP_PORT"];

/// Linux takes no longer `NAME=value` (`MAX_ARG_STRLEN`).
const LONGEST: usize = 128 << 10;

/// A container, as far as the shim cares.
pub(super) struct Container<'a> {
    pub(super) field: Field<'a>,
    pub(super) name: String,
    /// It is one of `initContainers`.
    pub(super) is_init: bool,
    pub(super) env: Env,
    pub(super) runs: Runs,
    /// The command and the arguments, with their places.
    pub(super) words: Vec<(Position, String)>,
}

/// What a container runs, by its command, its arguments and the name of its image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Runs {
    /// The shim alone.
    Sidecar,
    /// The shim around this program, where it can be seen.
    Wrapper(Option<String>),
    /// Another command of the shim: `install`, `local-sdk`.
    Command,
    /// Whatever the image says.
    Image,
}

impl<'a> Container<'a> {
    pub(super) fn read(field: Field<'a>, is_init: bool, left: &mut usize, findings: &mut Findings<'_>) -> Option<Self> {
        findings.or_default(field.is_map().map(Some))?;
        let name = findings.or_default(field.text("name")).unwrap_or_default();
        let env = Env::read(&field, left, findings);
        let command = words(&field, "command", &env, left, findings);
        let args = words(&field, "args", &env, left, findings);
        let image = findings.or_default(field.text("image")).unwrap_or_default();
        let runs = runs(&command, &args, &image);
        let words = command.into_iter().chain(args).collect();
        Some(Self { field, name, is_init, env, runs, words })
    }

    /// The shim is in it: its settings say so, or its command.
    pub(super) fn has_shim(&self) -> bool {
        match self.runs {
            Runs::Command => false,
            Runs::Image => self.has_settings(),
            Runs::Wrapper(_) | Runs::Sidecar => true,
        }
    }

    /// The shim is told something.
    pub(super) fn has_settings(&self) -> bool {
        self.env.variables.iter().any(|given| is_ours(&given.name, given.text.as_deref().unwrap_or_default()))
    }
}

/// The environment of a container.
#[derive(Default)]
pub(super) struct Env {
    places: BTreeMap<String, usize>,
    variables: Vec<Given>,
    /// There is more, from `envFrom`.
    pub(super) has_more: bool,
}

struct Given {
    name: String,
    at: Position,
    /// `None` where it is not known.
    text: Option<String>,
    /// That is a finding of its own.
    is_wrong: bool,
}

impl Given {
    fn is_unknown(&self) -> bool {
        self.text.is_none() && !self.is_wrong
    }
}

impl Env {
    fn read(container: &Field<'_>, left: &mut usize, findings: &mut Findings<'_>) -> Self {
        let mut env = Self::default();
        if let Some(more) = container.get("envFrom") {
            env.has_more = !findings.or_default(more.items()).is_empty();
        }
        let Some(list) = container.get("env") else { return env };
        for item in findings.or_default(list.items()) {
            let name = findings.or_default(item.text("name")).unwrap_or_default();
            if name.is_empty() || OF_AGONES.contains(&name.as_str()) {
                continue;
            }
            let given = env.value(name.clone(), &item, left, findings);
            // Of two with one name the last counts.
            if let Some(&place) = env.places.get(&name) {
                env.variables[place] = given;
            } else {
                env.places.insert(name, env.variables.len());
                env.variables.push(given);
            }
        }
        env
    }

    fn value(&self, name: String, item: &Field<'_>, left: &mut usize, findings: &mut Findings<'_>) -> Given {
        let mut given = Given { name, at: item.at(), text: None, is_wrong: false };
        if item.get("valueFrom").is_some() {
            return given;
        }
        let Some(value) = item.get("value") else { return Given { text: Some(String::new()), ..given } };
        given.at = value.at();
        match value.string() {
            Ok(text) => given.text = self.expanded(given.at, &text, left, findings),
            Err(Wrong { at, message }) => {
                findings.add(&FIELD, at, message);
                given.is_wrong = true;
            }
        }
        given
    }

    fn find(&self, name: &str) -> Option<&Given> {
        self.places.get(name).map(|&place| &self.variables[place])
    }

    /// With what is known of the variables before it.
    fn expanded(&self, at: Position, text: &str, left: &mut usize, findings: &mut Findings<'_>) -> Option<String> {
        let known = |name: &str| match self.find(name) {
            Some(Given { text: Some(text), .. }) => Known::Value(text),
            Some(_) => Known::Unknown,
            None if self.has_more => Known::Unknown,
            None => Known::Nothing,
        };
        match expand(text, left, known) {
            Expanded::Text(text) if text.len() > LONGEST => {
                findings.add(
                    &FIELD,
                    at,
                    "longer than 128 KiB, with which Linux starts no program (write it into a file)",
                );
                None
            }
            Expanded::Text(text) => Some(text),
            Expanded::Unknown => None,
            Expanded::TooLong => {
                findings.add(
                    &FIELD,
                    at,
                    "the references $(...) of this file add up to more than 1 MiB (write the values out)",
                );
                None
            }
        }
    }

    /// A value that is known.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.find(name)?.text.as_deref().filter(|text| !text.is_empty())
    }

    /// It is set, or may be, to nobody knows what.
    pub(super) fn is_unknown(&self, name: &str) -> bool {
        self.find(name).map_or(self.has_more, |given| given.text.is_none())
    }

    pub(super) fn at(&self, name: &str) -> Option<Position> {
        self.find(name).map(|given| given.at)
    }

    /// For the settings: what is known, and of what it is known that it is not.
    pub(super) fn for_settings(&self) -> (Vec<Variable>, Unknown) {
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        for Given { name, text, .. } in &self.variables {
            match text {
                Some(text) => known.push((name.into(), text.into())),
                None => unknown.push(name.clone()),
            }
        }
        (known, Unknown { values: unknown, names: self.has_more })
    }

    /// Says what cannot be checked.
    pub(super) fn note_unknown(&self, container: Position, findings: &mut Findings<'_>) {
        for Given { name, at, .. } in
            self.variables.iter().filter(|given| given.is_unknown() && is_ours(&given.name, ""))
        {
            let name = shortened(name);
            findings.add(
                &VALUE_UNKNOWN,
                *at,
                format!("the value of {name} is known in the cluster alone: it counts as right"),
            );
        }
        if self.has_more {
            findings.add(&VALUE_UNKNOWN, container, "envFrom may hold settings: nothing counts as missing");
        }
    }
}

fn words(
    field: &Field<'_>,
    name: &str,
    env: &Env,
    left: &mut usize,
    findings: &mut Findings<'_>,
) -> Vec<(Position, String)> {
    let Some(list) = field.get(name) else { return Vec::new() };
    let items = findings.or_default(list.items());
    let mut words = Vec::with_capacity(items.len());
    for item in items {
        let text = findings.or_default(item.string());
        words.push((item.at(), env.expanded(item.at(), &text, left, findings).unwrap_or_default()));
    }
    words
}

fn runs(command: &[(Position, String)], args: &[(Position, String)], image: &str) -> Runs {
    let words: Vec<&str> = command.iter().chain(args).map(|(_, word)| word.as_str()).collect();
    let is_shim = |word: &&str| word.rsplit('/').next() == Some("agones-shim");
    let behind = match words.iter().position(is_shim) {
        _ if command.is_empty() && is_image_of_shim(image) => &words[..],
        Some(at) if !command.is_empty() => &words[at + 1..],
        // In a script, or behind an entrypoint of which only the arguments are known.
        _ if words.iter().any(|word| word.contains("agones-shim -- ")) => return Runs::Wrapper(None),
        _ if command.is_empty() && words.first() == Some(&"--") => &words[..],
        _ => return Runs::Image,
    };
    match behind {
        [] => Runs::Sidecar,
        ["--", program @ ..] => Runs::Wrapper(program.first().map(|program| (*program).to_owned())),
        _ => Runs::Command,
    }
}

/// `registry.example.com/agones-shim:0.1.0`, whatever stands before and behind.
fn is_image_of_shim(image: &str) -> bool {
    let name = image.rsplit('/').next().unwrap_or_default();
    name.split([':', '@']).next() == Some("agones-shim")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_container_runs_is_seen_by_its_words_and_its_image() {
        let wrapper = |program: &str| Runs::Wrapper(Some(program.into()));
        for (command, args, image, wanted) in [
            ("", "", "game:1", Runs::Image),
            ("/srv/game", "--port=1", "game:1", Runs::Image),
            ("", "", "registry.example.com:5000/agones-shim:0.1.0", Runs::Sidecar),
            ("", "install /shim", "agones-shim@sha256:00", Runs::Command),
            ("/agones-shim", "", "game:1", Runs::Sidecar),
            ("/agones-shim", "local-sdk", "game:1", Runs::Command),
            ("/agones-shim --", "/srv/game -x", "game:1", wrapper("/srv/game")),
            ("", "-- /srv/game", "game-with-shim:1", wrapper("/srv/game")),
            ("/usr/bin/tini -- /shim/agones-shim -- /srv/game", "", "game:1", wrapper("/srv/game")),
        ] {
            let words =
                |text: &str| text.split_whitespace().map(|word| (Position::START, word.to_owned())).collect::<Vec<_>>();
            assert_eq!(runs(&words(command), &words(args), image), wanted, "{command:?} {args:?} {image}");
        }
        let script = [
            (Position::START, "sh".to_owned()),
            (Position::START, "cd /srv && exec /agones-shim -- ./game".to_owned()),
        ];
        assert_eq!(runs(&script, &[], "game:1"), Runs::Wrapper(None));
    }
}
