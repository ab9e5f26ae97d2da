//! The facts about machine and target in the run folder.

use std::path::Path;
use std::time::Duration;

use kgauge_client::ClientConfig;
use kgauge_results::run::{
    BrokerRecord, BuildRecord, DiskBaseline, Environment, KafkaStart, TargetRecord,
};
use kgauge_target::kafka::SecurityKind;
use kgauge_target::{BrokerFacts, TargetFacts};

/// The content of `environment.json`.
pub(crate) fn environment(
    dir: &Path,
    target: &kgauge_target::Target,
    facts: &TargetFacts,
    release_notes: Vec<String>,
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
            notes: notes(target.config())
                .into_iter()
                .chain(security_of_embedded(target))
                .chain(flushes_that_differ(facts))
                .chain(release_notes)
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

/// Notes about the connection to the cluster that affect the figures.
fn notes(config: &ClientConfig) -> Vec<String> {
    let tls = config.security.tls.as_ref();
    let unchecked = tls.filter(|tls| !tls.host_names_checked).map(|_| {
        "Host names in the brokers' certificates were not verified, because the client properties \
         disable that: anyone with a certificate of that authority could have answered."
            .to_owned()
    });
    unchecked.into_iter().collect()
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
fn security_of_embedded(target: &kgauge_target::Target) -> Option<String> {
    let kgauge_target::Target::Embedded(embedded) = target else {
        return None;
    };
    let security = embedded.spec().security;
    (security != SecurityKind::Plaintext).then(|| {
        format!("Clients connect with {security}. Traffic between nodes stays inside one process.")
    })
}

/// A report describes durability once per topic, which is only right if the brokers of all replicas flush alike.
fn flushes_that_differ(facts: &TargetFacts) -> Vec<String> {
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
        (values.len() > 1).then(|| {
            format!("The brokers differ in {name}: the flush policy shown applies to one of them.")
        })
    };
    names.into_iter().filter_map(note).collect()
}
