//! One sample of the whole machine: processors, memory, disks, network, and how long tasks waited.

use kgauge_results::metrics::{MetricGroup, MetricId, Readings};
use kgauge_results::run::{
    EvidenceKind, HostMemory, IdleTime, MissingEvidence, PressureSample, Resource,
};

use crate::change_filter::ChangeFilter;
use crate::observation::{Observation, SampleTime, of_host};
use crate::proc_file::Buffer;
use crate::source::SourceFile;
use crate::{block, host, network, pressure, proc_table};

/// Files that stay open between samples.
#[derive(Debug)]
pub(crate) struct MachineFiles {
    cpu: SourceFile,
    memory: SourceFile,
    disks: SourceFile,
    network: SourceFile,
    pressure: [(Resource, SourceFile); 3],
    quiet_disks: ChangeFilter,
    quiet_interfaces: ChangeFilter,
    ticks_per_second: u64,
}

impl MachineFiles {
    pub(crate) fn new() -> MachineFiles {
        let pressure = |resource, what, path| (resource, SourceFile::open(what, path));
        MachineFiles {
            cpu: SourceFile::open("the machine's CPU time", "/proc/stat"),
            memory: SourceFile::open("the machine's memory", "/proc/meminfo"),
            disks: SourceFile::open("disk activity", "/proc/diskstats"),
            network: SourceFile::open("network activity", "/proc/self/net/dev"),
            pressure: [
                pressure(Resource::Cpu, "CPU pressure (PSI)", "/proc/pressure/cpu"),
                pressure(Resource::Io, "I/O pressure (PSI)", "/proc/pressure/io"),
                pressure(
                    Resource::Memory,
                    "memory pressure (PSI)",
                    "/proc/pressure/memory",
                ),
            ],
            quiet_disks: ChangeFilter::default(),
            quiet_interfaces: ChangeFilter::default(),
            ticks_per_second: rustix::param::clock_ticks_per_second(),
        }
    }

    /// Takes a sample. What cannot be read is reported by the first sample that misses it, and not tried again.
    pub(crate) fn sample(
        &mut self,
        buffer: &mut Buffer,
        now: SampleTime,
        seen: &mut Vec<Observation>,
    ) {
        let ticks_per_second = self.ticks_per_second;
        let cpu = self
            .cpu
            .parse(buffer, |text| host::cpu_line(text, ticks_per_second));
        if let Some(cpu) = or_report(cpu, now, seen) {
            let (user_ns, system_ns) = (cpu.user_ns, cpu.system_ns);
            seen.push(of_host(now, EvidenceKind::Cpu { user_ns, system_ns }));
            let values = Readings::from([
                (MetricId::CpuIdle, cpu.idle_ns),
                (MetricId::CpuIowait, cpu.iowait_ns),
                (MetricId::CpuStolen, cpu.stolen_ns),
            ]);
            seen.push(of_host(now, EvidenceKind::Idle(IdleTime { values })));
        }
        let memory = self.memory.parse(buffer, |text| {
            let values = proc_table::of_lines(MetricGroup::HostMemory, text);
            (!values.is_empty()).then_some(HostMemory { values })
        });
        let memory = or_report(memory, now, seen).map(EvidenceKind::HostMemory);
        seen.extend(memory.map(|kind| of_host(now, kind)));
        for (resource, source) in &mut self.pressure {
            let waits = source.parse(buffer, pressure::parse);
            if let Some((some_ns, full_ns)) = or_report(waits, now, seen) {
                // The kernel documents it as undefined for processors, and reports 0.
                let full_ns = full_ns.filter(|_| *resource != Resource::Cpu);
                let full = full_ns.map(|full_ns| (MetricId::PressureFull, full_ns));
                let some = [(MetricId::PressureSome, some_ns)];
                let sample = PressureSample {
                    resource: *resource,
                    values: some.into_iter().chain(full).collect(),
                };
                seen.push(of_host(now, EvidenceKind::Pressure(sample)));
            }
        }
        self.sample_devices(buffer, now, seen);
    }

    fn sample_devices(
        &mut self,
        buffer: &mut Buffer,
        now: SampleTime,
        seen: &mut Vec<Observation>,
    ) {
        self.quiet_disks.begin();
        if let Some(text) = or_report(self.disks.text(buffer), now, seen) {
            block::each(&text, |sample| {
                self.quiet_disks.take(EvidenceKind::Disk(sample), now, seen);
            });
        }
        self.quiet_interfaces.begin();
        if let Some(text) = or_report(self.network.text(buffer), now, seen) {
            network::each(&text, |sample| {
                let kind = EvidenceKind::Network(sample);
                self.quiet_interfaces.take(kind, now, seen);
            });
        }
    }

    /// The last readings, after the last sample.
    pub(crate) fn end(&mut self, seen: &mut Vec<Observation>) {
        self.quiet_disks.end(seen);
        self.quiet_interfaces.end(seen);
    }
}

/// The value; otherwise reports why there is none, once.
fn or_report<T>(
    found: Result<T, Option<MissingEvidence>>,
    now: SampleTime,
    seen: &mut Vec<Observation>,
) -> Option<T> {
    match found {
        Ok(value) => Some(value),
        Err(missing) => {
            let kind = missing.map(EvidenceKind::NotSeen);
            seen.extend(kind.map(|kind| of_host(now, kind)));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn this_machine_shows_its_processors_memory_and_loopback() {
        let now = SampleTime {
            at_ns: 0,
            at_unix_ms: 0,
        };
        let mut machine = MachineFiles::new();
        let mut seen = Vec::new();
        machine.sample(&mut Buffer::new(), now, &mut seen);
        machine.end(&mut seen);
        let has = |is_it: fn(&EvidenceKind) -> bool| seen.iter().any(|seen| is_it(&seen.kind));
        assert!(has(|kind| matches!(kind, EvidenceKind::Cpu { .. })));
        assert!(has(|kind| matches!(kind, EvidenceKind::Idle(_))));
        assert!(has(|kind| matches!(kind, EvidenceKind::HostMemory(_))));
        assert!(has(
            |kind| matches!(kind, EvidenceKind::Network(sample) if sample.interface == "lo")
        ));
    }
}
