//! The bottom line of an audit: what its latencies and rates can be used for.

use std::collections::BTreeSet;

use crate::Audit;
use crate::check;
use crate::finding::{AuditRule, FindingLocation};
use crate::line::AuditedLine;
use crate::text::counted;

impl Audit {
    /// A sentence each about latency, throughput and spread; only about what the lines have.
    pub(crate) fn conclusion(&self) -> Vec<String> {
        let with_times = self.lines.iter();
        let times = with_times.filter(|line| !line.distributions().is_empty());
        let rates = self.lines.iter().filter_map(AuditedLine::sent_mib_per_s);
        let (times, rates) = (times.count(), rates.count());
        let mut sentences = Vec::new();
        if times > 0 {
            sentences.push(self.latency(times));
        }
        if rates > 0 {
            sentences.push(self.throughput(rates));
        }
        if self.places(AuditRule::Spread).is_empty() && times + rates > 0 {
            sentences.push(self.spread());
        }
        sentences
    }

    fn latency(&self, lines: usize) -> String {
        let causes = [
            (
                AuditRule::MeanAndPercentiles,
                "mean and percentiles contradict each other",
            ),
            (
                AuditRule::SaturatedBuffer,
                "the mean is the client's own queue",
            ),
            (AuditRule::Sampling, "percentiles leave out most partitions"),
            (
                AuditRule::LateSending,
                "the wait before the send is left out",
            ),
        ];
        self.verdict("Latency: not usable as broker latency", lines, &causes)
            .unwrap_or_else(|| {
                format!(
                    "Latency: nothing wrong found in {}.",
                    counted(lines, "line")
                )
            })
    }

    fn throughput(&self, lines: usize) -> String {
        let causes = [
            (
                AuditRule::NetworkCard,
                "the rate exceeds the network's capacity",
            ),
            (AuditRule::Compression, "identical records were compressed"),
            (AuditRule::Failures, "records are missing"),
        ];
        self.verdict("Throughput: doubtful", lines, &causes)
            .unwrap_or_else(|| {
                format!(
                    "Throughput: nothing wrong found in {}.",
                    counted(lines, "line")
                )
            })
    }

    fn spread(&self) -> String {
        match check::has_repeats(&self.lines) {
            true => "Spread: repeats agree within ±5 %.".to_owned(),
            false => "Spread: unknown, because there are no repeats.".to_owned(),
        }
    }

    /// `Latency: not usable in 7 of 7 lines (the mean is the client's own queue in 7).`
    fn verdict(&self, start: &str, lines: usize, causes: &[(AuditRule, &str)]) -> Option<String> {
        let of_causes = causes.iter().map(|(rule, _)| self.places(*rule));
        let all: BTreeSet<&FindingLocation> = of_causes.flatten().collect();
        let reasons = causes.iter().filter_map(|(rule, words)| {
            let count = self.places(*rule).len();
            (count > 0).then(|| format!("{words} in {count}"))
        });
        let reasons: Vec<String> = reasons.collect();
        let (found, lines) = (all.len(), counted(lines, "line"));
        (found > 0).then(|| format!("{start} in {found} of {lines}: {}.", reasons.join("; ")))
    }

    /// The lines that a rule found something in.
    fn places(&self, rule: AuditRule) -> BTreeSet<&FindingLocation> {
        let findings = self.findings.iter().filter(|one| one.check == rule);
        findings.flat_map(|finding| &finding.places).collect()
    }
}
