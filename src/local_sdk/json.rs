//! The bodies of the HTTP side's answers. Reading is done in `routes.rs`.

use super::request::{Refusal, Reply};
use crate::sdk::json;
pub(crate) use crate::sdk::json::{Writer, pretty_game_server, watch_line, write_game_server};

/// The body of a call that was accepted.
#[must_use]
pub fn reply(reply: &Reply) -> String {
    match reply {
        Reply::Empty | Reply::Later => "{}".to_owned(),
        Reply::GameServer(game_server) => json::game_server(game_server),
        Reply::Counter(counter) => json::counter(counter),
        Reply::List(list) => json::list(list),
        Reply::Health(healthy) => healthy.to_string(),
        Reply::Text(text) => text.clone(),
    }
}

/// The body of a call that was refused.
#[must_use]
pub fn refusal(refusal: &Refusal) -> String {
    let mut out = Writer::compact();
    out.object(|out| {
        out.field("code", |out| out.raw(refusal.code as u8));
        out.field("message", |out| out.string(&refusal.message));
        out.field("details", |out| out.list([(); 0], |_, ()| {}));
    });
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::super::request::Code;
    use super::*;

    #[test]
    fn refusals_look_like_the_gateways() {
        let refused = Refusal { code: Code::Unknown, message: "counter not found: \"a\"".into() };
        assert_eq!(refusal(&refused), r#"{"code":2,"message":"counter not found: \"a\"","details":[]}"#);
        assert_eq!(reply(&Reply::Empty), "{}");
    }
}
