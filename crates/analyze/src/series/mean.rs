//! Means over a stage of what is known between samples.

use crate::statistics::weighted_mean;

/// What is known of a span.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpanMean {
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) value: f64,
}

/// The mean from `start_ns` to `end_ns`, each span by how much of it lies within; `None` where none does.
pub(super) fn mean_within(
    spans: impl Iterator<Item = SpanMean>,
    start_ns: u64,
    end_ns: u64,
) -> Option<f64> {
    weighted_mean(spans.map(|known| {
        let (from, to) = (known.start_ns.max(start_ns), known.end_ns.min(end_ns));
        (to.saturating_sub(from) as f64, known.value)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_counts_by_what_of_it_lies_within() {
        let known = |start_ns, end_ns, value| SpanMean {
            start_ns,
            end_ns,
            value,
        };
        let spans = [known(0, 10, 1.0), known(10, 20, 4.0), known(30, 40, 9.0)];
        // 5 of the first and 10 of the second.
        assert_eq!(mean_within(spans.into_iter(), 5, 25), Some(3.0));
        assert_eq!(mean_within(spans.into_iter(), 50, 60), None);
    }
}
