//! What readers of a target's figures must know about it.

use kgauge_results::run::TargetNote;

/// A note: its opening, and what there is to say besides.
pub(super) fn text(note: &TargetNote) -> (String, String) {
    let opening = match note {
        TargetNote::HostNamesUnchecked => {
            "Host names in the brokers' certificates were not verified, because the client \
             properties disable that: anyone with a certificate of that authority could have \
             answered."
                .to_owned()
        }
        TargetNote::EmbeddedSecurity { security } => {
            let rest = "Traffic between nodes stays inside one process.";
            return (format!("Clients connect with {security}."), rest.to_owned());
        }
        TargetNote::FlushesDiffer { setting } => format!(
            "The brokers differ in {setting}: the flush policy shown applies to one of them."
        ),
        TargetNote::NoIdempotence { flows } => {
            let opening = "This release has no idempotent producers (Kafka 0.11).";
            let rest = format!(
                "{} ran without idempotence, so a retried batch may have been written twice.",
                flows.join(", ")
            );
            return (opening.to_owned(), rest);
        }
        TargetNote::NoDiskBaseline { error } => {
            let elsewhere = "the brokers' disks are not on this machine";
            let why = error.as_deref().unwrap_or(elsewhere);
            format!("No disk baseline: {why}.")
        }
        TargetNote::SeveralClusters => {
            let opening = "Release and broker details are those of the first of several clusters.";
            let rest =
                "Trials with other releases, brokers or broker settings ran on separate clusters.";
            return (opening.to_owned(), rest.to_owned());
        }
        TargetNote::FaultEquipment {
            preload,
            proxy,
            fake_clock,
        } => {
            let named = [
                (preload, "a library that records flushes"),
                (proxy, "a proxy in front of each listener"),
                (fake_clock, "libfaketime"),
            ];
            let named = named.into_iter().filter(|(is_used, _)| **is_used);
            let named: Vec<&str> = named.map(|(_, name)| name).collect();
            format!(
                "For the faults of this run, brokers ran with {}, also in trials without faults.",
                named.join(", ")
            )
        }
        TargetNote::NotWarmed => {
            "Brokers were not warmed before the first trial (warming=off).".to_owned()
        }
        TargetNote::Mirrored { scenarios } => format!(
            "In {}, echo flows write to the target and read a replicator's copy on a second \
             cluster: their end-to-end times cover both.",
            scenarios.join(", ")
        ),
        TargetNote::Sentence { text } => text.clone(),
    };
    (opening, String::new())
}
