//! Metrics text -> value (placeholder types; see the module's owner).

/// Which series of a metrics text to sum: `name` or `name{label="value",...}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// Exact metric name.
    pub name: String,
    /// Labels that a series must have, with exactly these values.
    pub labels: Vec<(String, String)>,
}
