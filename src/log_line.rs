//! Writes what the machine says to the log: its level, text and fields, with the id of the message first.

use crate::machine::{Description, Notice};

/// The field with a message's id: in JSON alone, since text is for people.
pub(crate) const ID: &str = "id";

/// Writes one line.
pub(crate) fn write(notice: &Notice) {
    let Description { level, id, text, mut fields, .. } = notice.describe();
    fields.insert(0, (ID, id.to_owned()));
    log::logger().log(
        &log::Record::builder()
            .level(level)
            .target(env!("CARGO_CRATE_NAME"))
            .args(format_args!("{text}"))
            .key_values(&fields)
            .build(),
    );
}
