//! Counters and Lists by the cluster's rules and in its words.
//!
//! Pure. Two views of each: what the GameServer shows, and what the SDK server
//! answers before the batch has been written (measured with Agones 1.60).

use std::collections::BTreeMap;

use super::request::Refusal;
use crate::manifest::spec::{Counter, LIST_MAX_CAPACITY, List};
use crate::sdk::proto::beta;

impl Counter {
    fn clamped(self) -> Self {
        Self { count: self.count.clamp(0, self.capacity.max(0)), capacity: self.capacity }
    }

    fn message(self, name: &str) -> beta::Counter {
        let Self { count, capacity } = self.clamped();
        beta::Counter { name: name.to_owned(), count, capacity }
    }

    fn check(self) -> Result<(), Refusal> {
        if (0..=self.capacity).contains(&self.count) {
            return Ok(());
        }
        Err(Refusal::unknown(format!(
            "out of range. Count must be within range [0,Capacity]. Found Count: {}, Capacity: {}",
            self.count, self.capacity
        )))
    }
}

/// All Counters of a GameServer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    shown: BTreeMap<String, Counter>,
    /// Not yet clamped: a capacity that sinks and rises within one batch leaves
    /// the count as it was.
    batched: BTreeMap<String, Counter>,
}

impl Counters {
    /// As declared.
    #[must_use]
    pub fn new(declared: BTreeMap<String, Counter>) -> Self {
        Self { shown: declared, batched: BTreeMap::new() }
    }

    /// What the GameServer shows.
    #[must_use]
    pub fn shown(&self) -> &BTreeMap<String, Counter> {
        &self.shown
    }

    /// GetCounter: the value with every batched change in it.
    ///
    /// # Errors
    /// An undeclared name.
    pub fn get(&self, name: &str) -> Result<beta::Counter, Refusal> {
        self.view(name).map(|counter| counter.message(name))
    }

    /// UpdateCounter: checks, and batches.
    ///
    /// # Errors
    /// An undeclared name, a count out of range, or nothing to update.
    pub fn update(&mut self, update: Option<beta::CounterUpdateRequest>) -> Result<beta::Counter, Refusal> {
        let Some(update) = update else {
            let message = "invalid argument. CounterUpdateRequest: <nil> cannot be nil";
            return Err(Refusal::unknown(message.to_owned()));
        };
        let name = update.name;
        if update.count.is_none() && update.capacity.is_none() && update.count_diff == 0 {
            return Err(Refusal::unknown(format!("invalid argument. Malformed CounterUpdateRequest: name:{name:?}")));
        }
        let mut counter = self.view(&name)?;
        if let Some(capacity) = update.capacity {
            if capacity < 0 {
                return Err(Refusal::unknown(format!(
                    "out of range. Capacity must be greater than or equal to 0. Found Capacity: {capacity}"
                )));
            }
            counter.capacity = capacity;
        }
        if let Some(count) = update.count {
            counter.count = count;
            counter.check()?;
        }
        if update.count_diff != 0 {
            counter.count = counter.count.saturating_add(update.count_diff);
            counter.check()?;
        }
        let answer = counter.message(&name);
        self.batched.insert(name, counter);
        Ok(answer)
    }

    /// The batch time is over: shows what was batched, and names it.
    pub fn flush(&mut self) -> Vec<(String, Counter)> {
        let batch: Vec<_> =
            std::mem::take(&mut self.batched).into_iter().map(|(name, counter)| (name, counter.clamped())).collect();
        self.shown.extend(batch.iter().cloned());
        batch
    }

    fn view(&self, name: &str) -> Result<Counter, Refusal> {
        let counter = self.batched.get(name).or_else(|| self.shown.get(name));
        counter.copied().ok_or_else(|| Refusal::unknown(format!("counter not found: {name}")))
    }
}

impl List {
    fn truncated(mut self) -> Self {
        self.values.truncate(usize::try_from(self.capacity).unwrap_or(0));
        self
    }

