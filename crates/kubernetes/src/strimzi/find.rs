//! From the user's text to a cluster that clients can use.

use std::net::SocketAddr;

use kgauge_client::ClientConfig;
use kgauge_client::config::Settings;

use super::error::StrimziError;
use super::login::{UserLogin, add_security};
use super::objects::{
    KafkaAuthorization, KafkaObject, KafkaObjectSpec, ListenerSpec, ListenerStatus, PodList,
};
use super::spec::{StrimziSpec, is_name};
use crate::agents::KafkaUserRequest;
use crate::kubectl::Kubectl;
use crate::kubectl_error::KubectlError;

/// The `Kafka` objects, with their group: other operators have a kind of this name.
const KAFKAS: &str = "kafkas.kafka.strimzi.io";

/// A Strimzi cluster and how to connect to it.
#[derive(Debug, Clone)]
pub struct StrimziCluster {
    /// Addresses, trust and login. Keys and certificates are in its settings, not in files.
    pub config: ClientConfig,
    /// The listener that was chosen.
    pub listener: String,
    /// The user that logs in, if the listener requires a login.
    pub kafka_user: Option<KafkaUserRequest>,
    /// Whether its addresses only exist within the Kubernetes cluster.
    pub is_internal: bool,
    /// The brokers' metrics endpoints; only reachable within the Kubernetes cluster.
    pub metrics: Vec<BrokerMetrics>,
    /// Why there are no metrics endpoints.
    pub metrics_absent: Option<String>,
}

/// Where a broker serves its metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokerMetrics {
    /// The broker's id.
    pub broker: i32,
    /// Of the broker's pod.
    pub address: SocketAddr,
    /// `http://ADDRESS:9404/metrics`.
    pub url: String,
}

impl BrokerMetrics {
    /// Where Strimzi's brokers serve Prometheus metrics (`MetricsModel.METRICS_PORT` in the cluster operator).
    pub const PORT: u16 = 9404;
}

/// Finds the cluster that the user names.
///
/// # Errors
/// What is missing: the program, a right, the cluster, a listener, a Secret.
pub fn find_strimzi(spec: &StrimziSpec, kubectl: &Kubectl) -> Result<StrimziCluster, StrimziError> {
    let object = read_kafka(spec, kubectl)?;
    check_ready(spec, &object)?;
    let listener = choose(spec, &object.spec.kafka.listeners)?;
    let status = status_of(listener, &object.status.listeners);
    let servers = status.and_then(|status| status.bootstrap_servers.as_deref());
    let (Some(status), Some(servers)) = (status, servers) else {
        return Err(StrimziError::NoAddress {
            listener: listener.name.clone(),
        });
    };
    let mut settings = Settings::default();
    settings.add_pair("bootstrap.servers", servers);
    let user = user_of(spec, &object.spec, listener);
    add_security(
        &mut settings,
        spec,
        (listener, status),
        user.as_ref(),
        kubectl,
    )?;
    let config = settings
        .client_config()
        .map_err(|error| StrimziError::Config {
            cluster: spec.to_string(),
            error,
        })?;
    let metrics = match object.spec.kafka.metrics_config {
        Some(_) => metrics_of(spec, kubectl),
        None => Err("the Kafka object has no metricsConfig".to_owned()),
    };
    let (metrics, metrics_absent) = match metrics {
        Ok(metrics) => (metrics, None),
        Err(why) => (Vec::new(), Some(why)),
    };
    Ok(StrimziCluster {
        config,
        listener: listener.name.clone(),
        kafka_user: user.map(|user| user.request),
        is_internal: ["internal", "cluster-ip"].contains(&listener.kind.as_str()),
        metrics,
        metrics_absent,
    })
}

fn read_kafka(spec: &StrimziSpec, kubectl: &Kubectl) -> Result<KafkaObject, StrimziError> {
    let read = kubectl.json(&["get", KAFKAS, &spec.cluster, "-n", &spec.namespace]);
    read.map_err(|error| match error {
        KubectlError::NoResourceType { resource } => StrimziError::NotInstalled(resource),
        KubectlError::NotFound { .. } => StrimziError::NoCluster {
            namespace: spec.namespace.clone(),
            cluster: spec.cluster.clone(),
        },
        other => StrimziError::Kubectl(other),
    })
}

