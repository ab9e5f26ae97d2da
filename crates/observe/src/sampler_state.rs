//! Takes one sample of everything that is watched, and keeps the state between samples.

use kgauge_results::run::{Evidence, EvidenceKind, RepeatKey, Subject};

use crate::data_dir::data_dir;
use crate::machine::MachineFiles;
use crate::network_speed::{UserSpeed, network_speeds};
use crate::observation::{Observation, SampleTime, of_host, unix_ms};
use crate::proc_file::Buffer;
use crate::process::ProcessError;
use crate::process_watch::ProcessWatch;
use crate::programs::Programs;
use crate::sampling_plan::{SamplerReport, SamplingPlan};

/// Limit on the number of different problems.
const NOTES_MAX: usize = 20;

/// The thread's state between samples.
pub(crate) struct SamplerState {
    repeat: Option<RepeatKey>,
    /// `None` once the process has ended, which is reported once.
    processes: Vec<Option<ProcessWatch>>,
    machine: MachineFiles,
    programs: Programs,
    /// Interface speeds given by the user.
    speeds: Vec<UserSpeed>,
    buffer: Buffer,
    /// The readings of the current sample; writing empties it.
    seen: Vec<Observation>,
    pub(crate) report: SamplerReport,
}

impl SamplerState {
    pub(crate) fn new(plan: &SamplingPlan, at_ns: u64) -> SamplerState {
        let mut state = SamplerState {
            repeat: plan.repeat,
            processes: Vec::new(),
            machine: MachineFiles::new(),
            programs: Programs::first(plan.targets.iter().map(|target| target.pid), at_ns),
            speeds: plan.speeds.clone(),
            buffer: Buffer::new(),
            seen: Vec::new(),
            report: SamplerReport::default(),
        };
        state.add(Subject::Generator, std::process::id());
        for target in &plan.targets {
            state.add(target.subject.clone(), target.pid);
        }
        let at = SampleTime {
            at_ns,
            at_unix_ms: unix_ms(),
        };
        state
            .seen
            .extend(plan.data_dirs.iter().map(|dir| Observation {
                at,
                subject: Subject::Target { broker: None },
                kind: EvidenceKind::DataDir(data_dir(dir)),
            }));
        state
    }

    fn add(&mut self, subject: Subject, pid: u32) {
        match ProcessWatch::new(subject, pid) {
            Ok(watch) => self.processes.push(Some(watch)),
            Err(error) => self.note(error.to_string()),
        }
    }

    fn note(&mut self, words: String) {
        let notes = &mut self.report.notes;
        if notes.len() < NOTES_MAX && !notes.contains(&words) {
            notes.push(words);
        }
    }

    /// Takes a sample and writes it.
    pub(crate) fn sample(
        &mut self,
        at_ns: u64,
        sink: &mut impl FnMut(&Evidence) -> Result<(), String>,
    ) {
        self.report.looks += 1;
        let now = SampleTime {
            at_ns,
            at_unix_ms: unix_ms(),
        };
        let mut complaints = Vec::new();
        for process in &mut self.processes {
            let Some(open) = process else { continue };
            if let Err(error) = open.sample(&mut self.buffer, now, &mut self.seen) {
                complaints.push(error.to_string());
                if matches!(error, ProcessError::Gone { .. }) {
                    *process = None;
                }
            }
        }
        self.machine.sample(&mut self.buffer, now, &mut self.seen);
        // Once per repeat: a cable may have been changed since the last one.
        if self.report.looks == 1 {
            let speeds = network_speeds(&self.speeds).into_iter();
            let speeds = speeds.map(|speed| of_host(now, EvidenceKind::NetworkSpeed(speed)));
            self.seen.extend(speeds);
        }
        complaints
            .into_iter()
            .for_each(|complaint| self.note(complaint));
        self.write(sink);
    }

    /// Writes the remaining readings after the last sample, and the cost of sampling.
    pub(crate) fn end(
        &mut self,
        at_ns: u64,
        cpu_ns: u64,
        sink: &mut impl FnMut(&Evidence) -> Result<(), String>,
    ) {
        self.report.cpu_ns = cpu_ns;
        self.machine.end(&mut self.seen);
        let at = SampleTime {
            at_ns,
            at_unix_ms: unix_ms(),
        };
        let programs = self.programs.last(at_ns).map(EvidenceKind::Programs);
        self.seen.extend(programs.map(|kind| of_host(at, kind)));
        self.seen.push(Observation {
            at,
            subject: Subject::Generator,
            kind: EvidenceKind::Observing {
                looks: self.report.looks,
                cpu_ns,
                span_ns: self.report.span_ns,
            },
        });
        self.write(sink);
    }

    fn write(&mut self, sink: &mut impl FnMut(&Evidence) -> Result<(), String>) {
        let mut seen = std::mem::take(&mut self.seen);
        for seen in seen.drain(..) {
            if let Err(complaint) = sink(&seen.evidence(self.repeat)) {
                self.note(complaint);
            }
        }
        // Reuses the allocation for the next sample.
        self.seen = seen;
    }
}
