//! How long the machine's tasks waited for a processor, a disk or memory.
//!
//! Source: the kernel's "PSI - Pressure Stall Information" (accounting/psi); totals are microseconds.

/// Times in which at least one task waited, and in which all tasks waited, in nanoseconds since boot. For processors,
/// the second does not exist before Linux 5.13, and is always 0 since.
pub(crate) fn parse(text: &str) -> Option<(u64, Option<u64>)> {
    let total_ns = |kind: &str| {
        let rest = text.lines().find_map(|line| line.strip_prefix(kind))?;
        let mut fields = rest.split_ascii_whitespace();
        let total_us = fields.find_map(|field| field.strip_prefix("total="))?;
        total_us.parse::<u64>().ok()?.checked_mul(1_000)
    };
    Some((total_ns("some ")?, total_ns("full ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_in_nanoseconds() {
        let text = "some avg10=0.89 avg60=0.42 avg300=0.41 total=155859489\n\
                    full avg10=0.82 avg60=0.37 avg300=0.31 total=98483187\n";
        assert_eq!(parse(text), Some((155_859_489_000, Some(98_483_187_000))));
        let old = "some avg10=2.05 avg60=1.59 avg300=8.07 total=2500455823\n";
        assert_eq!(parse(old), Some((2_500_455_823_000, None)));
    }

    #[test]
    fn lines_that_no_kernel_writes_say_nothing() {
        for hostile in [
            "",
            "some",
            "some \n",
            "some total\n",
            "some total=\n",
            "some total=-1\n",
            "some total=99999999999999999999\n",
            "some total=18446744073709551615\n",
            "full avg10=0.00 total=5\n",
        ] {
            assert_eq!(parse(hostile), None, "{hostile}");
        }
        assert_eq!(parse("some total=5\nfull total=x\n"), Some((5_000, None)));
    }
}
