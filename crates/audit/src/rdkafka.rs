//! Lines of librdkafka's `rdkafka_performance`. Its MB are 10^6 bytes.

use crate::number::{digits_from, number};

/// The figures of a line.
#[derive(Debug, Clone, PartialEq)]
pub struct RdkafkaLine {
    /// Records handed to the library.
    pub produced: u64,
    /// Records with a delivery report, including failed ones.
    pub delivered: u64,
    /// Records that failed permanently.
    pub failed: u64,
    /// 10^6 bytes per second.
    pub mb_per_s: f64,
    /// The codec, if there was one.
    pub codec: Option<String>,
}

/// Finds a producer's output in a line of text.
pub(crate) fn find(text: &str) -> Option<RdkafkaLine> {
    const MARK: &str = " messages produced (";
    let at = text.find(MARK)?;
    let mut rest = &text[digits_from(&text[..at])..];
    let mut figure = |words: &[&str]| {
        let (found, after) = number(rest, true)?;
        rest = words.iter().find_map(|words| after.strip_prefix(words))?;
        Some(found.value)
    };
    let produced = figure(&[MARK])? as u64;
    figure(&[" bytes), "])?;
    let delivered = figure(&[" delivered (offset "])? as u64;
    figure(&[", "])?;
    let failed = figure(&[" failed) in "])? as u64;
    figure(&["ms: "])?;
    figure(&[" msgs/s and "])?;
    let mb_per_s = figure(&[" MB/s, ", " Mb/s, "])?;
    figure(&[" produce failures, "])?;
    figure(&[" in queue, "])?;
    let codec = rest.split_whitespace().next().filter(|word| *word != "no");
    Some(RdkafkaLine {
        produced,
        delivered,
        failed,
        mb_per_s,
        codec: codec.map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_any_age_is_read() {
        let text = "% 10000000 messages produced (5120000000 bytes), 8184182 delivered (offset 0, 1815818 failed) in \
                    3142032ms: 2604 msgs/s and 1.33 MB/s, 1774107 produce failures, 0 in queue, no compression";
        let found = find(text).unwrap();
        assert_eq!(
            (found.produced, found.delivered, found.failed),
            (10_000_000, 8_184_182, 1_815_818)
        );
        assert_eq!(found.mb_per_s, 1.33);
        assert_eq!(found.codec, None);
        let old = text
            .replace("MB/s", "Mb/s")
            .replace("no compression", "snappy compression");
        assert_eq!(find(&old).unwrap().codec.as_deref(), Some("snappy"));
        assert_eq!(find("% 5 messages produced (1"), None);
    }
}
