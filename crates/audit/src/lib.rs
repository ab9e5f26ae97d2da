//! Reads what other tools print and says what it is worth, by arithmetic alone.
//!
//! # Goals
//!
//! * Every finding shows its arithmetic and its place, in words that can be sent to a colleague.
//! * Nothing is guessed: what could be read in two ways is left out and named.
//! * No contradiction is ever claimed of true samples.
//!
//! # Non-goals
//!
//! * Judging kgauge's own figures: `results` does.
//! * Files, terminals, and tools that print no figures of a whole run.
//!
//! # Where to start
//!
//! [`audit`] reads texts; `check/` has a file for each kind of finding, `producer.rs` and its neighbours one for each
//! kind of line.
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

pub use consumer::ConsumerLine;
pub use context::Context;
pub use distribution::PublishedTimes;
pub use finding::{AuditRule, Finding, FindingLocation, FindingSeverity};
pub use line::{AuditedLine, ParsedLine};
pub use omb::OmbResult;
pub use options::{Options, parse_bits, parse_release, parse_with_unit};
pub use producer::ProducerLine;
pub use rate::Rate;
pub use rdkafka::RdkafkaLine;
pub use read::AuditInput;

/// What was read, and what it is worth.
#[derive(Debug, Clone, Default)]
pub struct Audit {
    /// The lines of tools, in the order of the text.
    pub lines: Vec<AuditedLine>,
    /// The gravest first.
    pub findings: Vec<Finding>,
    /// What could not be read, in words.
    pub remarks: Vec<String>,
}

impl Audit {
    /// Summaries of `kafka-producer-perf-test` with percentiles.
    pub fn summaries(&self) -> usize {
        self.lines
            .iter()
            .filter(|line| line.summary().is_some())
            .count()
    }

    /// How many findings say that figures cannot all be true.
    pub fn contradictions(&self) -> usize {
        let grave = |finding: &&Finding| finding.level == FindingSeverity::Contradiction;
        self.findings.iter().filter(grave).count()
    }
}

/// Audits texts: names and contents.
pub fn audit(sources: &[AuditInput], options: &Options) -> Audit {
    let mut audit = Audit::default();
    for source in sources {
        read::read(source, &mut audit);
    }
    audit.findings = check::all(&audit.lines, options);
    audit
}
