//! A comparison as a gate of an automatic build: is anything worse than in the baseline?

use super::{Comparison, ComparisonRow, DifferenceKind};

/// What a gate looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    /// Figures that are worse, each in a sentence.
    pub worse: Vec<String>,
    /// Comparisons that statistics decided. Without any the gate says nothing.
    pub decided: usize,
}

impl Comparison {
    /// What is worse than the baseline by at least the part `least` (0.05: 5 %; 0: whatever was told from chance).
    pub fn gate(&self, least: f64) -> Gate {
        let mut gate = Gate::default();
        for row in &self.rows {
            for (cell, run) in row.cells.iter().zip(&self.runs) {
                let Some(against) = &cell.against else {
                    continue;
                };
                gate.decided += usize::from(against.word.is_decided());
                let Some(ratio) = against.ratio.filter(|_| against.word.is_worse()) else {
                    continue;
                };
                if (ratio - 1.0).abs() >= least {
                    let word = against.word.as_str();
                    gate.worse.push(format!(
                        "{} of {}: {word}, {}",
                        place(row),
                        run.label,
                        against.why
                    ));
                }
            }
        }
        gate
    }

    /// Why runs do not measure the same at all: one target is the embedded cluster, another is not.
    pub fn unlike(&self) -> Option<&str> {
        let mut found = self.differences.iter();
        let found = found.find(|found| found.bars && found.kind == DifferenceKind::TargetKind)?;
        Some(&found.words)
    }
}

/// `message-size, 10 B, writers: throughput`.
fn place(row: &ComparisonRow) -> String {
    let flow = row.flow.as_deref().unwrap_or_default();
    let parts = [&*row.scenario, &*row.trial, flow];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    format!(
        "{}: {}",
        parts.collect::<Vec<_>>().join(", "),
        row.figure.as_str()
    )
}
