//! What arithmetic says of the lines that others published.

use kgauge_audit::Options;
use kgauge_scenario::{AuditFacts, Plan};

use crate::audit::{bits, release};
use crate::exit::{ExitStatus, stop};

/// Audits every published line of a plan, and keeps what is found beside it.
pub(super) fn audit(plan: &mut Plan, facts: &AuditFacts) -> anyhow::Result<()> {
    let options = options(facts)?;
    let published = plan
        .trials
        .iter_mut()
        .flat_map(|trial| &mut trial.published);
    for published in published {
        let Some(line) = &published.line else {
            continue;
        };
        let source = ("the published line".to_owned(), line.clone().into_bytes());
        let audit = kgauge_audit::audit(&[source], &options);
        published.audit = audit
            .findings
            .into_iter()
            .map(|finding| format!("{}: {}", finding.level, finding.text))
            .collect();
    }
    Ok(())
}

fn options(facts: &AuditFacts) -> anyhow::Result<Options> {
    let wrong = |key: &str, value: &str, wanted: &str| {
        let words = format!("the study's audit.{key} is {value}: {wanted}");
        stop(ExitStatus::BadInput, words)
    };
    let nic = facts
        .nic
        .as_deref()
        .map(|text| bits(text).ok_or_else(|| wrong("nic", text, "write bits a second, as in 1G")));
    let as_of = facts.as_of.as_deref().map(|text| {
        release(text).ok_or_else(|| wrong("as-of", text, "write a release, as in 1.0.2"))
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
