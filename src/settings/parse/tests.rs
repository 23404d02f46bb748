//! Whole environments: what each command makes of them, message for message.
