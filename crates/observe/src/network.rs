//! Counters of the machine's network interfaces, as this network namespace sees them.
//!
//! Source: proc(5), `/proc/net/dev`.

use kgauge_results::metrics::MetricGroup;
use kgauge_results::run::NetworkSample;

use crate::proc_table;

/// Calls `see` for each interface, in the order of `/proc/net/dev`.
pub(crate) fn each(text: &str, see: impl FnMut(NetworkSample)) {
    // Two header lines, without colons.
    text.lines().filter_map(sample).for_each(see);
}

/// The last that is read: packets out that were dropped.
const FIELDS_MIN: usize = 12;

/// Bytes, packets, errors, drops and four more numbers of received traffic; the same of sent traffic.
fn sample(line: &str) -> Option<NetworkSample> {
    // A name may contain colons; numbers do not.
    let (name, numbers) = line.rsplit_once(':')?;
    Some(NetworkSample {
        interface: name.trim().to_owned(),
        values: proc_table::of_fields(MetricGroup::Network, numbers, FIELDS_MIN)?,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use kgauge_results::metrics::{MetricId, Readings};

    use super::*;

    const TEXT: &str = "Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 441958289860 33167518    0    0    0     0          0         0 441958289860 33167518    0    0    0     0       0          0
  eth0:566597698   20998    1    2    0     0          0         0  2177047   16341    3    4    0     0       0          0
eth0:7: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
";

    fn interfaces(text: &str) -> Vec<NetworkSample> {
        let mut interfaces = Vec::new();
        each(text, |sample| interfaces.push(sample));
        interfaces
    }

    #[test]
    fn each_interface_has_its_counters() {
        let seen = interfaces(TEXT);
        let names: Vec<&str> = seen
            .iter()
            .map(|sample| sample.interface.as_str())
            .collect();
        assert_eq!(names, ["lo", "eth0", "eth0:7"]);
        assert_eq!(seen[0].values[&MetricId::ReceivedBytes], 441_958_289_860);
        let eth0 = [
            (MetricId::ReceivedBytes, 566_597_698),
            (MetricId::ReceivedPackets, 20_998),
            (MetricId::ReceivedDrops, 2),
            (MetricId::SentBytes, 2_177_047),
            (MetricId::SentPackets, 16_341),
            (MetricId::SentDrops, 4),
        ];
        assert_eq!(seen[1].values, Readings::from(eth0));
    }

    #[test]
    fn lines_that_no_kernel_writes_are_passed_over() {
        for hostile in [
            "",
            ":",
            "eth0:",
            "eth0: 1 2 3 4 5 6 7 8 9 10 11\n",
            "eth0: 1 2 3 4 5 6 7 8 9 10 11 x\n",
            "eth0: 99999999999999999999 2 3 4 5 6 7 8 9 10 11 12\n",
            "eth0 1 2 3 4 5 6 7 8 9 10 11 12\n",
        ] {
            assert_eq!(interfaces(hostile), [], "{hostile}");
        }
    }
}
