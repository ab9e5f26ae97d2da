//! What the user asks of a checkup.

use std::time::Duration;

use kgauge_scenario::{BuiltIn, BuiltInOptions, SearchOptions};

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

impl CheckupRequest {
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

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
