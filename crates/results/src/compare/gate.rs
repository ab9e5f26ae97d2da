//! A comparison as a gate of an automatic build: is anything worse than in the baseline?

use super::{Comparison, ComparisonRow, DifferenceKind, Missing};

/// What a gate looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    /// Figures that are worse, each in a sentence.
    pub worse: Vec<String>,
    /// What the baseline has and a run has not, each in a sentence.
    pub missing: Vec<String>,
    /// Runs of which no rate and no time could be judged: of those the gate says nothing.
    pub unjudged: Vec<String>,
}

impl Comparison {
    /// What is worse than the baseline by at least the part `least` (0.05: 5 %; 0: whatever was told from chance).
    pub fn gate(&self, least: f64) -> Gate {
        let mut gate = Gate::default();
        let mut judged = vec![false; self.runs.len()];
        for row in &self.rows {
            let cells = row.cells.iter().zip(&self.runs).zip(&mut judged);
            for ((cell, run), judged) in cells {
                let Some(against) = &cell.against else {
                    // The baseline itself.
                    *judged = true;
                    continue;
                };
                // CPU and bytes may be compared where the generator was the limit; they are not what is asked for.
                *judged |= row.figure.hangs_on_generator() && against.word.is_decided();
                if cell.missing == Some(Missing::NotMeasured) {
                    gate.missing
                        .push(format!("{} of {}", place(row), run.label));
                }
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
        let unjudged = self.runs.iter().zip(judged).filter(|(_, judged)| !judged);
        gate.unjudged = unjudged.map(|(run, _)| run.label.clone()).collect();
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
