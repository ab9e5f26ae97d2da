//! The facts about machine and target in the run folder.

use std::path::Path;
use std::time::Duration;

use kgauge_client::ClientConfig;
use kgauge_results::run::{
    BrokerRecord, BuildRecord, DiskBaseline, Environment, KafkaStart, TargetNote, TargetRecord,
};
use kgauge_target::kafka::SecurityKind;
use kgauge_target::{BrokerFacts, TargetFacts};

/// The content of `environment.json`.
pub(crate) fn environment(
    dir: &Path,
    target: &kgauge_target::Target,
    facts: &TargetFacts,
    run_notes: Vec<TargetNote>,
    disk: Option<DiskBaseline>,
) -> Environment {
    Environment {
        disk,
        machine: kgauge_observe::machine_record(dir),
        kgauge: BuildRecord::this(),
        target: TargetRecord {
            kind: facts.reported_kind(),
            cluster_id: facts.cluster_id.clone(),
            bootstrap_servers: facts.bootstrap_servers.clone(),
            same_machine: facts.same_machine,
            version: facts.version.clone(),
            brokers: facts.brokers.iter().map(broker).collect(),
            tls: Some(target.config().security.tls.is_some()),
            started: started(target),
            notes: unchecked_host_names(target.config())
                .into_iter()
                .chain(security_of_embedded(target))
                .chain(flushes_that_differ(facts))
                .chain(run_notes)
                .collect(),
        },
    }
}

/// How kgauge started Apache Kafka.
fn started(target: &kgauge_target::Target) -> Option<KafkaStart> {
    let kgauge_target::Target::Kafka(kafka) = target else {
        return None;
    };
    let (spec, facts) = (kafka.spec(), kafka.started());
    let ms = |time: Duration| u64::try_from(time.as_millis()).ok();
    let own = spec.broker_settings.iter();
    Some(KafkaStart {
        checked: kafka.release().checked,
        coordination: facts.coordination.clone(),
        java: kafka.java().version.clone(),
        jvm: facts.jvm.clone(),
        security: spec.security.to_string(),
        settings: spec.settings.clone(),
        broker_settings: own.map(|(id, own)| (id.to_string(), own.clone())).collect(),
        ports_open_ms: ms(facts.ports_open),
        serves_ms: ms(facts.serves),
    })
}

/// A note if the client properties disable the check of host names.
fn unchecked_host_names(config: &ClientConfig) -> Option<TargetNote> {
    let tls = config.security.tls.as_ref()?;
    (!tls.host_names_checked).then_some(TargetNote::HostNamesUnchecked)
}

fn broker(facts: &BrokerFacts) -> BrokerRecord {
    BrokerRecord {
        id: facts.id,
        address: facts.address.clone(),
        rack: facts.rack.clone(),
        settings: facts.settings.clone(),
    }
}

/// How clients of an embedded cluster connect, unless in plain text.
fn security_of_embedded(target: &kgauge_target::Target) -> Option<TargetNote> {
    let kgauge_target::Target::Embedded(embedded) = target else {
        return None;
    };
    let security = embedded.spec().security;
    (security != SecurityKind::Plaintext).then(|| TargetNote::EmbeddedSecurity {
        security: security.to_string(),
    })
}

/// A report describes durability once per topic, which is only right if the brokers of all replicas flush alike.
fn flushes_that_differ(facts: &TargetFacts) -> Vec<TargetNote> {
    let names = ["log.flush.interval.messages", "log.flush.interval.ms"];
    let note = |name: &str| {
        let mut values: Vec<&str> = facts
            .brokers
            .iter()
            .map(|broker| {
                broker
                    .settings
                    .get(name)
                    .map_or("not reported", String::as_str)
            })
            .collect();
        values.dedup();
        (values.len() > 1).then(|| TargetNote::FlushesDiffer {
            setting: name.to_owned(),
        })
    };
    names.into_iter().filter_map(note).collect()
}
