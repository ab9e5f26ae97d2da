//! Audits the lines that others published.

use kgauge_audit::{Options, parse_bits, parse_release};
use kgauge_scenario::{AuditFacts, FlowPlan, ProduceFlow, PublishedFinding, Trial};

use crate::error::RunError;

/// Audits every published line of some trials, and stores the findings with it.
pub(crate) fn audit(trials: &mut [Trial], of_study: &AuditFacts) -> Result<(), RunError> {
    for trial in trials {
        let of_trial = AuditFacts {
            brokers: trial.cluster.brokers_exactly(),
            replication: Some(u32::from(trial.topic.replication)),
            partitions: Some(trial.topic.partitions),
            ..AuditFacts::default()
        };
        for published in &mut trial.published {
            let Some(line) = &published.line else {
                continue;
            };
            let facts = published.audit_facts.or(&of_trial).or(of_study);
            let flows = trial.flows.iter().filter_map(FlowPlan::produces);
            let command = flows
                .filter(|flow| flow.name == published.figure.flow)
                .map(command)
                .next();
            let text = format!("{}{line}", command.unwrap_or_default());
            let source = ("the published line".to_owned(), text.into_bytes());
            let audit = kgauge_audit::audit(&[source], &options(&facts)?);
            published.audit = audit
                .findings
                .into_iter()
                .map(|finding| PublishedFinding {
                    level: finding.level,
                    text: finding.text,
                })
                .collect();
        }
    }
    Ok(())
}

/// The command that would have printed the line, as far as it matters for judging it.
fn command(flow: &ProduceFlow) -> String {
    let settings = &flow.settings;
    let codec = settings.compression.codec.name();
    format!(
        "kafka-producer-perf-test --record-size {} --producer-props compression.type={codec} batch.size={} \
         buffer.memory={}\n",
        flow.record.value_bytes_max(),
        settings.batch_bytes,
        settings.buffer_bytes
    )
}

fn options(facts: &AuditFacts) -> Result<Options, RunError> {
    let wrong = |key: &str, value: &str, hint: &str| {
        let words = format!("the study's audit.{key} is {value}: {hint}");
        RunError::input(words)
    };
    let nic = facts.nic.as_deref().map(|text| {
        parse_bits(text).ok_or_else(|| wrong("nic", text, "write bits per second, as in 1G"))
    });
    let as_of = facts.as_of.as_deref().map(|text| {
        parse_release(text).ok_or_else(|| wrong("as-of", text, "write a release, as in 1.0.2"))
    });
    Ok(Options {
        buffer_bytes: facts.buffer_bytes,
        nic_bits_per_s: nic.transpose()?,
        brokers: facts.brokers,
        replication: facts.replication,
        partitions: facts.partitions.map(u64::from),
        as_of: as_of.transpose()?,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use kgauge_scenario::{FindingSeverity, Size, Studies};

    use super::*;

    /// The findings about a study's lines, each once.
    fn findings(name: &str) -> Vec<PublishedFinding> {
        let study = Studies::get(name).unwrap();
        let trials = study
            .scenarios
            .iter()
            .flat_map(|one| one.trials(Size::Quick));
        let mut trials: Vec<Trial> = trials.collect();
        audit(&mut trials, &study.audit).unwrap();
        let published = trials.into_iter().flat_map(|trial| trial.published);
        let mut findings: Vec<_> = published.flat_map(|one| one.audit).collect();
        findings.sort_by_key(|finding| (finding.level, finding.text.clone()));
        findings.dedup();
        findings
    }

    #[test]
    fn the_lines_that_contradict_themselves_are_found_and_no_others() {
        for name in Studies::names() {
            let found = findings(name);
            let grave = found
                .iter()
                .filter(|one| one.level == FindingSeverity::Contradiction);
            let expected = if name == "dcos-2018" { 8 } else { 0 };
            assert_eq!(
                grave.clone().count(),
                expected,
                "{name}: {:#?}",
                grave.collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn what_a_codec_explains_is_no_contradiction() {
        let found = findings("dcos-2018");
        let of_card = found.iter().find(|one| one.text.contains("/ 9 brokers"));
        assert!(
            of_card.is_none_or(|one| one.level == FindingSeverity::Artefact),
            "{of_card:?}"
        );
        let buffer = found
            .iter()
            .filter(|one| one.text.contains("queueing in the client buffer"));
        assert!(buffer.count() >= 9);
    }
}
