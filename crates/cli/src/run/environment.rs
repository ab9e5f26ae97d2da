//! What the run folder says about machine and target.

use std::path::Path;
use std::time::Duration;

use kgauge_client::ClientConfig;
use kgauge_results::run::{Broker, Build, Environment, Started, Target, TargetKind};
use kgauge_target::{BrokerFacts, TargetFacts};

/// The content of `environment.json`.
pub(crate) fn environment(
    dir: &Path,
    target: &kgauge_target::Target,
    facts: &TargetFacts,
    release_notes: Vec<String>,
) -> Environment {
    Environment {
        machine: kgauge_observe::host_facts(dir).machine,
        kgauge: Build::this(),
        target: Target {
            kind: match facts.kind {
                kgauge_scenario::TargetKind::Embedded => TargetKind::Embedded,
                kgauge_scenario::TargetKind::Kafka => TargetKind::Kafka,
                kgauge_scenario::TargetKind::Existing => TargetKind::Existing,
            },
            cluster_id: facts.cluster_id.clone(),
            bootstrap_servers: facts.bootstrap_servers.clone(),
            same_machine: facts.same_machine,
            version: facts.version.clone(),
            brokers: facts.brokers.iter().map(broker).collect(),
            started: started(target),
            notes: notes(target.config())
                .into_iter()
                .chain(release_notes)
                .collect(),
        },
    }
}

/// How kgauge started Apache Kafka.
fn started(target: &kgauge_target::Target) -> Option<Started> {
    let kgauge_target::Target::Kafka(kafka) = target else {
        return None;
    };
    let (spec, facts) = (kafka.spec(), kafka.started());
    let ms = |time: Duration| u64::try_from(time.as_millis()).ok();
    let own = spec.broker_settings.iter();
    Some(Started {
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

/// What a reader of the figures has to know about how the cluster was reached.
fn notes(config: &ClientConfig) -> Vec<String> {
    let tls = config.security.tls.as_ref();
    let unchecked = tls.filter(|tls| !tls.host_names_checked).map(|_| {
        "The names in the brokers' certificates were not checked: the client properties switch \
         that off, and anybody with a certificate of that authority could have answered."
            .to_owned()
    });
    unchecked.into_iter().collect()
}

fn broker(facts: &BrokerFacts) -> Broker {
    Broker {
        id: facts.id,
        address: facts.address.clone(),
        rack: facts.rack.clone(),
        settings: facts.settings.clone(),
    }
}
