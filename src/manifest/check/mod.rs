//! `agones-shim check -f`: GameServers, Fleets and FleetAutoscalers held against the shim's settings in them.
//!
//! Pure: texts in, findings out. Nothing stops at the first one; what a manifest does not say is not guessed. What is
//! wrong with a single object is in `rules.rs`, what two of them have to agree on in `autoscaler.rs`.

mod autoscaler;
pub(crate) mod catalogue;
mod expand;
mod pod;
mod report;
mod rules;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use super::field::{Field, shortened};
use super::game_server;
use super::yaml::{self, Position, Wrong};
use autoscaler::{Fed, Scales};
use catalogue::{FIELD, FILE, Rule, Severity};
pub(crate) use report::Report;

/// Most findings that are kept; more would help nobody.
const MAX_FINDINGS: usize = 1000;
/// What `$(NAME)` may add to the texts of a file; a container's environment has some kilobytes.
const MAX_REFERENCES: usize = 1 << 20;

/// Something to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub file: Rc<str>,
    pub at: Position,
    pub rule: &'static Rule,
    /// What it is, and what to write instead.
    pub message: String,
}

/// Takes one file after the other, and keeps of each no more than what another may have to agree with.
#[derive(Default)]
pub(crate) struct Checker {
    found: Vec<Finding>,
    /// There was no room for more.
    is_cut: bool,
    /// Objects that were looked at.
    objects: usize,
    fleets: Vec<Fed>,
    scalers: Vec<Scales>,
}

/// The findings of one file, as they come.
struct Findings<'a> {
    file: Rc<str>,
    checker: &'a mut Checker,
}

impl Findings<'_> {
    fn add(&mut self, rule: &'static Rule, at: Position, message: impl AsRef<str>) {
        self.checker.add(Finding {
            file: self.file.clone(),
            at,
            rule,
            message: shortened(message.as_ref()).into_owned(),
        });
    }

    fn or_default<T: Default>(&mut self, read: Result<T, Wrong>) -> T {
        read.unwrap_or_else(|wrong| {
            self.add(&FIELD, wrong.at, wrong.message);
            T::default()
        })
    }
}

impl Checker {
    /// One file, or why it could not be read.
    pub(crate) fn file(&mut self, name: &str, text: Result<&str, String>) {
        let mut findings = Findings { file: name.into(), checker: self };
        let documents = match text {
            Ok(text) => yaml::documents(text),
            Err(error) => Err(Wrong { at: Position::START, message: error }),
        };
        match documents {
            Ok(documents) => {
                let mut left = MAX_REFERENCES;
                for document in &documents {
                    findings.document(document, &mut left);
                }
            }
            Err(Wrong { at, message }) => findings.add(&FILE, at, message),
        }
    }

    fn add(&mut self, finding: Finding) {
        // By file and place. An object that aliases repeat has its findings once.
        let place = self.found.partition_point(|other| (&other.file, other.at) <= (&finding.file, finding.at));
        let is_there =
            self.found[..place].iter().rev().take_while(|other| other.at == finding.at).any(|other| *other == finding);
        if self.found.len() >= MAX_FINDINGS {
            self.is_cut = true;
        } else if !is_there {
            self.found.insert(place, finding);
        }
    }

    /// What was found, those of two objects that have to agree included.
    pub(crate) fn finish(mut self) -> Report {
        autoscaler::agree(&mut self);
        Report { findings: self.found, is_cut: self.is_cut, objects: self.objects }
    }
}

impl Findings<'_> {
    fn document(&mut self, document: &yaml::Node, left: &mut usize) {
        let mut errors = super::field::Errors::default();
        for object in game_server::objects(document, &mut errors) {
            let kind = game_server::kind(&object, &mut errors);
            let game_server = match kind.as_deref() {
                Some("GameServer") => Some(object.clone()),
                Some("Fleet" | "GameServerSet") => game_server::fleet_template(&object, &mut errors),
                Some("FleetAutoscaler") => {
                    self.checker.objects += 1;
                    autoscaler::read(&object, self);
                    None
                }
                _ => None,
            };
            if let Some(game_server) = game_server {
                self.checker.objects += 1;
                let spec = game_server::game_server(&game_server, &mut errors);
                self.game_server(&object, &game_server, &spec, left);
            }
        }
        for Wrong { at, message } in errors.0 {
            self.add(&FIELD, at, message);
        }
    }
}

fn namespace_of(object: &Field<'_>) -> String {
    text_of(object, "namespace").unwrap_or_else(|| "default".into())
}

/// A text of an object's metadata.
fn text_of(object: &Field<'_>, name: &str) -> Option<String> {
    object.get("metadata")?.get(name)?.string().ok()
}
