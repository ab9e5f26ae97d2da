//! The machine: facts about it, and its processors' time.

use std::fs;
use std::path::Path;

use kgauge_results::run::MachineRecord;

use crate::file_system::FileSystem;
use crate::unavailable::{Unavailable, read};

/// CPU time of all processors together since boot, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostCpu {
    /// In user mode.
    pub user_ns: u64,
    /// In the kernel, including interrupts.
    pub system_ns: u64,
    /// Idle.
    pub idle_ns: u64,
    /// Idle while waiting for a disk.
    pub iowait_ns: u64,
    /// Taken by the hypervisor for others.
    pub stolen_ns: u64,
}

/// Facts about this machine as far as they are known, with the type of the file system under `path`.
pub fn machine_record(path: &Path) -> MachineRecord {
    let file = |path: &str| fs::read_to_string(path).ok();
    let clock_source = file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    let system = rustix::system::uname();
    let text = |name: &std::ffi::CStr| {
        Some(name.to_string_lossy().into_owned()).filter(|name| !name.is_empty())
    };
    MachineRecord {
        host_name: text(system.nodename()),
        operating_system: Some(std::env::consts::OS.to_owned()),
        kernel: text(system.release()),
        architecture: Some(std::env::consts::ARCH.to_owned()),
        cpu_model: file("/proc/cpuinfo").and_then(|text| cpu_model(&text)),
        // It respects affinity masks and quotas of control groups.
        cpu_count: std::thread::available_parallelism()
            .ok()
            .and_then(|count| u32::try_from(count.get()).ok()),
        memory_bytes: file("/proc/meminfo").and_then(|text| memory_bytes(&text)),
        reports_free_memory: reports_free_memory(Path::new("/sys/bus/virtio/devices")),
        clock_source: clock_source.map(|text| text.trim().to_owned()),
        file_system: FileSystem::of(path).map(|found| found.kind),
    }
}

/// This machine's processor times since boot.
pub fn host_cpu() -> Result<HostCpu, Unavailable> {
    let what = "the machine's CPU time";
    let text = read(what, "/proc/stat")?;
    cpu_line(&text, rustix::param::clock_ticks_per_second())
        .ok_or_else(|| Unavailable::format(what, "/proc/stat"))
}

/// x86 has "model name", ARM boards have "Model" or only numbers.
fn cpu_model(text: &str) -> Option<String> {
    let value = |key: &str| {
        text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == key).then(|| value.trim().to_owned())
        })
    };
    ["model name", "Model", "cpu model", "uarch"]
        .into_iter()
        .find_map(value)
        .filter(|model| !model.is_empty())
}

fn memory_bytes(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Whether a memory balloon has negotiated VIRTIO_BALLOON_F_REPORTING, bit 5 (virtio 1.2, 5.5.3). The kernel writes the
/// feature bits as digits, the first one first.
fn reports_free_memory(devices: &Path) -> bool {
    /// The virtio device id of a memory balloon.
    const BALLOON: &str = "0x0005";
    const REPORTING: usize = 5;
    let devices = fs::read_dir(devices).into_iter().flatten().flatten();
    let file = |device: &fs::DirEntry, name: &str| {
        fs::read_to_string(device.path().join(name)).unwrap_or_default()
    };
    let mut balloons = devices.filter(|device| file(device, "device").trim() == BALLOON);
    balloons.any(|device| file(&device, "features").as_bytes().get(REPORTING) == Some(&b'1'))
}

/// The first line of `/proc/stat` (proc(5)): user, nice, system, idle, iowait, irq, softirq, steal.
/// Guest time is already included in user and nice.
pub(crate) fn cpu_line(text: &str, ticks_per_second: u64) -> Option<HostCpu> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let mut ticks = [0_u64; 8];
    let mut count = 0;
    for (place, text) in ticks.iter_mut().zip(line.split_ascii_whitespace()) {
        *place = text.parse().ok()?;
        count += 1;
    }
    let tick_ns = 1_000_000_000 / ticks_per_second.max(1);
    let ns = |ticks: u64| ticks.saturating_mul(tick_ns);
    let [user, nice, system, idle, iowait, irq, soft_irq, steal] = ticks;
    (count >= 4).then(|| HostCpu {
        user_ns: ns(user.saturating_add(nice)),
        system_ns: ns(system.saturating_add(irq).saturating_add(soft_irq)),
        idle_ns: ns(idle),
        iowait_ns: ns(iowait),
        stolen_ns: ns(steal),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_texts_are_read() {
        let text = "processor\t: 0\nmodel name\t: Fast CPU @ 2.50GHz\nprocessor\t: 1\n";
        assert_eq!(cpu_model(text).as_deref(), Some("Fast CPU @ 2.50GHz"));
        assert_eq!(cpu_model("processor\t: 0\nBogoMIPS\t: 50\n"), None);
        assert_eq!(
            memory_bytes("MemTotal:       24684096 kB\nMemFree: 1 kB\n"),
            Some(25_276_514_304)
        );
        assert_eq!(memory_bytes(""), None);
    }

    #[test]
    fn a_balloon_that_reports_free_memory_is_found() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!reports_free_memory(dir.path()));
        let device = |name: &str, id: &str, features: &str| {
            let device = dir.path().join(name);
            fs::create_dir(&device).unwrap();
            fs::write(device.join("device"), format!("{id}\n")).unwrap();
            fs::write(device.join("features"), format!("{features}\n")).unwrap();
        };
        device("virtio0", "0x0001", "1111111100000000");
        device("virtio1", "0x0005", "0110000000000000");
        assert!(!reports_free_memory(dir.path()));
        device("virtio2", "0x0005", "0110010000000000");
        assert!(reports_free_memory(dir.path()));
    }

    #[test]
    fn host_time_is_summed_by_kind() {
        let text = "cpu  100 10 50 1000 5 3 2 7 90 0\ncpu0 1 1 1 1\n";
        let cpu = cpu_line(text, 100).unwrap();
        assert_eq!(cpu.user_ns, 1_100_000_000);
        assert_eq!(cpu.system_ns, 550_000_000);
        assert_eq!(cpu.idle_ns, 10_000_000_000);
        assert_eq!(cpu.iowait_ns, 50_000_000);
        assert_eq!(cpu.stolen_ns, 70_000_000);
        assert_eq!(cpu_line("cpu  1 2", 100), None);
        assert_eq!(cpu_line("cpu  1 2 x 4", 100), None);
        assert_eq!(cpu_line("", 100), None);
        let huge = format!("cpu  {}", "18446744073709551615 ".repeat(10));
        assert_eq!(cpu_line(&huge, 0).unwrap().user_ns, u64::MAX);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn facts_about_this_machine_are_known() {
        let dir = tempfile::tempdir().unwrap();
        let machine = machine_record(dir.path());
        assert_eq!(machine.operating_system.as_deref(), Some("linux"));
        assert!(machine.cpu_count.unwrap() >= 1);
        assert!(machine.memory_bytes.unwrap() > 1 << 20);
        assert!(machine.kernel.is_some() && machine.file_system.is_some());
        let before = host_cpu().unwrap();
        assert!(before.user_ns + before.system_ns + before.idle_ns > 0);
    }
}
