//! The second table: what is measured at two sizes, and how it grows from the one to the other.

use super::figures::{Figure, Table};

const SIZES: &str = "sizes";
const SMALL: &str = "at the first";
const LARGE: &str = "at the second";
const TIMES: &str = "times more";

/// A table with a row for each thing that may grow.
pub struct Growth(pub Table);

impl Growth {
    /// An empty one.
    pub fn new(title: &'static str) -> Self {
        Self(Table::new(title, [SIZES, SMALL, LARGE, TIMES]))
    }

    /// Measures at both sizes; a row for each of the figures that come of it, in the order of their names.
    pub fn compare<const N: usize>(
        &mut self,
        sizes: [u32; 2],
        what: &str,
        rows: &[(&'static str, &'static str); N],
        measure: impl FnMut(u32) -> [f64; N],
    ) {
        let [small, large] = sizes.map(measure);
        for ((&(name, unit), small), large) in rows.iter().zip(small).zip(large) {
            let of = format!("{} / {} {what}", sizes[0], sizes[1]);
            self.0.add(name, unit, SIZES, &Figure::Words(of));
            self.0.add(name, unit, SMALL, &Figure::One(small));
            self.0.add(name, unit, LARGE, &Figure::One(large));
            // Of nothing, nothing can be said.
            let times = if small > 0.0 { Figure::One(large / small) } else { Figure::Words("-".to_owned()) };
            self.0.add(name, unit, TIMES, &times);
        }
    }
}
