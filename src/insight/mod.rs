//! What others see of the shim: log lines, the status endpoint, the service manager.

pub mod logging;
pub mod notify;
pub(crate) mod page;
pub mod status;
