//! Job control.