fn check_ready(spec: &StrimziSpec, object: &KafkaObject) -> Result<(), StrimziError> {
    let conditions = &object.status.conditions;
    let is_true = |kind: &str| {
        let mut of_kind = conditions.iter().filter(|condition| condition.kind == kind);
        of_kind.any(|condition| condition.status == "True")
    };
    if is_true("Ready") {
        return Ok(());
    }
    // Strimzi gives its reasons in conditions NotReady, or Ready with status False.
    let reasons = conditions
        .iter()
        .filter(|condition| ["NotReady", "Ready"].contains(&condition.kind.as_str()))
        .map(|condition| {
            format!("{} {}", condition.reason, condition.message)
                .trim()
                .to_owned()
        })
        .filter(|reason| !reason.is_empty());
    let reasons: Vec<String> = reasons.collect();
    let why = match reasons.is_empty() {
        true => "Strimzi has not reported a state".to_owned(),
        false => reasons.join("; "),
    };
    Err(StrimziError::NotReady {
        cluster: spec.to_string(),
        why: why.replace(|letter: char| letter.is_control(), " "),
    })
}

/// The named listener, or the first that demands a login exactly if the user names one.
fn choose<'a>(
    spec: &StrimziSpec,
    listeners: &'a [ListenerSpec],
) -> Result<&'a ListenerSpec, StrimziError> {
    let fits = |listener: &&ListenerSpec| match &spec.listener {
        Some(name) => listener.name == *name,
        None => listener.authentication.is_some() == spec.user.is_some(),
    };
    listeners.iter().find(fits).ok_or_else(|| {
        let which = match (&spec.listener, &spec.user) {
            (Some(name), _) => format!("listener {name}"),
            (None, Some(_)) => "listener with authentication".to_owned(),
            (None, None) => "listener without authentication".to_owned(),
        };
        StrimziError::NoListener {
            cluster: spec.to_string(),
            which,
            existing: names(listeners),
        }
    })
}

/// `plain (internal), tls (internal, TLS, scram-sha-512)`.
fn names(listeners: &[ListenerSpec]) -> String {
    let names = listeners.iter().map(|listener| {
        let mut facts = vec![listener.kind.as_str()];
        if listener.tls {
            facts.push("TLS");
        }
        facts.extend(
            listener
                .authentication
                .iter()
                .map(|login| login.kind.as_str()),
        );
        format!("{} ({})", listener.name, facts.join(", "))
    });
    names.collect::<Vec<_>>().join(", ")
}

/// The user that the target names, if the listener requires one.
fn user_of(
    spec: &StrimziSpec,
    object: &KafkaObjectSpec,
    listener: &ListenerSpec,
) -> Option<UserLogin> {
    let (name, login) = (spec.user.as_ref()?, listener.authentication.as_ref()?);
    let operator = &object.entity_operator.user_operator;
    // What is no name could be an option of `kubectl`.
    let namespace = operator.watched_namespace.as_ref();
    let namespace = namespace.filter(|namespace| is_name(namespace));
    let prefix = operator.secret_prefix.as_deref().unwrap_or_default();
    let secret = Some(format!("{prefix}{name}")).filter(|secret| is_name(secret));
    let authorization = object.kafka.authorization.as_ref();
    Some(UserLogin {
        secret: secret.unwrap_or_else(|| name.clone()),
        request: KafkaUserRequest {
            name: name.clone(),
            namespace: namespace.unwrap_or(&spec.namespace).clone(),
            cluster: spec.cluster.clone(),
            authentication: login.kind.clone(),
            has_acls: authorization.is_some_and(KafkaAuthorization::has_acls),
        },
    })
}

fn status_of<'a>(
    listener: &ListenerSpec,
    statuses: &'a [ListenerStatus],
) -> Option<&'a ListenerStatus> {
    statuses.iter().find(|status| {
        let name = status.name.as_ref().or(status.kind.as_ref());
        name.is_some_and(|name| *name == listener.name)
    })
}

/// # Errors
/// Why there are none: they are evidence, and no run fails without it.
fn metrics_of(spec: &StrimziSpec, kubectl: &Kubectl) -> Result<Vec<BrokerMetrics>, String> {
    let labels = format!(
        "strimzi.io/cluster={},strimzi.io/broker-role=true",
        spec.cluster
    );
    let pods = kubectl.json::<PodList>(&["get", "pods", "-n", &spec.namespace, "-l", &labels]);
    let pods = pods.map_err(|error| error.to_string())?;
    let of_pod = |name: &str, ip: Option<&str>| {
        // Strimzi names them CLUSTER-POOL-ID.
        let broker = name.rsplit_once('-')?.1.parse().ok()?;
        let address = SocketAddr::new(ip?.parse().ok()?, BrokerMetrics::PORT);
        Some(BrokerMetrics {
            broker,
            address,
            url: format!("http://{address}/metrics"),
        })
    };
    let pods = pods.items.iter();
    let mut metrics: Vec<BrokerMetrics> = pods
        .filter_map(|pod| of_pod(&pod.metadata.name, pod.status.pod_ip.as_deref()))
        .collect();
    metrics.sort_by_key(|one| one.broker);
    match metrics.is_empty() {
        true => Err("no broker pod has an address".to_owned()),
        false => Ok(metrics),
    }
}
