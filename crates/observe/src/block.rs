//! Counters of the machine's disks: whole disks, without those in memory or on another disk.
//!
//! Source: the kernel's "I/O statistics fields" (admin-guide/iostats). Sectors have 512 bytes there on every disk;
//! times are milliseconds.

use kgauge_results::metrics::MetricGroup;
use kgauge_results::run::DiskSample;

use crate::proc_table;

/// Devices to leave out: in memory, on another disk, or with removable media.
const NO_DISKS: &[&str] = &["loop", "ram", "zram", "dm-", "md", "sr", "fd"];

/// Calls `see` for each whole disk, in the order of `/proc/diskstats`.
pub(crate) fn each(text: &str, mut see: impl FnMut(DiskSample)) {
    // Partitions follow their disk.
    let mut before = "";
    for line in text.lines() {
        let Some((name, numbers)) = split(line) else {
            continue;
        };
        if is_partition_of(name, before) {
            continue;
        }
        before = name;
        if !NO_DISKS.iter().any(|no| is_numbered(name, no))
            && let Some(sample) = sample(name, numbers)
        {
            see(sample);
        }
    }
}

/// Major, minor, name, and the rest.
fn split(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_ascii_start();
    let (_major, rest) = line.split_once(' ')?;
    let (_minor, rest) = rest.trim_ascii_start().split_once(' ')?;
    rest.trim_ascii_start().split_once(' ')
}

/// `loop0` for `loop`, but not `fdx` for `fd`.
fn is_numbered(name: &str, stem: &str) -> bool {
    let rest = name.strip_prefix(stem);
    rest.is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()))
}

/// The kernel names a partition after its disk plus a number, with a `p` between two numbers.
fn is_partition_of(name: &str, disk: &str) -> bool {
    let Some(rest) = name.strip_prefix(disk).filter(|_| !disk.is_empty()) else {
        return false;
    };
    let number = if disk.ends_with(|letter: char| letter.is_ascii_digit()) {
        rest.strip_prefix('p')
    } else {
        Some(rest)
    };
    number.is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The first eleven numbers exist since Linux 2.6; those of flushes are the 16th and 17th, since 5.5.
const FIELDS_MIN: usize = 11;

fn sample(name: &str, numbers: &str) -> Option<DiskSample> {
    Some(DiskSample {
        disk: name.to_owned(),
        values: proc_table::of_fields(MetricGroup::Disk, numbers, FIELDS_MIN)?,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use kgauge_results::metrics::{MetricId, Readings};

    use super::*;

    const TEXT: &str = "   7       0 loop0 9 0 9 9 0 0 0 0 0 9 9 0 0 0 0 0 0
 254       0 vda 1577565 72820 126518698 2529608 681254 137894 341180296 3103964 2 319356 5744486 177622 113 311286272 102236 133900 8677
 254       1 vda1 5 0 40 1 0 0 0 0 0 1 1 0 0 0 0 0 0
 259       0 nvme0n1 10 0 80 4 20 0 160 8 0 12 13
 259       1 nvme0n1p1 1 0 8 4 2 0 16 8 0 12 13
 259       2 nvme0n10 3 0 8 4 2 0 16 8 0 12 13
 253       0 dm-0 1 0 8 4 2 0 16 8 0 12 13
   9     127 md127 1 0 8 4 2 0 16 8 0 12 13
 252       0 zram0 1 0 8 4 2 0 16 8 0 12 13
";

    fn disks(text: &str) -> Vec<DiskSample> {
        let mut disks = Vec::new();
        each(text, |sample| disks.push(sample));
        disks
    }

    #[test]
    fn disks_are_read_and_partitions_are_not() {
        let names: Vec<String> = disks(TEXT).into_iter().map(|sample| sample.disk).collect();
        assert_eq!(names, ["vda", "nvme0n1", "nvme0n10"]);
    }

    #[test]
    fn sectors_become_bytes_and_milliseconds_nanoseconds() {
        let disks = disks(TEXT);
        let expected = [
            (MetricId::DiskReads, 1_577_565),
            (MetricId::DiskReadBytes, 126_518_698 * 512),
            (MetricId::DiskReadTime, 2_529_608_000_000),
            (MetricId::DiskWrites, 681_254),
            (MetricId::DiskWrittenBytes, 341_180_296 * 512),
            (MetricId::DiskWriteTime, 3_103_964_000_000),
            (MetricId::DiskBusy, 319_356_000_000),
            (MetricId::DiskQueued, 5_744_486_000_000),
            (MetricId::DiskFlushes, 133_900),
            (MetricId::DiskFlushTime, 8_677_000_000),
        ];
        assert_eq!(disks[0].values, Readings::from(expected));
        let flushes = disks[1].values.get(&MetricId::DiskFlushes);
        assert_eq!(flushes, None, "an older kernel");
    }

    #[test]
    fn lines_that_no_kernel_writes_are_passed_over() {
        let huge = format!("8 0 sda {}\n", "18446744073709551615 ".repeat(17));
        assert_eq!(disks(&huge)[0].values[&MetricId::DiskBusy], u64::MAX);
        for hostile in [
            "",
            "\n \n",
            "8",
            "8 0",
            "8 0 sda",
            "8 0 sda ",
            "8 0 sda 1 2 3 4 5 6 7 8 9 10\n",
            "8 0 sda 1 2 3 4 5 6 7 8 9 10 99999999999999999999\n",
            "8 0 sda 1 2 3 -4 5 6 7 8 9 10 11\n",
            "8 0 \u{e9} x\n",
        ] {
            assert_eq!(disks(hostile), [], "{hostile}");
        }
    }
}
