//! Counters of the machine's network interfaces, as this network namespace sees them.
//!
//! Source: proc(5), `/proc/net/dev`.

use kgauge_results::run::NetworkSample;

/// Calls `see` for each interface, in the order of `/proc/net/dev`.
pub(crate) fn each(text: &str, see: impl FnMut(NetworkSample)) {
    // Two header lines, without colons.
    text.lines().filter_map(sample).for_each(see);
}

/// Bytes, packets, errors, drops and four more numbers of received traffic; the same of sent traffic.
fn sample(line: &str) -> Option<NetworkSample> {
    // A name may contain colons; numbers do not.
    let (name, numbers) = line.rsplit_once(':')?;
    let mut found = [None; 12];
    let texts = numbers.split_ascii_whitespace();
    for (place, text) in found.iter_mut().zip(texts) {
        *place = text.parse::<u64>().ok();
    }
    let [
        received_bytes,
        received_packets,
        _,
        received_drops,
        _,
        _,
        _,
        _,
        sent_bytes,
        sent_packets,
        _,
        sent_drops,
    ] = found;
    Some(NetworkSample {
        interface: name.trim().to_owned(),
        received_bytes: received_bytes?,
        received_packets: received_packets?,
        received_drops: received_drops?,
        sent_bytes: sent_bytes?,
        sent_packets: sent_packets?,
        sent_drops: sent_drops?,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const TEXT: &str = "Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 441958289860 33167518    0    0    0     0          0         0 441958289860 33167518    0    0    0     0       0          0
  eth0:566597698   20998    1    2    0     0          0         0  2177047   16341    3    4    0     0       0          0
eth0:7: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
";

    fn interfaces(text: &str) -> Vec<NetworkSample> {
        let mut interfaces = Vec::new();
        each(text, |look| interfaces.push(look));
        interfaces
    }

    #[test]
    fn each_interface_has_its_counters() {
        let seen = interfaces(TEXT);
        let names: Vec<&str> = seen.iter().map(|look| look.interface.as_str()).collect();
        assert_eq!(names, ["lo", "eth0", "eth0:7"]);
        assert_eq!(seen[0].received_bytes, 441_958_289_860);
        let eth0 = &seen[1];
        assert_eq!((eth0.received_packets, eth0.received_drops), (20_998, 2));
        assert_eq!((eth0.sent_bytes, eth0.sent_packets), (2_177_047, 16_341));
        assert_eq!(eth0.sent_drops, 4);
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
