//! Bytes of the user's own, which any answer will do for.

use super::{Reading, Step, Talk};

pub(super) struct Udp {
    pub payload: Vec<u8>,
}

impl Talk for Udp {
    fn question(&self) -> Vec<Vec<u8>> {
        vec![self.payload.clone()]
    }

    fn take(&mut self, _: &[u8]) -> Result<Step, String> {
        Ok(Step::Known(Reading::default()))
    }
}
