//! What a listing of the child's group says: who is left, and whether they have heard the stop signal at all.

use nix::libc::{SIGHUP, SIGINT, SIGTERM};

use super::super::{Config, GroupMember};

/// Most processes that one line names.
const NAMED: usize = 8;

/// A shell's background jobs ignore INT and QUIT. Who ignores the stop signal has not been told, and SIGTERM tells it
/// unless it ignores that too. What has a handler has been told, and may be saving: it is left alone.
pub(super) fn not_told(members: &[GroupMember], config: &Config) -> Vec<i32> {
    let Some(signal) = &config.stop_signal else { return Vec::new() };
    let deaf = members.iter().filter(|member| member.ignores(signal.number) && !member.ignores(SIGTERM));
    deaf.map(|member| member.pid).collect()
}

/// `17 mc.sh (ignores SIGINT), 18 java`.
pub(super) fn describe(members: &[GroupMember], config: &Config) -> String {
    if members.is_empty() {
        return "nobody that /proc shows".into();
    }
    let configured = config.stop_signal.as_ref().map(|signal| (signal.number, signal.to_string()));
    let usual = [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT"), (SIGHUP, "SIGHUP")];
    let others = usual.map(|(number, name)| (number, name.to_owned()));
    let others = others.into_iter().filter(|(number, _)| configured.as_ref().is_none_or(|(other, _)| other != number));
    let signals: Vec<(i32, String)> = configured.clone().into_iter().chain(others).collect();
    let one = |member: &GroupMember| {
        let ignored = signals.iter().filter(|(number, _)| member.ignores(*number)).map(|(_, name)| name.as_str());
        let ignored = ignored.collect::<Vec<_>>().join(" ");
        let remark = if ignored.is_empty() { String::new() } else { format!(" (ignores {ignored})") };
        format!("{} {}{remark}", member.pid, member.name)
    };
    let mut text = members.iter().take(NAMED).map(one).collect::<Vec<_>>().join(", ");
    if members.len() > NAMED {
        text += &format!(" and {} more", members.len() - NAMED);
    }
    text
}
