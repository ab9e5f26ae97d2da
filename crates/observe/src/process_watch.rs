//! Evidence of one process in each sample: CPU, memory, storage, threads, open files.

use std::collections::BTreeMap;

use kgauge_results::metrics::{MetricGroup, MetricId};
use kgauge_results::run::{EvidenceKind, MissingEvidence, ProcessUsageSample, Subject};

use crate::cpu_limit::CpuLimits;
use crate::observation::{Observation, SampleTime};
use crate::proc_file::Buffer;
use crate::proc_table;
use crate::process::{ProcessError, ProcessSampler};
use crate::source::SourceFile;

/// The engine names its threads `load-0`, `load-1` and so on.
const LOAD_THREAD_PREFIX: &str = "load-";

/// A watched process.
#[derive(Debug)]
pub(crate) struct ProcessWatch {
    subject: Subject,
    sampler: ProcessSampler,
    io: SourceFile,
    limits: CpuLimits,
    /// Whether the missing count of open files was reported.
    has_reported_open_files: bool,
    waits: LongestWaits,
}

/// The longest wait for a processor of any thread of a process between two samples, summed over all samples.
#[derive(Debug, Default)]
struct LongestWaits {
    /// In the previous sample, by thread.
    before: Option<BTreeMap<u32, u64>>,
    waited_ns: u64,
}

impl LongestWaits {
    /// Takes a sample; `None` if nothing is counted.
    fn sample(&mut self, waits: Vec<(u32, u64)>) -> Option<u64> {
        let now: BTreeMap<u32, u64> = waits.into_iter().collect();
        if now.is_empty() {
            return None;
        }
        if let Some(before) = &self.before {
            // A thread that started since then has waited since then.
            let longer = now.iter().map(|(thread, ns)| {
                let before_ns = before.get(thread).copied().unwrap_or(0);
                ns.saturating_sub(before_ns)
            });
            self.waited_ns += longer.max().unwrap_or(0);
        }
        self.before = Some(now);
        Some(self.waited_ns)
    }
}

impl ProcessWatch {
    pub(crate) fn new(subject: Subject, pid: u32) -> Result<ProcessWatch, ProcessError> {
        Ok(ProcessWatch {
            subject,
            sampler: ProcessSampler::new(pid)?,
            io: SourceFile::open("process I/O", format!("/proc/{pid}/io")),
            limits: CpuLimits::of(pid),
            has_reported_open_files: false,
            waits: LongestWaits::default(),
        })
    }

    /// Takes a sample. What this system does not provide is reported the first time.
    pub(crate) fn sample(
        &mut self,
        buffer: &mut Buffer,
        at: SampleTime,
        seen: &mut Vec<Observation>,
    ) -> Result<(), ProcessError> {
        let subject = self.subject.clone();
        let mut see = |kind| {
            let subject = subject.clone();
            seen.push(Observation { at, subject, kind });
        };
        let sample = self.sampler.sample()?;
        see(EvidenceKind::Cpu {
            user_ns: sample.user_ns,
            system_ns: sample.system_ns,
        });
        see(EvidenceKind::Memory {
            resident_bytes: sample.resident_bytes,
        });
        for limit in self.limits.sample(buffer) {
            see(match limit {
                Ok(sample) => EvidenceKind::CpuLimit(sample),
                Err(missing) => EvidenceKind::NotSeen(missing),
            });
        }
        let storage = self.io.parse(buffer, |text| {
            let storage = proc_table::of_lines(MetricGroup::Process, text);
            (!storage.is_empty()).then_some(storage)
        });
        let open_files = self.sampler.open_files();
        let mut values = storage.as_ref().ok().cloned().unwrap_or_default();
        values.insert(MetricId::ProcessThreads, sample.threads);
        values.extend(open_files.map(|count| (MetricId::ProcessOpenFiles, count)));
        values.insert(MetricId::ProcessMajorFaults, sample.major_faults);
        see(EvidenceKind::Process(ProcessUsageSample { values }));
        if let Err(Some(missing)) = storage {
            see(EvidenceKind::NotSeen(missing));
        }
        // This process has open files, so a missing count means that the kernel does not provide it.
        let is_own = self.subject == Subject::Generator;
        if is_own && open_files.is_none() && !self.has_reported_open_files {
            self.has_reported_open_files = true;
            see(EvidenceKind::NotSeen(MissingEvidence {
                what: "open files of a process".to_owned(),
                why: "kernels before Linux 6.2 do not count them".to_owned(),
            }));
        }
        match self.subject {
            Subject::Generator => return self.sample_threads(at, seen),
            Subject::Target { .. } => {
                let waited_ns = self.waits.sample(self.sampler.waits());
                let kind = waited_ns.map(|waited_ns| EvidenceKind::RunQueue { waited_ns });
                let subject = self.subject.clone();
                seen.extend(kind.map(|kind| Observation { at, subject, kind }));
            }
            _ => {}
        }
        Ok(())
    }

    fn sample_threads(
        &self,
        at: SampleTime,
        seen: &mut Vec<Observation>,
    ) -> Result<(), ProcessError> {
        for thread in self.sampler.threads()? {
            let number = thread.name.strip_prefix(LOAD_THREAD_PREFIX);
            if let Some(Ok(thread_number)) = number.map(str::parse) {
                let cpu = EvidenceKind::Cpu {
                    user_ns: thread.user_ns,
                    system_ns: thread.system_ns,
                };
                let waited = thread.waited_ns;
                let waited = waited.map(|waited_ns| EvidenceKind::RunQueue { waited_ns });
                seen.extend(
                    [Some(cpu), waited]
                        .into_iter()
                        .flatten()
                        .map(|kind| Observation {
                            at,
                            subject: Subject::GeneratorThread {
                                thread: thread_number,
                            },
                            kind,
                        }),
                );
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_all_threads_the_one_that_waited_longest_counts_at_each_look() {
        let mut waits = LongestWaits::default();
        assert_eq!(waits.sample(vec![(1, 500), (2, 900)]), Some(0));
        assert_eq!(waits.sample(vec![(1, 540), (2, 910)]), Some(40));
        // The first one ended, the third one started.
        assert_eq!(waits.sample(vec![(2, 930), (3, 70)]), Some(110));
        assert_eq!(waits.sample(Vec::new()), None);
    }
}
