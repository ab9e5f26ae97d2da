//! A mean, percentiles and a maximum, as tools print them.

/// Times in milliseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedTimes {
    /// Its name in texts: `latency`, `publish latency`.
    pub name: &'static str,
    /// The mean.
    pub mean_ms: f64,
    /// Fractions in ascending order (0.5 is the median), and their times.
    pub points: Vec<(f64, f64)>,
    /// The maximum.
    pub max_ms: f64,
}

impl PublishedTimes {
    /// Whether a higher fraction has a lower time.
    pub(crate) fn falls(&self) -> bool {
        let times = self.points.iter().map(|(_, ms)| *ms).chain([self.max_ms]);
        !times.is_sorted()
    }

    /// Weights and times whose products add up to the minimum of the mean: all times between two percentiles equal
    /// the lower one.
    pub(crate) fn least(&self) -> Vec<(f64, f64)> {
        let next = self
            .points
            .iter()
            .skip(1)
            .map(|(part, _)| *part)
            .chain([1.0]);
        let points = self.points.iter().zip(next);
        points
            .map(|((part, ms), next)| (next - part, *ms))
            .collect()
    }

    /// The same for the maximum: they equal the higher one.
    pub(crate) fn most(&self) -> Vec<(f64, f64)> {
        let before = std::iter::once(0.0).chain(self.points.iter().map(|(part, _)| *part));
        let points = self.points.iter().copied().chain([(1.0, self.max_ms)]);
        before
            .zip(points)
            .map(|(before, (part, ms))| (part - before, ms))
            .collect()
    }
}

/// The sum of the products.
pub(crate) fn sum(weighted: &[(f64, f64)]) -> f64 {
    weighted.iter().map(|(weight, ms)| weight * ms).sum()
}

/// The same as readable arithmetic.
pub(crate) fn shown(weighted: &[(f64, f64)]) -> String {
    let terms = weighted.iter().map(|(weight, ms)| {
        let weight = format!("{weight:.4}");
        format!("{} x {ms}", weight.trim_end_matches('0'))
    });
    format!(
        "{} = {:.1}",
        terms.collect::<Vec<_>>().join(" + "),
        sum(weighted)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_those_of_paper() {
        let times = PublishedTimes {
            name: "latency",
            mean_ms: 598.85,
            points: vec![(0.5, 3.0), (0.95, 585.0), (0.99, 689.0), (0.999, 710.0)],
            max_ms: 2_896.0,
        };
        // .5 x 3 + .45 x 585 + .04 x 689 + .009 x 710 + .001 x 2896 and .45 x 3 + .04 x 585 + .009 x 689 + .001 x 710.
        assert!((sum(&times.most()) - 301.596).abs() < 1e-9);
        assert!((sum(&times.least()) - 31.661).abs() < 1e-9);
        assert_eq!(
            shown(&times.most()),
            "0.5 x 3 + 0.45 x 585 + 0.04 x 689 + 0.009 x 710 + 0.001 x 2896 = 301.6"
        );
        assert!(!times.falls());
    }
}
