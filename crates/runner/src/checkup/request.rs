//! What the user asks of a checkup.

use std::time::Duration;

use kgauge_scenario::{BuiltIn, BuiltInOptions, SearchOptions, rate_value, size_value, time_value};

use crate::error::RunError;
use crate::question::{Question, ScenarioChanges};

use super::scenarios;

/// A checkup as asked for; the facts about the cluster decide the rest.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckupRequest {
    /// The goal of the capacity search: `p99 <= 20 ms`.
    pub goal: String,
    /// The size of a record's value in bytes.
    pub record_bytes: u64,
    /// The number of producers.
    pub producers: u32,
    /// The highest rate in records per second, all producers together; without it, disks and quotas decide.
    pub rate_max: Option<f64>,
    /// Bytes on the brokers' disks at most at any time; without it, a fifth of the free space.
    pub disk_bytes_max: Option<u64>,
    /// Its time, starting from the target.
    pub budget: Duration,
}

/// A checkup as the user writes it.
#[derive(Debug, Clone, Copy)]
pub struct CheckupTexts<'a> {
    /// The goal of the capacity search.
    pub goal: &'a str,
    /// The size of a record's value: `1 kB`.
    pub record_size: &'a str,
    /// The number of producers.
    pub producers: u32,
    /// Its time: `15 min`.
    pub budget: &'a str,
    /// The highest rate: `50k/s`.
    pub max_rate: Option<&'a str>,
    /// Bytes on the brokers' disks at most: `20 GB`.
    pub max_disk: Option<&'a str>,
}

impl CheckupRequest {
    /// Reads the values of the flags of `kgauge checkup`.
    ///
    /// # Errors
    /// A value cannot be read.
    pub fn read(texts: &CheckupTexts<'_>) -> Result<Self, RunError> {
        let record_bytes = value("record-size", texts.record_size, size_value)?;
        let budget_ns = value("budget", texts.budget, time_value)?;
        let rate_max = texts
            .max_rate
            .map(|text| value("max-rate", text, rate_value));
        let rate_max = rate_max.transpose()?;
        let disk = texts
            .max_disk
            .map(|text| value("max-disk", text, size_value));
        Ok(Self {
            goal: texts.goal.to_owned(),
            record_bytes,
            producers: texts.producers,
            rate_max,
            disk_bytes_max: disk.transpose()?,
            budget: Duration::from_nanos(budget_ns),
        })
    }

    /// The flags of `kgauge checkup` that mean the same, for a lead in a pod.
    pub fn flags(&self) -> Vec<String> {
        let mut flags = vec![
            format!("--goal={}", self.goal),
            format!("--budget={} ms", self.budget.as_millis()),
            format!("--record-size={} B", self.record_bytes),
            format!("--producers={}", self.producers),
        ];
        flags.extend(self.rate_max.map(|rate| format!("--max-rate={rate}/s")));
        let disk = self.disk_bytes_max;
        flags.extend(disk.map(|bytes| format!("--max-disk={bytes} B")));
        flags
    }

    /// The shortest budget: less leaves no time for a search.
    pub const BUDGET_MIN: Duration = Duration::from_secs(60);

    /// With the defaults of everything but the goal.
    pub fn new(goal: String) -> Self {
        Self {
            goal,
            record_bytes: 1_000,
            producers: 4,
            rate_max: None,
            disk_bytes_max: None,
            budget: Duration::from_secs(900),
        }
    }

    /// What its run starts with: the part without load. The others are added when the cluster is known.
    ///
    /// # Errors
    /// The budget is too short, or the goal cannot be searched for.
    pub fn question(&self) -> Result<Question, RunError> {
        if self.budget < Self::BUDGET_MIN {
            return Err(RunError::input(format!(
                "--budget: a checkup needs at least {} s",
                Self::BUDGET_MIN.as_secs()
            )));
        }
        // A goal that cannot be read must not be found out after the first load.
        let searched = BuiltInOptions {
            search: Some(SearchOptions {
                goals: vec![self.goal.clone()],
                settings: Vec::new(),
            }),
            ..BuiltInOptions::default()
        };
        let text = BuiltIn::Latency.text(&searched);
        text.map_err(|error| RunError::input(error.to_string()))?;
        let text = scenarios::idle();
        let mut question = Question::of_text("idle", &text, &ScenarioChanges::default())?;
        "checkup".clone_into(&mut question.name);
        Ok(question)
    }
}

fn value<T>(flag: &str, text: &str, parse: fn(&str) -> Result<T, String>) -> Result<T, RunError> {
    parse(text).map_err(|why| RunError::input(format!("--{flag}: {why}")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_checkup_is_the_same_in_a_pod() {
        let request = CheckupRequest {
            rate_max: Some(50_000.0),
            disk_bytes_max: Some(20_000_000_000),
            ..CheckupRequest::new("p99 <= 20 ms".to_owned())
        };
        let flags = request.flags();
        assert_eq!(
            flags,
            [
                "--goal=p99 <= 20 ms",
                "--budget=900000 ms",
                "--record-size=1000 B",
                "--producers=4",
                "--max-rate=50000/s",
                "--max-disk=20000000000 B"
            ]
        );
        let value = |flag: usize| flags[flag].split_once('=').unwrap().1;
        let read = CheckupRequest::read(&CheckupTexts {
            goal: value(0),
            budget: value(1),
            record_size: value(2),
            producers: 4,
            max_rate: Some(value(4)),
            max_disk: Some(value(5)),
        });
        assert_eq!(read.unwrap(), request);
    }

    #[test]
    fn a_goal_and_a_budget_are_checked_before_anything_starts() {
        let mut request = CheckupRequest::new("p99 <= 20 ms".to_owned());
        let question = request.question().unwrap();
        assert_eq!(
            (question.name.as_str(), question.trials.len()),
            ("checkup", 1)
        );
        "p99 <= 20".clone_into(&mut request.goal);
        let error = request.question().unwrap_err().to_string();
        assert!(error.contains("has no unit"), "{error}");
        "p99 <= 20 ms".clone_into(&mut request.goal);
        request.budget = Duration::from_secs(30);
        let error = request.question().unwrap_err().to_string();
        assert!(error.contains("at least 60 s"), "{error}");
    }
}