    fn message(&self, name: &str) -> beta::List {
        let Self { capacity, values } = self.clone().truncated();
        beta::List { name: name.to_owned(), capacity, values }
    }
}

/// All Lists of a GameServer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    shown: BTreeMap<String, List>,
    batched: BTreeMap<String, List>,
}

impl Lists {
    /// As declared.
    #[must_use]
    pub fn new(declared: BTreeMap<String, List>) -> Self {
        Self { shown: declared, batched: BTreeMap::new() }
    }

    /// What the GameServer shows.
    #[must_use]
    pub fn shown(&self) -> &BTreeMap<String, List> {
        &self.shown
    }

    /// GetList: the List with every batched change in it.
    ///
    /// # Errors
    /// An undeclared name.
    pub fn get(&self, name: &str) -> Result<beta::List, Refusal> {
        self.view(name).map(|list| list.message(name))
    }

    /// UpdateList: overwrites what the mask names. Answers an empty List, as
    /// the cluster does.
    ///
    /// # Errors
    /// An undeclared name, a missing part, a field that a List does not have,
    /// a capacity out of range.
    pub fn update(&mut self, update: beta::UpdateListRequest) -> Result<beta::List, Refusal> {
        let (Some(wanted), Some(mask)) = (update.list, update.update_mask) else {
            return Err(Refusal::unknown("invalid argument. List and UpdateMask cannot be nil".to_owned()));
        };
        if let Some(path) = mask.paths.iter().find(|path| !matches!(path.as_str(), "name" | "capacity" | "values")) {
            return Err(Refusal::unknown(format!(
                "invalid argument. Field Mask Path(s): [{path}] are invalid for List. Use valid field name(s): name, capacity, values"
            )));
        }
        if !(0..=LIST_MAX_CAPACITY).contains(&wanted.capacity) {
            return Err(Refusal::unknown(format!(
                "out of range. Capacity must be within range [0,{LIST_MAX_CAPACITY}]. Found Capacity: {}",
                wanted.capacity
            )));
        }
        let Ok(mut list) = self.view(&wanted.name) else {
            return Err(Refusal::unknown(format!("not found. {} List not found", wanted.name)));
        };
        for path in &mask.paths {
            match path.as_str() {
                "capacity" => list.capacity = wanted.capacity,
                "values" => list.values = without_repeats(&wanted.values),
                _ => {}
            }
        }
        self.batched.insert(wanted.name, list);
        Ok(beta::List::default())
    }

    /// AddListValue: answers the List with the value in it.
    ///
    /// # Errors
    /// An undeclared name, a full List, a value that is there.
    pub fn add(
        &mut self,
        beta::AddListValueRequest { name, value }: beta::AddListValueRequest,
    ) -> Result<beta::List, Refusal> {
        let mut list = self.view(&name)?.truncated();
        let size = list.values.len();
        if i64::try_from(size).is_ok_and(|size| list.capacity <= size) {
            return Err(Refusal::unknown(format!(
                "out of range. No available capacity. Current Capacity: {}, List Size: {size}",
                list.capacity
            )));
        }
        if list.values.contains(&value) {
            return Err(Refusal::unknown(format!("already exists. Value: {value} already in List: {name}")));
        }
        list.values.push(value);
        let answer = list.message(&name);
        self.batched.insert(name, list);
        Ok(answer)
    }

    /// RemoveListValue: answers the List without the value; as it was before, where the value itself still waits in
    /// the batch (measured).
    ///
    /// # Errors
    /// An undeclared name, a value that is not there.
    pub fn remove(
        &mut self,
        beta::RemoveListValueRequest { name, value }: beta::RemoveListValueRequest,
    ) -> Result<beta::List, Refusal> {
        let mut list = self.view(&name)?.truncated();
        let before = list.message(&name);
        let Some(position) = list.values.iter().position(|present| *present == value) else {
            return Err(Refusal::unknown(format!("not found: value {value} not in list {name}")));
        };
        list.values.remove(position);
        let is_waiting = !self.shown.get(&name).is_some_and(|shown| shown.values.contains(&value));
        let answer = if is_waiting { before } else { list.message(&name) };
        self.batched.insert(name, list);
        Ok(answer)
    }

