//! Rates in prose and tables: `2,024,032 records/sec (193.0 MB/sec)`.

/// Records and bytes per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Records per second.
    pub records_per_s: f64,
    /// 2^20 bytes per second, as Kafka's tools count.
    pub mib_per_s: f64,
}

/// Finds a rate in records that is followed by one in bytes.
pub(crate) fn find(text: &str) -> Option<Rate> {
    let (before, after) = text.split_once(" records/sec")?;
    let records_per_s = grouped(last_word(before))?;
    let after = after
        .strip_prefix(" (")
        .or_else(|| after.strip_prefix(", "))?;
    let (bytes, _) = after.split_once(" MB/sec")?;
    let mib_per_s = grouped(bytes)?;
    Some(Rate {
        records_per_s,
        mib_per_s,
    })
}

fn last_word(text: &str) -> &str {
    text.rsplit(|one: char| !(one.is_ascii_digit() || matches!(one, '.' | ',')))
        .next()
        .unwrap_or_default()
}

/// A number with or without commas between thousands.
fn grouped(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let groups: Vec<&str> = whole.split(',').collect();
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let (first, rest) = groups.split_first()?;
    let fits = is_number(first)
        && is_number(fraction)
        && (rest.is_empty() || first.len() <= 3)
        && rest
            .iter()
            .all(|group| group.len() == 3 && is_number(group));
    fits.then(|| format!("{}.{fraction}", groups.concat()).parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_with_thousands_and_without() {
        let rate = |text| find(text).map(|rate| (rate.records_per_s, rate.mib_per_s));
        assert_eq!(
            rate("* result: 2,024,032 records/sec (193.0 MB/sec)"),
            Some((2_024_032.0, 193.0))
        );
        assert_eq!(
            rate("Total Throughput: 10040525.87 records/sec, 2393.86 MB/sec, 18.71 ms avg"),
            Some((10_040_525.87, 2_393.86))
        );
        assert_eq!(rate("259.,913 records/sec (24.79 MB/sec)"), None);
        assert_eq!(rate("12,34 records/sec (1.0 MB/sec)"), None);
        assert_eq!(rate("801,102 records/sec   |"), None);
    }
}
