//! The machine's memory, the page cache, and the pages not yet on a disk.
//!
//! Source: proc(5), `/proc/meminfo`; its "kB" are KiB.

use kgauge_results::run::HostMemory;

/// `None` if none of the lines exists.
pub(crate) fn parse(text: &str) -> Option<HostMemory> {
    let mut memory = HostMemory::default();
    for line in text.lines() {
        let Some((name, rest)) = line.split_once(':') else {
            continue;
        };
        let place = match name {
            "MemAvailable" => &mut memory.available_bytes,
            "Cached" => &mut memory.cached_bytes,
            "Dirty" => &mut memory.dirty_bytes,
            "Writeback" => &mut memory.writeback_bytes,
            _ => continue,
        };
        *place = bytes(rest);
        if name == "Writeback" {
            // The last of the four; about thirty lines follow.
            break;
        }
    }
    (memory != HostMemory::default()).then_some(memory)
}

fn bytes(text: &str) -> Option<u64> {
    let kibibytes: u64 = text.split_ascii_whitespace().next()?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const TEXT: &str = "\
MemTotal:       24684092 kB\n\
MemFree:        23882100 kB\n\
MemAvailable:   24171044 kB\n\
Buffers:            3248 kB\n\
Cached:           430136 kB\n\
SwapCached:            7 kB\n\
Dirty:            138464 kB\n\
Writeback:            32 kB\n\
AnonPages:          9836 kB\n\
WritebackTmp:         99 kB\n";

    #[test]
    fn the_four_figures_are_found() {
        let memory = parse(TEXT).unwrap();
        assert_eq!(memory.available_bytes, Some(24_171_044 * 1024));
        assert_eq!(memory.cached_bytes, Some(430_136 * 1024));
        assert_eq!(memory.dirty_bytes, Some(138_464 * 1024));
        assert_eq!(memory.writeback_bytes, Some(32 * 1024));
    }

    #[test]
    fn what_is_missing_or_no_number_is_not_told() {
        let memory = parse("Cached: 1 kB\nDirty:\nWriteback: 18446744073709551615 kB\n").unwrap();
        assert_eq!(memory.cached_bytes, Some(1024));
        assert_eq!(memory.available_bytes, None);
        assert_eq!(memory.dirty_bytes, None);
        assert_eq!(memory.writeback_bytes, None, "too large for 64 bits");
        for hostile in ["", "\n\n", "Cached", "Cached: x", "Cached: -1 kB", ":::"] {
            assert_eq!(parse(hostile), None, "{hostile}");
        }
    }
}
