//! The List: it holds the names of the players that the last good reading found, and nothing else.
//!
//! Names come and go one by one, removals first so that there is room. What the List holds is read before a change, and
//! again where the GameServer does not show it later: a server that batches may lose a removal behind an addition, and
//! others may write too. A name that is refused is left out for a minute and holds up no other. Names that are not
//! players' go, whoever put them there: after a restart of the shim nobody else would.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use super::publish::Next;
use super::read_back::Outstanding;
use super::{Call, Effect, Effects, ListSnapshot, Notice};
use crate::sdk::call::CallError;
use crate::sdk::game_server::{GameServer, List};

/// Characters of the longest name: the protocols allow 15 to 36 bytes.
const NAME_MAX: usize = 64;
/// Agones' own bound on the values of a List.
const NAMES_MAX: usize = 1000;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct ListState {
    name: String,
    /// The names of the last reading that had any, each once.
    names: Option<BTreeSet<String>>,
    /// What the List holds, as far as it is known since the SDK server was last connected.
    values: Option<BTreeSet<String>>,
    capacity: i64,
    /// It was changed, and whether the GameServer shows it.
    outstanding: Outstanding,
    /// Values that could not be added or removed: the List was read anew for each.
    refused: BTreeMap<String, Refused>,
    /// What was said of the last of them.
    refusal: String,
    next: Next,
    /// What a warning has been written about and not yet taken back.
    rejected: Option<String>,
    nameless: bool,
    full: bool,
}

/// When a value was refused.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Refused {
    /// Since the last reading: somebody else may have been faster.
    Now,
    /// Before it: it is tried once more.
    Before,
    /// Once more: it waits for [`ListState::retry`].
    Again,
}

