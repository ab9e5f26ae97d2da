//! The processes on this machine whose CPU and memory are sampled: those of the target and of a second cluster.

use kgauge_observe::WatchedProcess;
use kgauge_results::run::Subject;
use kgauge_target::{Target, TargetFacts, TargetProcess, TargetRole};

/// Those that kgauge started.
pub(crate) fn own(processes: Vec<TargetProcess>) -> Vec<WatchedProcess> {
    let watched = processes.into_iter().map(|process| WatchedProcess {
        pid: process.pid,
        subject: match process.role {
            TargetRole::WholeCluster => Subject::Target { broker: None },
            TargetRole::Broker(id) => Subject::Target { broker: Some(id) },
            TargetRole::Other(name) => Subject::Process { name },
        },
    });
    watched.collect()
}

/// The processes of a second cluster, which is not the target.
pub(crate) fn of_destination(processes: Vec<TargetProcess>) -> Vec<WatchedProcess> {
    let watched = processes.into_iter().map(|process| WatchedProcess {
        pid: process.pid,
        subject: Subject::Process {
            name: format!("destination: {}", process.role),
        },
    });
    watched.collect()
}

/// The target's processes that run on this machine and are visible.
pub(crate) fn of(target: &Target, facts: &TargetFacts) -> Vec<WatchedProcess> {
    let started = own(target.processes());
    if !started.is_empty() || facts.same_machine != Some(true) {
        return started;
    }
    let mut found: Vec<WatchedProcess> = Vec::new();
    for broker in &facts.brokers {
        let port = broker
            .address
            .rsplit_once(':')
            .and_then(|(_, port)| port.parse().ok());
        let pid = port.and_then(|port| kgauge_observe::listener_pid(port).ok().flatten());
        let Some(pid) = pid else { continue };
        match found.iter_mut().find(|known| known.pid == pid) {
            // One process that is several brokers, such as an embedded cluster.
            Some(known) => known.subject = Subject::Target { broker: None },
            None => found.push(WatchedProcess {
                pid,
                subject: Subject::Target {
                    broker: Some(broker.id),
                },
            }),
        }
    }
    found
}
