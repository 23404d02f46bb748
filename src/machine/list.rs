//! The List: it holds the names of the players that the last good reading found, and nothing else.
//!
//! Names come and go one by one, removals first so that there is room. What the List holds is read before a change, and
//! once more with the reading after it: a server that batches may lose a removal behind an addition, and others may
//! write too. Names that are not players' go, whoever put them there: after a restart of the shim nobody else would.

use std::collections::BTreeSet;

use super::event::CallError;
use super::publish::Next;
use super::{Call, Effect, Effects, ListSnapshot, Notice};
use crate::sdk::game_server::List;

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
    /// It was changed and has not been read since.
    unconfirmed: bool,
    /// Values that could not be added or removed since the last reading: the List was read anew for each.
    refused: BTreeSet<String>,
    next: Next,
    /// What a warning has been written about and not yet taken back.
    rejected: Option<String>,
    nameless: bool,
    full: bool,
}

impl ListState {
    pub(super) fn new(name: String) -> Self {
        Self {
            name,
            names: None,
            values: None,
            capacity: 0,
            unconfirmed: false,
            refused: BTreeSet::new(),
            next: Next::Nothing,
            rejected: None,
            nameless: false,
            full: false,
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
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
        self.names = Some(names.iter().filter_map(|name| presentable(name)).take(NAMES_MAX).collect());
        self.refused.clear();
        if self.next == Next::Nothing && (self.unconfirmed || self.values != self.names) {
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
        self.unconfirmed = false;
        self.go_on(out);
    }

    /// This change was taken.
    pub(super) fn taken(&mut self, change: Option<Call>, out: &mut Effects) {
        if let Some(values) = &mut self.values {
            match change {
                Some(Call::AddListValue { value, .. }) => drop(values.insert(value)),
                Some(Call::RemoveListValue { value, .. }) => drop(values.remove(&value)),
                _ => {}
            }
        }
        self.unconfirmed = true;
        self.go_on(out);
    }

    /// Whether it has to wait for [`ListState::retry`].
    pub(super) fn refused(&mut self, call: Option<Call>, error: CallError, out: &mut Effects) -> bool {
        if let Some(Call::AddListValue { value, .. } | Call::RemoveListValue { value, .. }) = call
            && self.refused.insert(value)
        {
            // Full, there already, not there: somebody else has changed it.
            self.next = Next::Get;
            return false;
        }
        self.next = Next::Wait;
        if self.rejected.replace(error.message.clone()).is_none() {
            out.push(Effect::Log(Notice::ListRejected { name: self.name.clone(), error: error.message }));
        }
        true
    }

    pub(super) fn retry(&mut self) {
        if self.next == Next::Wait {
            self.refused.clear();
            self.next = Next::Get;
        }
    }

    /// The next change, if there is one to make.
    fn change(&self) -> Option<Call> {
        let (names, values) = (self.names.as_ref()?, self.values.as_ref()?);
        let name = self.name.clone();
        if let Some(value) = values.difference(names).next() {
            return Some(Call::RemoveListValue { name, value: value.clone() });
        }
        let value = names.difference(values).next().filter(|_| self.has_room(values.len()))?;
        Some(Call::AddListValue { name, value: value.clone() })
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
        if self.rejected.take().is_some() {
            out.push(Effect::Log(Notice::ListWorks { name: self.name.clone() }));
        }
        let names = self.names.as_ref().map_or(0, BTreeSet::len);
        let full = self.names != self.values;
        if full && !self.full {
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
