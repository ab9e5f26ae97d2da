//! Checks the output of other tools by arithmetic.
//!
//! # Goals
//!
//! * Every finding shows its arithmetic and its position, as a text that can be sent to a colleague.
//! * Nothing is guessed: ambiguous lines are skipped and listed.
//! * True samples never give a contradiction.
//!
//! # Non-goals
//!
//! * Judging kgauge's own figures, which `analyze` does.
//! * Files, terminals, and tools that print no figures for a whole run.
//!
//! # Where to start
//!
//! [`audit`] reads texts. `check/` has a file per kind of finding; `producer.rs` and its neighbours read one kind of
//! line each.
//!
//! ```
//! use kgauge_audit::{Options, audit};
//!
//! let text = "10 records sent, 5.0 records/sec (0.01 MB/sec), 900.00 ms avg latency, 950.00 ms max latency, 3 ms \
//!             50th, 5 ms 95th, 6 ms 99th, 7 ms 99.9th.";
//! let audit = audit(&[("notes.txt".to_owned(), text.as_bytes().to_vec())], &Options::default());
//! assert_eq!(audit.contradictions(), 1);
//! ```

mod check;
mod conclusion;
mod consumer;
mod context;
mod distribution;
mod finding;
mod line;
mod number;
mod omb;
mod options;
mod producer;
mod rate;
mod rdkafka;
mod read;
mod text;

pub use context::Context;
pub use distribution::PublishedTimes;
pub use finding::{AuditRule, Finding, FindingLocation, FindingSeverity};
pub use line::{AuditedLine, ParsedLine};
pub use omb::OmbResult;
pub use options::{OptionTexts, Options, parse_bits, parse_release, parse_with_unit};
pub use producer::ProducerLine;
pub use rate::Rate;
pub use rdkafka::RdkafkaLine;
pub use read::AuditInput;

/// The lines of texts, and the findings about them.
#[derive(Debug, Clone, Default)]
pub struct Audit {
    /// The lines of known tools, in the order of the text.
    pub lines: Vec<AuditedLine>,
    /// The most severe first.
    pub findings: Vec<Finding>,
    /// Remarks about skipped or unusual lines.
    pub remarks: Vec<String>,
}

impl Audit {
    /// The number of summaries of `kafka-producer-perf-test` with percentiles.
    pub fn summaries(&self) -> usize {
        self.lines
            .iter()
            .filter(|line| line.summary().is_some())
            .count()
    }

    /// The number of contradictions.
    pub fn contradictions(&self) -> usize {
        let grave = |finding: &&Finding| finding.level == FindingSeverity::Contradiction;
        self.findings.iter().filter(grave).count()
    }
}

/// Audits texts.
pub fn audit(sources: &[AuditInput], options: &Options) -> Audit {
    let mut audit = Audit::default();
    for source in sources {
        read::read(source, &mut audit);
    }
    audit.findings = check::all(&audit.lines, options);
    audit
}
