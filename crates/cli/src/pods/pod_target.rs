//! The target of a run in pods: settings of clients that need no file of this machine.

use kgauge_client::{ClientConfig, Interrupt};
use kgauge_kubernetes::{
    BrokerMetrics, KafkaUserRequest, Kubectl, StrimziError, StrimziSpec, find_strimzi,
};
use kgauge_target::TargetSpec;

use crate::exit::{ExitStatus, OrStop, stop};
use crate::host::env_target;
use crate::print;

/// What pods need to know about the target.
pub(super) struct PodTarget {
    /// As the user writes it.
    pub(super) text: String,
    /// How to connect.
    pub(super) config: ClientConfig,
    /// Endpoints that pods can reach.
    pub(super) metrics: Vec<BrokerMetrics>,
    /// The user of a Strimzi cluster.
    pub(super) kafka_user: Option<KafkaUserRequest>,
}

/// Why there is no target.
pub(super) enum PodTargetError {
    /// The user of a Strimzi cluster does not exist yet.
    NoUser(KafkaUserRequest),
    /// Anything else.
    Other(anyhow::Error),
}

pub(super) fn pod_target(text: Option<&str>) -> Result<PodTarget, PodTargetError> {
    let text = text.map(str::to_owned).or_else(env_target);
    let refused = |words: String| PodTargetError::Other(stop(ExitStatus::BadInput, words));
    let Some(text) = text else {
        return Err(refused(
            "pods need an existing cluster: name it with --target HOST:PORT, a client.properties file or \
             strimzi:NAMESPACE/CLUSTER"
                .to_owned(),
        ));
    };
    if let Some(spec) = StrimziSpec::parse(&text) {
        let spec = spec.or_bad_input().map_err(PodTargetError::Other)?;
        return strimzi(text, &spec);
    }
    let spec = TargetSpec::parse(&text)
        .or_bad_input()
        .map_err(PodTargetError::Other)?;
    let TargetSpec::Existing(config) = spec else {
        return Err(refused(format!(
            "target {text} is started on this machine, which pods cannot reach; name an existing cluster"
        )));
    };
    let is_local = |host: &str| host == "localhost" || host.starts_with("127.") || host == "::1";
    if config
        .bootstrap_servers
        .iter()
        .all(|server| is_local(&server.host))
    {
        return Err(refused(format!(
            "target {text} is on this machine, which pods cannot reach under that address; name one that they can"
        )));
    }
    for note in &config.notes {
        print::message(&format!("kgauge: {note}"));
    }
    Ok(PodTarget {
        text,
        config: *config,
        metrics: Vec::new(),
        kafka_user: None,
    })
}

fn strimzi(text: String, spec: &StrimziSpec) -> Result<PodTarget, PodTargetError> {
    // The login of kubectl may take a while.
    print::message(&format!("kgauge: asking kubectl for {text}"));
    let found = find_strimzi(spec, &Kubectl::new(Interrupt::new()));
    let cluster = found.map_err(|error| {
        if let StrimziError::NoUserSecret { user, .. } = error {
            return PodTargetError::NoUser(*user);
        }
        let status = match error.is_input() {
            true => ExitStatus::BadInput,
            false => ExitStatus::TargetFailed,
        };
        let words = format!("target {text}: {error}\n  {}", error.fix());
        PodTargetError::Other(stop(status, words))
    })?;
    print::message(&format!(
        "kgauge: Strimzi cluster {spec}: listener {}, {}",
        cluster.listener,
        cluster.config.servers()
    ));
    if let Some(why) = &cluster.metrics_absent {
        print::message(&format!("kgauge: no broker metrics: {why}"));
    }
    Ok(PodTarget {
        text,
        config: cluster.config,
        metrics: cluster.metrics,
        kafka_user: cluster.kafka_user,
    })
}
