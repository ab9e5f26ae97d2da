//! One look after the other at everything that is watched, and what is kept between two of them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kgauge_results::run::{Evidence, EvidenceKind, RepeatKey, Subject};

use crate::data_dir::data_dir;
use crate::machine::{MachineFiles, of_host};
use crate::network_speed::{UserSpeed, network_speeds};
use crate::proc_file::Buffer;
use crate::process::ProcessError;
use crate::process_watch::ProcessWatch;
use crate::programs::Programs;
use crate::sampler::{SamplerReport, SamplingPlan};

/// More different complaints than these are not kept.
const NOTES_MAX: usize = 20;

/// When something was seen: all of one look has the same moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SampleTime {
    /// On the run's clock.
    pub(crate) at_ns: u64,
    /// On the wall clock.
    pub(crate) at_unix_ms: u64,
}

/// Something that was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Observation {
    pub(crate) at: SampleTime,
    pub(crate) subject: Subject,
    pub(crate) kind: EvidenceKind,
}

impl Observation {
    /// As it stands in the run folder.
    pub(crate) fn evidence(self, repeat: Option<RepeatKey>) -> Evidence {
        Evidence {
            at_unix_ms: self.at.at_unix_ms,
            repeat,
            at_ns: Some(self.at.at_ns),
            subject: self.subject,
            kind: self.kind,
        }
    }
}

/// What the thread keeps between two looks.
pub(crate) struct SamplerState {
    repeat: Option<RepeatKey>,
    /// `None` once the process is gone, which is told once.
    processes: Vec<Option<ProcessWatch>>,
    machine: MachineFiles,
    programs: Programs,
    /// What the user says of network interfaces.
    speeds: Vec<UserSpeed>,
    buffer: Buffer,
    /// What the look has seen; emptied by writing it down.
    seen: Vec<Observation>,
    pub(crate) report: SamplerReport,
}

impl SamplerState {
    pub(crate) fn new(watch: &SamplingPlan, at_ns: u64) -> SamplerState {
        let mut looker = SamplerState {
            repeat: watch.repeat,
            processes: Vec::new(),
            machine: MachineFiles::new(),
            programs: Programs::first(watch.targets.iter().map(|target| target.pid), at_ns),
            speeds: watch.speeds.clone(),
            buffer: Buffer::new(),
            seen: Vec::new(),
            report: SamplerReport::default(),
        };
        looker.add(Subject::Generator, std::process::id());
        for target in &watch.targets {
            looker.add(target.subject.clone(), target.pid);
        }
        let at = SampleTime {
            at_ns,
            at_unix_ms: unix_ms(),
        };
        looker
            .seen
            .extend(watch.data_dirs.iter().map(|dir| Observation {
                at,
                subject: Subject::Target { broker: None },
                kind: EvidenceKind::DataDir(data_dir(dir)),
            }));
        looker
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

    /// Looks at everything once and writes down what it saw.
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
        // How fast interfaces are changes when somebody pulls a cable.
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

    /// Writes down what is left to say after the last look, and what looking has cost.
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
        // Its room serves the next look.
        self.seen = seen;
    }
}

pub(crate) fn unix_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