impl ListState {
    pub(super) fn new(name: String) -> Self {
        Self {
            name,
            names: None,
            values: None,
            capacity: 0,
            outstanding: Outstanding::default(),
            refused: BTreeMap::new(),
            refusal: String::new(),
            next: Next::Nothing,
            rejected: None,
            nameless: false,
            full: false,
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// What a warning says of it while the SDK server rejects it.
    pub(super) fn rejection(&self) -> Option<Notice> {
        Some(Notice::ListRejected { name: self.name.clone(), error: self.rejected.clone()? })
    }

    /// `failure` is why there is no reading.
    pub(super) fn snapshot(&self, failure: Option<&String>) -> ListSnapshot {
        let nameless = self.nameless.then(|| "the answer has no names in it".to_owned());
        ListSnapshot {
            name: self.name.clone(),
            names: self.names.as_ref().map(BTreeSet::len),
            values: self.values.as_ref().map(BTreeSet::len),
            capacity: self.values.as_ref().map(|_| self.capacity),
            error: failure.or(self.rejected.as_ref()).cloned().or(nameless),
        }
    }

    /// Whoever comes back may not know the names.
    pub(super) fn forget(&mut self) {
        self.values = None;
        self.outstanding = Outstanding::default();
        self.refused.clear();
        self.next = if self.names.is_some() { Next::Get } else { Next::Nothing };
    }

    pub(super) fn read(&mut self, names: Option<Vec<String>>, out: &mut Effects) {
        let Some(names) = names else {
            if !std::mem::replace(&mut self.nameless, true) {
                out.push(Effect::Log(Notice::NamesMissing { name: self.name.clone() }));
            }
            return;
        };
        if std::mem::take(&mut self.nameless) {
            out.push(Effect::Log(Notice::NamesBack { name: self.name.clone() }));
        }
        let names = Some(names.iter().filter_map(|name| presentable(name)).take(NAMES_MAX).collect());
        if names != self.names {
            self.names = names;
            self.outstanding.renew();
        }
        for refused in self.refused.values_mut().filter(|refused| **refused == Refused::Now) {
            *refused = Refused::Before;
        }
        if self.next == Next::Nothing && (self.values.is_none() || self.differences().next().is_some()) {
            self.next = Next::Get;
        }
    }

    pub(super) fn is_outstanding(&self) -> bool {
        self.outstanding.is_open()
    }

    /// What it was changed to shows, or does not.
    pub(super) fn looked(&mut self, now: Instant, game_server: &GameServer) {
        let shown = game_server.lists.get(&self.name).zip(self.values.as_ref());
        let shown = shown.is_some_and(|(list, values)| {
            list.values.len() == values.len() && list.values.iter().all(|value| values.contains(value))
        });
        if self.outstanding.looked(now, shown) && self.next == Next::Nothing {
            self.next = Next::Get;
        }
    }

    pub(super) fn next_call(&mut self) -> Option<Call> {
        match self.next {
            Next::Nothing | Next::Wait => None,
            Next::Get => Some(Call::GetList(self.name.clone())),
            Next::Change => self.change(),
        }
    }

    /// It was read.
    pub(super) fn got(&mut self, found: List, out: &mut Effects) {
        self.capacity = found.capacity;
        self.values = Some(found.values.into_iter().collect());
        self.go_on(out);
    }

    /// This change was taken.
    pub(super) fn taken(&mut self, now: Instant, change: Option<Call>, out: &mut Effects) {
        if let Some(values) = &mut self.values {
            match change {
                Some(Call::AddListValue { value, .. }) => {
                    self.refused.remove(&value);
                    values.insert(value);
                }
                Some(Call::RemoveListValue { value, .. }) => {
                    self.refused.remove(&value);
                    values.remove(&value);
                }
                _ => {}
            }
        }
        self.outstanding.acknowledged(now, true);
        self.go_on(out);
    }

    /// No answer: what it holds now nobody knows.
    pub(super) fn unanswered(&mut self) {
        self.values = None;
        self.next = Next::Wait;
    }

    /// Something waits for [`ListState::retry`].
    pub(super) fn refused(&mut self, call: Option<Call>, error: CallError, out: &mut Effects) {
        if let Some(Call::AddListValue { value, .. } | Call::RemoveListValue { value, .. }) = call {
            // Full, there already, not there: somebody else may have changed it.
            let now = if self.refused.contains_key(&value) { Refused::Again } else { Refused::Now };
            self.refused.insert(value, now);
            self.refusal = error.message;
            self.next = Next::Get;
            return;
        }
        self.next = Next::Wait;
        self.reject(error.message, out);
    }

    fn reject(&mut self, error: String, out: &mut Effects) {
        if self.rejected.replace(error.clone()).is_none() {
            out.push(Effect::Log(Notice::ListRejected { name: self.name.clone(), error }));
        }
    }

    pub(super) fn retry(&mut self) {
        if self.next == Next::Wait || !self.refused.is_empty() {
            self.refused.values_mut().for_each(|refused| *refused = Refused::Before);
            self.next = if self.names.is_some() { Next::Get } else { Next::Nothing };
        }
    }

    /// The next change, if there is one to make.
    fn change(&self) -> Option<Call> {
        let values = self.values.as_ref()?;
        let name = self.name.clone();
        if let Some(value) = self.differences().find(|value| values.contains(*value)) {
            return Some(Call::RemoveListValue { name, value: value.clone() });
        }
        let value = self.differences().next().filter(|_| self.has_room(values.len()))?;
        Some(Call::AddListValue { name, value: value.clone() })
    }

    /// Where the names and what the List holds differ, but for what was refused.
    fn differences(&self) -> impl Iterator<Item = &String> {
        let both = self.names.iter().zip(&self.values);
        let differences = both.flat_map(|(names, values)| names.symmetric_difference(values));
        differences.filter(|value| matches!(self.refused.get(*value), None | Some(Refused::Before)))
    }

    /// The last word on each value that was refused and by which the List would still have to be changed.
    fn refusals(&self) -> impl Iterator<Item = Refused> {
        let both = self.names.iter().zip(&self.values);
        both.flat_map(|(names, values)| {
            let differs = |value: &String| names.contains(value) != values.contains(value);
            self.refused.iter().filter(move |(value, _)| differs(value)).map(|(_, refused)| *refused)
        })
    }

    fn has_room(&self, values: usize) -> bool {
        usize::try_from(self.capacity).is_ok_and(|capacity| values < capacity)
    }

    /// A call has succeeded: the next change, or all is as it should be.
    fn go_on(&mut self, out: &mut Effects) {
        if self.change().is_some() {
            self.next = Next::Change;
            return;
        }
        self.next = Next::Nothing;
        if self.refusals().any(|refused| refused == Refused::Again) {
            self.reject(self.refusal.clone(), out);
        } else if self.refusals().next().is_none() && self.rejected.take().is_some() {
            out.push(Effect::Log(Notice::ListWorks { name: self.name.clone() }));
        }
        let full = self.differences().next().is_some();
        if full && !self.full {
            let names = self.names.as_ref().map_or(0, BTreeSet::len);
            let (name, capacity) = (self.name.clone(), self.capacity);
            out.push(Effect::Log(Notice::ListFull { name, names, capacity }));
        }
        self.full = full;
    }
}

/// A name as a value of a List; none for a player who has none yet.
fn presentable(name: &str) -> Option<String> {
    let plain: String = name.chars().filter(|c| !c.is_control()).collect();
    let cut: String = plain.trim().chars().take(NAME_MAX).collect();
    let name = cut.trim_end();
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_fit_for_a_list() {
        let long = "ö".repeat(100);
        for (name, wanted) in [
            ("ann", Some("ann")),
            ("", None),
            (" \t ", None),
            ("\u{1b}[2Jbob\n", Some("[2Jbob")),
            (" cid  dee ", Some("cid  dee")),
            (&long, Some(&long[..128])),
        ] {
            assert_eq!(presentable(name).as_deref(), wanted, "{name:?}");
        }
    }
}
