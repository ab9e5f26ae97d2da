//! The target in every report.

use kgauge_analyze::summary::TargetSummary;

use crate::format;

/// The sentence that names the target.
pub fn sentence(target: &TargetSummary) -> String {
    let Some(kind) = target.kind else {
        return "unknown: the run ended before it was recorded".to_owned();
    };
    let brokers = format::counted(target.brokers.unwrap_or(0).into(), "broker");
    let machine = match target.same_machine {
        Some(true) => ", on the load generator's machine",
        Some(false) | None => "",
    };
    let started = match kind.is_started_release() {
        true => ", started by kgauge",
        false => "",
    };
    let caution = match kind.is_apache_kafka() {
        true => "",
        false => " (not Apache Kafka: its figures do not carry over)",
    };
    let name = kind.name_at(target.address.as_deref(), target.version.as_deref());
    format!("{name}, {brokers}{started}{machine}{caution}")
}
