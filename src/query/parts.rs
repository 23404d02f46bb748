//! An A2S answer in several packets, put together again: Source's form, the same without a size (engines before 2006),
//! and GoldSrc's, which has number and count in one byte.
//!
//! Nothing in a packet says which it is. The first part tells: behind its header the message begins.

use super::a2s::WHOLE;
use super::wire::{Bytes, ENDS_EARLY, begins};

/// 255 players with long names are some 12 packets of 1,400 bytes.
const MOST_PARTS: u8 = 32;

/// The packets of one answer that have come.
#[derive(Debug, Default)]
pub(super) struct Parts {
    id: [u8; 4],
    /// Each behind the id, no two the same.
    found: Vec<Vec<u8>>,
}

/// Where number, count and text stand behind the id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Source,
    Unsized,
    GoldSrc,
}

/// One packet, read in one form.
struct Part<'a> {
    number: u8,
    total: u8,
    text: &'a [u8],
}

impl Parts {
    /// The message, with the part that completes it. Takes what stands behind the mark of a part.
    pub fn add(&mut self, mut bytes: Bytes) -> Result<Option<Vec<u8>>, String> {
        let id = bytes.array::<4>().ok_or(ENDS_EARLY)?;
        if id[3] & 0x80 != 0 {
            return Err("is compressed, which is not supported".into());
        }
        if FORMS.iter().all(|form| form.read(bytes.0).is_err()) {
            return Err(Form::Source.read(bytes.0).err().unwrap_or_default());
        }
        if id != self.id {
            *self = Self { id, found: Vec::new() };
        }
        if !self.found.iter().any(|known| known == bytes.0) {
            self.found.push(bytes.0.to_vec());
        }
        if self.found.len() > MOST_PARTS.into() {
            return Err(format!("comes in more than {MOST_PARTS} packets"));
        }
        let whole = FORMS.iter().find_map(|form| self.whole(*form));
        if whole.is_some() {
            self.found.clear();
        }
        Ok(whole)
    }

    /// The message, where in this form all of its parts are there.
    fn whole(&self, form: Form) -> Option<Vec<u8>> {
        let mut parts = self.found.iter().map(|bytes| form.read(bytes).ok()).collect::<Option<Vec<Part>>>()?;
        parts.sort_by_key(|part| part.number);
        let total = usize::from(parts.first()?.total);
        let is_whole = parts.len() == total
            && parts.iter().zip(0..).all(|(part, number)| part.number == number && usize::from(part.total) == total);
        is_whole.then(|| parts.iter().flat_map(|part| part.text).skip(WHOLE.len()).copied().collect())
    }
}

const FORMS: [Form; 3] = [Form::Source, Form::Unsized, Form::GoldSrc];

impl Form {
    /// What stands behind the id of a packet. The text of the first part begins as a message does.
    fn read(self, bytes: &[u8]) -> Result<Part<'_>, String> {
        let mut bytes = Bytes(bytes);
        let first = bytes.byte().ok_or(ENDS_EARLY)?;
        let (number, total) = match self {
            Self::GoldSrc => (first >> 4, first & 0x0f),
            Self::Source | Self::Unsized => (bytes.byte().ok_or(ENDS_EARLY)?, first),
        };
        if self == Self::Source {
            let _size = bytes.take(2).ok_or(ENDS_EARLY)?;
        }
        if total > MOST_PARTS {
            return Err(format!("is to come in {total} packets, more than {MOST_PARTS}"));
        }
        if number >= total {
            return Err(format!("has part {number} of {total}, counted from 0"));
        }
        if number == 0 && !bytes.0.starts_with(WHOLE) {
            return Err(begins(bytes.0));
        }
        Ok(Part { number, total, text: bytes.0 })
    }
}
