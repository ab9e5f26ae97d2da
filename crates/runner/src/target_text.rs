//! From the text of a target to what a run uses. A Strimzi cluster is looked up through `kubectl`.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use kgauge_client::{ClientConfig, Interrupt};
use kgauge_kubernetes::{
    BrokerMetrics, Kubectl, StrimziCluster, StrimziError, StrimziSpec, find_strimzi,
};
use kgauge_target::TargetSpec;

use crate::error::{OrRunError, RunError, with_fix};
use crate::metrics::MetricsAddress;

/// How long a metrics endpoint may take to accept a connection.
const REACH_MAX: Duration = Duration::from_secs(1);

/// A target as understood, and what was found besides.
pub(crate) struct ReadTarget {
    pub(crate) spec: TargetSpec,
    pub(crate) metrics: Vec<MetricsAddress>,
    pub(crate) remarks: Vec<String>,
}

/// Reads a target that a run can use.
pub(crate) fn read_target(text: &str) -> Result<ReadTarget, RunError> {
    if let Some(spec) = StrimziSpec::parse(text) {
        let kubectl = Kubectl::new(Interrupt::new());
        return read_strimzi(text, &spec.or_bad_input()?, &kubectl);
    }
    let spec = TargetSpec::parse(text).or_bad_input()?;
    match spec.check_for_run() {
        Ok(()) => Ok(ReadTarget {
            spec,
            metrics: Vec::new(),
            remarks: Vec::new(),
        }),
        Err(why) => Err(RunError::input(format!("target {text}: {why}"))),
    }
}

fn read_strimzi(text: &str, spec: &StrimziSpec, kubectl: &Kubectl) -> Result<ReadTarget, RunError> {
    let found = find_strimzi(spec, kubectl);
    let cluster = found.map_err(|error| strimzi_error(text, &error))?;
    if cluster.is_internal && !resolves(&cluster.config) {
        let words = format!(
            "target {text}: listener {} is only reachable within the Kubernetes cluster ({})\n  add a listener of type \
             nodeport, loadbalancer, ingress or route, and choose it with listener=NAME, or run kgauge in a pod",
            cluster.listener,
            cluster.config.servers()
        );
        return Err(RunError::cluster(words));
    }
    let mut remarks = strimzi_remarks(spec, &cluster);
    let metrics = reachable(&cluster, &mut remarks);
    Ok(ReadTarget {
        spec: TargetSpec::Existing(Box::new(cluster.config)),
        metrics,
        remarks,
    })
}

/// What was found about a Strimzi cluster, for the user.
pub(crate) fn strimzi_remarks(spec: &StrimziSpec, cluster: &StrimziCluster) -> Vec<String> {
    let mut remarks = vec![format!(
        "Strimzi cluster {spec}: listener {}, {}",
        cluster.listener,
        cluster.config.servers()
    )];
    let absent = cluster.metrics_absent.iter();
    remarks.extend(absent.map(|why| format!("no broker metrics: {why}")));
    remarks
}

/// Whether a host can only be this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.starts_with("127.") || host == "::1"
}

/// Why a Strimzi cluster cannot be the target.
pub(crate) fn strimzi_error(text: &str, error: &StrimziError) -> RunError {
    let words = with_fix(&format!("target {text}: {error}"), &error.fix());
    match error.is_input() {
        true => RunError::input(words),
        false => RunError::cluster(words),
    }
}

fn resolves(config: &ClientConfig) -> bool {
    let mut servers = config.bootstrap_servers.iter();
    servers.any(|server| {
        (server.host.as_str(), server.port)
            .to_socket_addrs()
            .is_ok()
    })
}

/// The metrics endpoints that answer from here: pods have addresses of the cluster's own network.
fn reachable(cluster: &StrimziCluster, remarks: &mut Vec<String>) -> Vec<MetricsAddress> {
    let endpoints = cluster.metrics.iter().filter_map(|one: &BrokerMetrics| {
        let url = one.url.parse().ok()?;
        let broker = Some(one.broker);
        Some((MetricsAddress { broker, url }, one.address))
    });
    let endpoints: Vec<_> = endpoints.collect();
    let connects = |address: SocketAddr| TcpStream::connect_timeout(&address, REACH_MAX).is_ok();
    let metrics: Vec<MetricsAddress> = std::thread::scope(|scope| {
        let tries: Vec<_> = endpoints
            .into_iter()
            .map(|(endpoint, address)| (endpoint, scope.spawn(move || connects(address))))
            .collect();
        let tried = tries.into_iter();
        tried
            .filter_map(|(endpoint, reached)| reached.join().ok()?.then_some(endpoint))
            .collect()
    });
    let absent = cluster.metrics.len() - metrics.len();
    if absent > 0 {
        remarks.push(format!(
            "no broker metrics from {absent} of {} pods: they do not answer on port {}",
            cluster.metrics.len(),
            BrokerMetrics::PORT
        ));
    }
    metrics
}
