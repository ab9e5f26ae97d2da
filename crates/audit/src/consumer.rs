//! Lines of `kafka-consumer-perf-test`: comma-separated figures of a whole run.
//!
//! `start.time, end.time, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec`, and since 1.1 (KIP-177)
//! `rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec`. A MB is 2^20 bytes.

/// The figures of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConsumerLine {
    /// 2^20 bytes read.
    pub mib: f64,
    /// The same per second, including the time to join the group.
    pub mib_per_s: f64,
    /// Records read.
    pub records: u64,
    /// Records per second, including the time to join the group.
    pub records_per_s: f64,
    /// Time to join the group, if the line has it.
    pub rebalance_ms: Option<f64>,
    /// Records per second without that time, if the line has it.
    pub fetch_records_per_s: Option<f64>,
}

/// The time format of the tool, `2018-08-13 18:55:38:126`, without its digits.
const TIME: &str = "####-##-## ##:##:##:###";

/// Finds the tool's output in a line of text.
pub(crate) fn find(text: &str) -> Option<ConsumerLine> {
    let fields: Vec<&str> = text.split(", ").map(str::trim).collect();
    let start = fields.iter().position(|field| is_time(field))?;
    let fields = &fields[start..];
    if !is_time(fields.get(1)?) {
        return None;
    }
    let number = |at: usize| {
        fields
            .get(at)?
            .parse::<f64>()
            .ok()
            .filter(|value| value.is_finite())
    };
    Some(ConsumerLine {
        mib: number(2)?,
        mib_per_s: number(3)?,
        records: number(4)? as u64,
        records_per_s: number(5)?,
        rebalance_ms: number(6),
        fetch_records_per_s: number(9),
    })
}

fn is_time(field: &str) -> bool {
    // A log may put other text in front.
    let from = field.len().saturating_sub(TIME.len());
    let Some(field) = field.get(from..) else {
        return false;
    };
    let shape = field
        .chars()
        .map(|one| if one.is_ascii_digit() { '#' } else { one });
    shape.eq(TIME.chars())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_formats_are_read() {
        let old = "2018-08-13 18:55:38:126, 2018-08-13 18:55:50:637, 3576.2863, 285.8514, 15000032, 1198947.4063";
        let found = find(old).unwrap();
        assert_eq!(
            (found.records, found.mib, found.rebalance_ms),
            (15_000_032, 3_576.286_3, None)
        );
        let new = format!("{old}, 3044, 9467, 377.7635, 1584454.6319");
        let found = find(&new).unwrap();
        assert_eq!(found.rebalance_ms, Some(3_044.0));
        assert_eq!(found.fetch_records_per_s, Some(1_584_454.631_9));
        assert_eq!(find("start.time, end.time, data.consumed.in.MB"), None);
        assert_eq!(
            find("2018-08-13 18:55:38:126, 2018-08-13 18:55:50:637, 3576"),
            None
        );
    }
}
