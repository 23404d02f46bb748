//! Reading bytes that may end anywhere, and making text of others' bytes.

/// Shown of somebody's name, in characters. Steam's and Minecraft's are shorter.
const NAME_LENGTH: usize = 64;

/// What is left of some bytes. Each reader gives `None`, and takes nothing, where they end too early.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    pub fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    /// What stands in front of this byte, which is dropped.
    pub fn until(&mut self, end: u8) -> Option<&'a [u8]> {
        let at = self.0.iter().position(|&byte| byte == end)?;
        let (taken, rest) = self.0.split_at(at);
        self.0 = &rest[1..];
        Some(taken)
    }

    /// A C string.
    pub fn string(&mut self) -> Option<&'a [u8]> {
        self.until(0)
    }

    /// True, and taken, where this comes next.
    pub fn skip(&mut self, prefix: &[u8]) -> bool {
        let rest = self.0.strip_prefix(prefix);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }
}

/// A decimal number that is nothing else.
pub(super) fn number(digits: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(digits).ok()?;
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// A name as it may be shown and sent on: no control characters, no blanks at the ends, not too long.
pub(super) fn name(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let clean: String = text.chars().filter(|c| !c.is_control()).take(NAME_LENGTH).collect();
    clean.trim().to_owned()
}

/// The first bytes of something that is not what it should be: enough to know another protocol by.
pub(super) fn begins(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "is empty".into();
    }
    let shown: Vec<String> = bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("begins with {}", shown.join(" "))
}

/// What is wrong with an answer that stops inside a field.
pub(super) const ENDS_EARLY: &str = "ends too early";
