//! The texts that reports show of a summary.

use kgauge_analyze::Summary;
use kgauge_analyze::summary::{Bottleneck, TrialSummary, Warning, WarningKind};
use kgauge_report::text;
use kgauge_results::RunRead;

/// A verdict on what limited a trial, with its texts.
#[derive(Debug)]
pub(crate) struct LimitText {
    pub(crate) word: Bottleneck,
    pub(crate) candidates: Vec<Bottleneck>,
    pub(crate) sentence: String,
    pub(crate) evidence: Vec<String>,
}

impl LimitText {
    pub(crate) fn of(trial: &TrialSummary) -> LimitText {
        let limit = trial.limit.as_ref().unwrap();
        LimitText {
            word: limit.word,
            candidates: limit.candidates.clone(),
            sentence: text::bottleneck::sentence(limit, trial),
            evidence: text::bottleneck::evidence(limit, trial),
        }
    }

    /// Panics unless the evidence contains a text.
    #[track_caller]
    pub(crate) fn assert_evidence(&self, expected: &str) {
        let evidence = self.evidence.join(" ");
        assert!(evidence.contains(expected), "{evidence}");
    }
}

/// What limited the first trial.
pub(crate) fn limit(run: &RunRead) -> LimitText {
    LimitText::of(&Summary::of(run).trials[0])
}

/// The texts of a trial's warnings of one kind.
pub(crate) fn warnings(trial: &TrialSummary, kind: WarningKind) -> Vec<String> {
    let warnings = trial.warnings.iter().filter(|one| one.kind() == kind);
    let text = |one: &Warning| text::warning::with_flow(one, Some(trial));
    warnings.map(text).collect()
}
