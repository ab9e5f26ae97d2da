//! What the run folder says about machine and target.

use std::path::Path;

use kgauge_results::run::{Broker, Build, Environment, Target, TargetKind};
use kgauge_target::{BrokerFacts, TargetFacts};

/// The content of `environment.json`.
pub(crate) fn environment(
    dir: &Path,
    _started: &kgauge_target::Target,
    facts: &TargetFacts,
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
        },
    }
}

fn broker(facts: &BrokerFacts) -> Broker {
    Broker {
        id: facts.id,
        address: facts.address.clone(),
        rack: facts.rack.clone(),
        settings: facts.settings.clone(),
    }
}
