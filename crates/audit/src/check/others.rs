//! Omissions in the output of tools other than Kafka's.

use kgauge_analyze::statistics::Spread;

use crate::finding::{AuditRule, Finding, FindingSeverity};
use crate::line::{AuditedLine, ParsedLine};
use crate::omb::OmbResult;
use crate::rdkafka::RdkafkaLine;

/// The end of its histograms (`WorkerStats`).
const OMB_MAX_MS: f64 = 60_000.0;
/// A delay above this fraction of the latency is reported.
const DELAYED: f64 = 0.1;
/// Windows that differ by more than this are not a steady rate.
const UNSTEADY: f64 = 0.1;

pub(super) fn check(lines: &[AuditedLine]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let words = match &line.content {
            ParsedLine::Omb(result) => of_omb(result),
            // Each line counts from the start, so that the last one is enough.
            ParsedLine::Rdkafka(counts) if is_last(lines, index) => of_rdkafka(counts),
            _ => continue,
        };
        found.extend(words.into_iter().map(|(level, check, text)| Finding {
            level,
            check,
            places: vec![line.place.clone()],
            text,
        }));
    }
    found
}

fn is_last(lines: &[AuditedLine], index: usize) -> bool {
    let goes_on = |next: &AuditedLine| {
        let same = next.place.file == lines[index].place.file;
        same && match (&next.content, &lines[index].content) {
            (ParsedLine::Rdkafka(next), ParsedLine::Rdkafka(this)) => {
                next.produced >= this.produced
            }
            _ => false,
        }
    };
    !lines.get(index + 1).is_some_and(goes_on)
}

fn of_rdkafka(counts: &RdkafkaLine) -> Vec<(FindingSeverity, AuditRule, String)> {
    let mut found = Vec::new();
    let open = counts
        .produced
        .saturating_sub(counts.delivered.saturating_add(counts.failed));
    if counts.failed > 0 || open > 0 {
        found.push((
            FindingSeverity::Caution,
            AuditRule::Failures,
            format!(
                "Of {} records, {} were delivered, {} failed, and {open} have no known outcome.",
                counts.produced, counts.delivered, counts.failed
            ),
        ));
    }
    if let Some(codec) = &counts.codec {
        found.push((
            FindingSeverity::Artefact,
            AuditRule::Compression,
            format!(
                "{codec} compressed identical bytes: the tool fills all records with one pattern."
            ),
        ));
    }
    found
}

fn of_omb(result: &OmbResult) -> Vec<(FindingSeverity, AuditRule, String)> {
    let mut found = Vec::new();
    let publish = result.publish.as_ref();
    let p99 = publish.and_then(|one| one.points.iter().find(|(part, _)| *part == 0.99));
    if let (Some(delay), Some((_, p99))) = (result.delay_p99_ms, p99)
        && delay > DELAYED * p99
    {
        found.push((
            FindingSeverity::Artefact,
            AuditRule::LateSending,
            format!(
                "Publish latency (p99 {p99} ms) starts at the actual send. One record in a \
                 hundred was sent {delay:.1} ms or more after its intended time. That delay is \
                 reported separately, and percentiles cannot be added."
            ),
        ));
    }
    let cut = result.latencies().filter(|one| one.max_ms >= OMB_MAX_MS);
    for one in cut {
        found.push((
            FindingSeverity::Artefact,
            AuditRule::Truncation,
            format!(
                "The maximum {} is {} ms: the tool caps longer ones at 60 s.",
                one.name, one.max_ms
            ),
        ));
    }
    if result.errors_per_s_max > 0.0 {
        found.push((
            FindingSeverity::Caution,
            AuditRule::Failures,
            format!(
                "Up to {} sends per second failed; latencies exclude them.",
                result.errors_per_s_max
            ),
        ));
    }
    let rates = Spread::of(&result.publish_rates);
    if let Some(cv) = rates.and_then(|rates| rates.cv).filter(|cv| *cv > UNSTEADY) {
        found.push((
            FindingSeverity::Caution,
            AuditRule::Spread,
            format!(
                "The rate of {} is not steady: its coefficient of variation over {} windows is \
                 {:.0} %.",
                result.workload,
                result.publish_rates.len(),
                cv * 100.0
            ),
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::{Options, audit};

    #[test]
    fn what_a_benchmark_result_omits_is_reported() {
        let text = crate::omb::tests::RESULT;
        let found = audit(&[("r.json".to_owned(), text.into())], &Options::default());
        let texts: Vec<&str> = found.findings.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(found.contradictions(), 0, "{texts:#?}");
        assert!(
            texts
                .iter()
                .any(|text| text.contains("52.0 ms or more after")),
            "{texts:#?}"
        );
        assert!(
            texts.iter().any(|text| text.contains("Up to 3.5 sends")),
            "{texts:#?}"
        );
        let wrong = text.replace(
            "\"aggregatedPublishLatencyAvg\": 8.1",
            "\"aggregatedPublishLatencyAvg\": 80.1",
        );
        let found = audit(&[("r.json".to_owned(), wrong.into())], &Options::default());
        assert_eq!(found.contradictions(), 1);
    }
}
