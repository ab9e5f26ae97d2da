//! Readings from texts in `/proc`, as the table of metrics names their fields and lines.

use kgauge_results::metrics::{MetricGroup, MetricId, MetricOrigin, Readings};

/// The numbers of a row. `None` if there are fewer than this, or one of them is not a number.
pub(crate) fn of_fields(group: MetricGroup, text: &str, fields_min: usize) -> Option<Readings> {
    let numbers = text
        .split_ascii_whitespace()
        .map(|text| text.parse::<u64>().ok());
    let numbers: Vec<u64> = numbers.collect::<Option<_>>()?;
    let known = MetricId::of(group).filter_map(|metric| {
        let MetricOrigin::Field(index, factor) = metric.row().origin else {
            return None;
        };
        Some((metric, numbers.get(index)?.saturating_mul(factor)))
    });
    (numbers.len() >= fields_min).then(|| known.collect())
}

/// Lines `name: number`, whatever unit follows.
pub(crate) fn of_lines(group: MetricGroup, text: &str) -> Readings {
    let mut readings = Readings::new();
    for (name, rest) in text.lines().filter_map(|line| line.split_once(':')) {
        let metric = MetricId::of(group).find_map(|metric| {
            let MetricOrigin::Line(of, factor) = metric.row().origin else {
                return None;
            };
            (of == name).then_some((metric, factor))
        });
        let number = rest.split_ascii_whitespace().next();
        let number = number.and_then(|text| text.parse::<u64>().ok());
        if let (Some((metric, factor)), Some(number)) = (metric, number) {
            readings.extend(number.checked_mul(factor).map(|value| (metric, value)));
        }
    }
    readings
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY: &str = "\
MemTotal:       24684092 kB\n\
MemAvailable:   24171044 kB\n\
Cached:           430136 kB\n\
SwapCached:            7 kB\n\
Dirty:            138464 kB\n\
Writeback:            32 kB\n\
WritebackTmp:         99 kB\n";

    #[test]
    fn lines_are_found_by_their_whole_names() {
        let expected = [
            (MetricId::MemoryAvailable, 24_171_044 * 1024),
            (MetricId::MemoryCached, 430_136 * 1024),
            (MetricId::MemoryDirty, 138_464 * 1024),
            (MetricId::MemoryWriteback, 32 * 1024),
        ];
        let memory = of_lines(MetricGroup::HostMemory, MEMORY);
        assert_eq!(memory, Readings::from(expected));
        let io = "rchar: 323934931\nwchar: 323929600\nread_bytes: 4096\nwrite_bytes: 323932160\n\
                  cancelled_write_bytes: 7\n";
        let expected = [
            (MetricId::ProcessReadBytes, 4_096),
            (MetricId::ProcessWrittenBytes, 323_932_160),
        ];
        assert_eq!(of_lines(MetricGroup::Process, io), Readings::from(expected));
    }

    #[test]
    fn a_line_that_is_missing_or_has_no_number_gives_no_reading() {
        let text = "Cached: 1 kB\nDirty:\nWriteback: 18446744073709551615 kB\n";
        let cached = [(MetricId::MemoryCached, 1024)];
        let memory = of_lines(MetricGroup::HostMemory, text);
        assert_eq!(memory, Readings::from(cached), "too large for 64 bits");
        for hostile in ["", "\n\n", "Cached", "Cached: x", "Cached: -1 kB", ":::"] {
            let memory = of_lines(MetricGroup::HostMemory, hostile);
            assert!(memory.is_empty(), "{hostile}");
        }
    }
}
