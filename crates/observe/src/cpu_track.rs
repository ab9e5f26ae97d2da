//! CPU time of a process between two moments of a repeat, such as the borders of its hold.

use crate::process::{ProcessError, ProcessSampler};

/// Samples a process with every progress report, and computes the CPU time between two moments.
#[derive(Debug)]
pub struct CpuTrack {
    /// `None` if the system does not report it.
    sampler: Option<ProcessSampler>,
    /// (when, CPU time since the process began), both in ns.
    seen: Vec<(u64, u64)>,
}

impl CpuTrack {
    /// A track of a process on this machine.
    pub fn of(pid: Option<u32>) -> Self {
        let sampler = pid.and_then(|pid| ProcessSampler::new(pid).ok());
        Self {
            sampler,
            seen: Vec::new(),
        }
    }

    /// Takes one sample.
    pub fn sample(&mut self, at_ns: u64) {
        let Some(sampler) = &self.sampler else { return };
        match (sampler.sample(), self.seen.last()) {
            (Ok(sample), _) => self.note(at_ns, sample.user_ns + sample.system_ns),
            // Whoever has ended uses nothing more.
            (Err(ProcessError::Gone { .. }), Some(&(_, last_cpu_ns))) => {
                self.note(at_ns, last_cpu_ns);
            }
            (Err(_), _) => {}
        }
    }

    /// Adds a sample that was taken elsewhere.
    pub fn note(&mut self, at_ns: u64, cpu_ns: u64) {
        self.seen.push((at_ns, cpu_ns));
    }

    /// CPU time from one moment to another, interpolated between samples. Unknown if the samples leave out more than a
    /// tenth of it.
    pub fn between(&self, start_ns: u64, end_ns: u64) -> Option<u64> {
        let ((first_ns, _), (last_ns, _)) = (*self.seen.first()?, *self.seen.last()?);
        let seen_ns = end_ns.min(last_ns).saturating_sub(start_ns.max(first_ns));
        if seen_ns < end_ns.saturating_sub(start_ns) / 10 * 9 {
            return None;
        }
        Some(self.at(end_ns)?.saturating_sub(self.at(start_ns)?))
    }

    fn at(&self, at_ns: u64) -> Option<u64> {
        let after = self.seen.partition_point(|(seen_ns, _)| *seen_ns < at_ns);
        let (later_ns, later_cpu_ns) = *self.seen.get(after).or(self.seen.last())?;
        let Some((earlier_ns, earlier_cpu_ns)) =
            after.checked_sub(1).and_then(|at| self.seen.get(at))
        else {
            return Some(later_cpu_ns);
        };
        if later_ns <= *earlier_ns || at_ns >= later_ns {
            return Some(later_cpu_ns);
        }
        let part = (at_ns - earlier_ns) as f64 / (later_ns - earlier_ns) as f64;
        Some(earlier_cpu_ns + ((later_cpu_ns - earlier_cpu_ns) as f64 * part) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn use_between_looks_is_taken_in_proportion() {
        let track = CpuTrack {
            sampler: None,
            seen: vec![(0, 1_000), (100, 1_100), (200, 1_300)],
        };
        assert_eq!(track.between(0, 200), Some(300));
        assert_eq!(track.between(50, 150), Some(150));
        // From 150 on a hundred, of which the last look saw all; then what nobody saw.
        assert_eq!(track.between(150, 204), Some(100));
        assert_eq!(track.between(150, 900), None);
        assert_eq!(track.between(300, 400), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_that_ended_meanwhile_used_nothing_more() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let mut track = CpuTrack::of(Some(child.id()));
        track.sample(0);
        child.kill().unwrap();
        child.wait().unwrap();
        track.sample(100);
        track.sample(1_000);
        let used = track.between(0, 1_000);
        assert!(used.is_some(), "{track:?}");
    }

    #[test]
    fn a_process_without_samples_has_no_cpu_time() {
        assert_eq!(CpuTrack::of(None).between(0, 100), None);
    }
}
