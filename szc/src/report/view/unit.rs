//! The unit of an axis: one for all values on it.
#![forbid(unsafe_code)]

use crate::samples::Metric;
use crate::samples::metric::Kind;

/// A unit in which the values of a metric are plotted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// What a value is divided by.
    pub size: f64,
    /// Its sign, "" for none.
    pub sign: &'static str,
}

impl Unit {
    /// The unit in which a value of this size has one to four digits before the point.
    #[must_use]
    pub fn new(metric: &Metric, typical: f64) -> Self {
        let table: &[(f64, &'static str)] = match metric.kind() {
            Kind::Time => &[(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")],
            Kind::Memory => {
                &[(1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1024.0, "KiB"), (1.0, "bytes")]
            }
            Kind::Count => &[(1e9, "billions"), (1e6, "millions"), (1e3, "thousands"), (1.0, "")],
        };
        let fits = |(size, _): &&(f64, &str)| typical.abs() >= *size;
        let last = table[table.len() - 1];
        let (size, sign) = table.iter().find(fits).copied().unwrap_or(last);
        Self { size, sign }
    }

    /// "CPU time (ms)".
    #[must_use]
    pub fn axis(&self, metric: &Metric) -> String {
        let title = metric.title();
        if self.sign.is_empty() { title.to_owned() } else { format!("{title} ({})", self.sign) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_fits_the_size() {
        let sign = |metric: Metric, typical| Unit::new(&metric, typical).sign;
        assert_eq!(sign(Metric::Cpu, 0.25), "ms");
        assert_eq!(sign(Metric::Wall, 2.5), "s");
        assert_eq!(sign(Metric::Wall, 0.0), "ns");
        assert_eq!(sign(Metric::Rss, 5e6), "MiB");
        assert_eq!(sign(Metric::Figure("user".to_owned()), 3e6), "millions");
        assert_eq!(Unit::new(&Metric::Cpu, 0.25).axis(&Metric::Cpu), "CPU time (ms)");
        let user = Metric::Figure("instructions".to_owned());
        assert_eq!(Unit::new(&user, 3.0).axis(&user), "instructions");
    }
}