    /// The batch time is over: shows what was batched, and names it.
    pub fn flush(&mut self) -> Vec<(String, List)> {
        let batch: Vec<_> =
            std::mem::take(&mut self.batched).into_iter().map(|(name, list)| (name, list.truncated())).collect();
        self.shown.extend(batch.iter().cloned());
        batch
    }

    fn view(&self, name: &str) -> Result<List, Refusal> {
        let list = self.batched.get(name).or_else(|| self.shown.get(name));
        list.cloned().ok_or_else(|| Refusal::unknown(format!("list not found: {name}")))
    }
}

fn without_repeats(values: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::with_capacity(values.len());
    for value in values {
        if !kept.contains(value) {
            kept.push(value.clone());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sdk::proto::FieldMask;

    fn counters() -> Counters {
        Counters::new(BTreeMap::from([("rooms".into(), Counter { count: 4, capacity: 10 })]))
    }

    #[expect(clippy::unnecessary_wraps, reason = "as the message has it")]
    fn update(count: Option<i64>, capacity: Option<i64>, count_diff: i64) -> Option<beta::CounterUpdateRequest> {
        Some(beta::CounterUpdateRequest { name: "rooms".into(), count, capacity, count_diff })
    }

    /// `4/10`, or the text of the refusal.
    fn told(answer: Result<beta::Counter, Refusal>) -> String {
        answer.map_or_else(|refusal| refusal.message, |counter| format!("{}/{}", counter.count, counter.capacity))
    }

    #[test]
    fn counter_updates_are_answered_in_the_clusters_words() {
        let range = |count, capacity| {
            format!("out of range. Count must be within range [0,Capacity]. Found Count: {count}, Capacity: {capacity}")
        };
        for (request, wanted) in [
            (update(Some(7), None, 0), "7/10".to_owned()),
            (update(None, None, 3), "7/10".to_owned()),
            (update(None, None, -4), "0/10".to_owned()),
            (update(Some(10), None, 0), "10/10".to_owned()),
            (update(Some(11), None, 0), range(11, 10)),
            (update(Some(11), Some(12), 0), "11/12".to_owned()),
            (update(Some(-1), None, 0), range(-1, 10)),
            (update(None, None, -5), range(-1, 10)),
            (update(None, None, 7), range(11, 10)),
            (update(None, None, i64::MAX), range(i64::MAX, 10)),
            (update(None, Some(2), 0), "2/2".to_owned()),
            (update(None, Some(0), 0), "0/0".to_owned()),
            (
                update(None, Some(-1), 0),
                "out of range. Capacity must be greater than or equal to 0. Found Capacity: -1".to_owned(),
            ),
            (update(None, None, 0), "invalid argument. Malformed CounterUpdateRequest: name:\"rooms\"".to_owned()),
            (None, "invalid argument. CounterUpdateRequest: <nil> cannot be nil".to_owned()),
        ] {
            assert_eq!(told(counters().update(request.clone())), wanted, "{request:?}");
        }
        assert_eq!(told(counters().get("nope")), "counter not found: nope");
    }

    #[test]
    fn a_refused_update_changes_nothing() {
        let mut counters = counters();
        let before = counters.clone();
        counters.update(update(Some(20), Some(15), 0)).expect_err("above the new capacity");
        assert_eq!(counters, before);
    }

    #[test]
    fn a_capacity_that_dips_within_a_batch_leaves_the_count() {
        let mut counters = counters();
        assert_eq!(told(counters.update(update(None, Some(2), 0))), "2/2");
        assert_eq!(told(counters.update(update(None, Some(10), 0))), "4/10");
        assert_eq!(counters.flush(), [("rooms".to_owned(), Counter { count: 4, capacity: 10 })]);
        assert_eq!(counters.flush(), [], "once");
    }

    fn lists() -> Lists {
        let values = vec!["ann".to_owned(), "bob".to_owned()];
        Lists::new(BTreeMap::from([("names".into(), List { capacity: 3, values })]))
    }

    fn listed(answer: Result<beta::List, Refusal>) -> String {
        answer.map_or_else(|refusal| refusal.message, |list| format!("{} of {}", list.values.join(","), list.capacity))
    }

    fn add(lists: &mut Lists, value: &str) -> String {
        listed(lists.add(beta::AddListValueRequest { name: "names".into(), value: value.into() }))
    }

    fn remove(lists: &mut Lists, value: &str) -> String {
        listed(lists.remove(beta::RemoveListValueRequest { name: "names".into(), value: value.into() }))
    }

    fn overwrite(lists: &mut Lists, mask: &[&str], capacity: i64, values: &[&str]) -> String {
        let values = values.iter().map(|&value| value.to_owned()).collect();
        let list = Some(beta::List { name: "names".into(), capacity, values });
        let paths = mask.iter().map(|&path| path.to_owned()).collect();
        let answer = lists.update(beta::UpdateListRequest { list, update_mask: Some(FieldMask { paths }) });
        match answer {
            Ok(answer) => {
                assert_eq!(answer, beta::List::default());
                listed(lists.get("names"))
            }
            Err(refusal) => refusal.message,
        }
    }

    #[test]
    fn list_values_come_and_go_in_the_clusters_words() {
        let mut lists = lists();
        assert_eq!(add(&mut lists, "ann"), "already exists. Value: ann already in List: names");
        assert_eq!(add(&mut lists, "cid"), "ann,bob,cid of 3");
        assert_eq!(add(&mut lists, "dan"), "out of range. No available capacity. Current Capacity: 3, List Size: 3");
        assert_eq!(remove(&mut lists, "zoe"), "not found: value zoe not in list names");
        assert_eq!(remove(&mut lists, "ann"), "bob,cid of 3");
        assert_eq!(remove(&mut lists, "cid"), "bob,cid of 3", "it waits in the batch: the list as it was");
        assert_eq!(listed(lists.get("names")), "bob of 3");
        assert_eq!(lists.shown()["names"].values, ["ann", "bob"], "the GameServer shows it after the batch");
        lists.flush();
        assert_eq!(lists.shown()["names"].values, ["bob"]);
        add(&mut lists, "cid");
        lists.flush();
        assert_eq!(remove(&mut lists, "cid"), "bob of 3", "it waits no more");
        assert_eq!(listed(lists.get("nope")), "list not found: nope");
    }

    #[test]
    fn a_list_update_overwrites_what_the_mask_names() {
        assert_eq!(overwrite(&mut lists(), &["capacity"], 1, &["x"]), "ann of 1");
        assert_eq!(overwrite(&mut lists(), &["values"], 0, &["x", "y", "x"]), "x,y of 3");
        assert_eq!(overwrite(&mut lists(), &["values", "capacity"], 2, &["a", "b", "c"]), "a,b of 2");
        assert_eq!(overwrite(&mut lists(), &[], 9, &["x"]), "ann,bob of 3");
        assert_eq!(
            overwrite(&mut lists(), &["capacity"], 1001, &[]),
            "out of range. Capacity must be within range [0,1000]. Found Capacity: 1001"
        );
        assert_eq!(
            overwrite(&mut lists(), &["color"], 1, &[]),
            "invalid argument. Field Mask Path(s): [color] are invalid for List. Use valid field name(s): name, capacity, values"
        );
        let nothing = lists().update(beta::UpdateListRequest::default());
        assert_eq!(listed(nothing), "invalid argument. List and UpdateMask cannot be nil");
        let list = Some(beta::List { name: "nope".into(), ..Default::default() });
        let unknown = lists().update(beta::UpdateListRequest { list, update_mask: Some(FieldMask::default()) });
        assert_eq!(listed(unknown), "not found. nope List not found");
    }
}
