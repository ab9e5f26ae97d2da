//! The target of a run in pods: settings of clients that need no file of this machine.

use kgauge_client::{ClientConfig, Interrupt};
use kgauge_kubernetes::{
    BrokerMetrics, KafkaUserRequest, Kubectl, StrimziError, StrimziSpec, find_strimzi,
};
use kgauge_target::TargetSpec;

use crate::error::{OrRunError, RunError};
use crate::target_text::{is_loopback, strimzi_error, strimzi_remarks};

/// What pods need to know about the target.
#[derive(Debug)]
pub struct PodTarget {
    /// As the user writes it.
    pub text: String,
    /// How to connect.
    pub config: ClientConfig,
    /// Endpoints that pods can reach.
    pub metrics: Vec<BrokerMetrics>,
    /// The user of a Strimzi cluster.
    pub kafka_user: Option<KafkaUserRequest>,
}

/// Why there is no target.
#[derive(Debug)]
pub enum PodTargetError {
    /// The user of a Strimzi cluster does not exist yet.
    NoUser(Box<KafkaUserRequest>),
    /// Anything else.
    Other(RunError),
}

impl From<RunError> for PodTargetError {
    fn from(error: RunError) -> Self {
        Self::Other(error)
    }
}

impl PodTarget {
    /// Reads a target, and asks `kubectl` about a Strimzi cluster. `remark` gets what takes long.
    ///
    /// # Errors
    /// There is none, pods cannot reach it, or its user does not exist yet.
    pub fn find(text: Option<String>, remark: &dyn Fn(&str)) -> Result<Self, PodTargetError> {
        let Some(text) = text else {
            return Err(RunError::input(
                "pods need an existing cluster: name it with --target HOST:PORT, a client.properties file or \
                 strimzi:NAMESPACE/CLUSTER",
            )
            .into());
        };
        if let Some(spec) = StrimziSpec::parse(&text) {
            let spec = spec.or_bad_input()?;
            // The login of kubectl may take a while.
            remark(&format!("asking kubectl for {text}"));
            return strimzi(text, &spec, remark);
        }
        let TargetSpec::Existing(config) = TargetSpec::parse(&text).or_bad_input()? else {
            return Err(RunError::input(format!(
                "target {text} is started on this machine, which pods cannot reach; name an existing cluster"
            ))
            .into());
        };
        let mut servers = config.bootstrap_servers.iter();
        if servers.all(|server| is_loopback(&server.host)) {
            return Err(RunError::input(format!(
                "target {text} is on this machine, which pods cannot reach under that address; name one that they can"
            ))
            .into());
        }
        for note in &config.notes {
            remark(&note.to_string());
        }
        Ok(Self {
            text,
            config: *config,
            metrics: Vec::new(),
            kafka_user: None,
        })
    }
}

fn strimzi(
    text: String,
    spec: &StrimziSpec,
    remark: &dyn Fn(&str),
) -> Result<PodTarget, PodTargetError> {
    let found = find_strimzi(spec, &Kubectl::new(Interrupt::new()));
    let cluster = found.map_err(|error| match error {
        StrimziError::NoUserSecret { user, .. } => PodTargetError::NoUser(user),
        error => PodTargetError::Other(strimzi_error(&text, &error)),
    })?;
    for found in strimzi_remarks(spec, &cluster) {
        remark(&found);
    }
    Ok(PodTarget {
        text,
        config: cluster.config,
        metrics: cluster.metrics,
        kafka_user: cluster.kafka_user,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn find(text: Option<&str>) -> Result<PodTarget, String> {
        PodTarget::find(text.map(str::to_owned), &|_| {}).map_err(|error| match error {
            PodTargetError::Other(error) => error.to_string(),
            PodTargetError::NoUser(user) => user.name,
        })
    }

    #[test]
    fn pods_only_use_clusters_that_they_can_reach() {
        assert!(find(None).unwrap_err().contains("need an existing cluster"));
        let started = find(Some("embedded:3")).unwrap_err();
        assert!(started.contains("is started on this machine"), "{started}");
        let local = find(Some("127.0.0.1:9092,localhost:9093")).unwrap_err();
        assert!(local.contains("is on this machine"), "{local}");
        let target = find(Some("127.0.0.1:9092,b1.example:9092")).unwrap();
        assert_eq!(target.text, "127.0.0.1:9092,b1.example:9092");
        assert!(target.metrics.is_empty() && target.kafka_user.is_none());
    }
}
