//! A cluster as Strimzi describes it: its objects pass Strimzi's own definitions, kgauge finds addresses, secrets and
//! metrics endpoints in them, and runs.
//!
//! There is no operator: this file creates what one would create. The brokers are those of an embedded cluster; the
//! pods of the brokers only serve metrics.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::check_list::CheckList;
use super::control_plane::tail;
use super::objects::{BROKER_IMAGE, IMAGE, KAFKA, RUNS};
use super::pod_runs::PodRuns;
use crate::kgauge::Background;

/// The target as a user writes it.
const TARGET: &str = "strimzi:kafka/my-cluster,listener=external,user=kgauge";

const CLUSTER: &str = "my-cluster";

/// The ids of the brokers, which are those of the embedded cluster.
const BROKERS: [u32; 3] = [1, 2, 3];

/// Metrics in the names of the rules that jmx_exporter ships.
const METRICS: &str = "\
kafka_server_brokertopicmetrics_bytesin_total 700.0
kafka_server_brokertopicmetrics_messagesin_total 7.0
kafka_server_replicamanager_leadercount 3.0
process_start_time_seconds 1.795338660519E9
";

/// The definitions that are needed, by the ends of their files' names.
const DEFINITIONS: [&str; 2] = ["-Crd-kafka.yaml", "-Crd-kafkauser.yaml"];

/// Runs all checks of this file.
pub(super) fn check(runs: &PodRuns<'_>, definitions: &Path, list: &mut CheckList<'_>) {
    let mut prepared = None;
    list.check("strimzi", || {
        prepared = Some(prepare(runs, definitions)?);
        Ok("the objects pass Strimzi's definitions".to_owned())
    });
    // Its brokers end with the checks.
    let Some(kafka) = prepared else {
        return;
    };
    list.check("strimzi-user", || user_first(runs, &kafka));
    runs.check(list, "strimzi-target", run_here);
    runs.check(list, "strimzi-pods", run_in_pods);
}

/// A Kafka cluster whose clients need certificates, and the files with them.
struct SecuredKafka {
    servers: String,
    authority: String,
    login: String,
    _process: Background,
}

impl SecuredKafka {
    fn start(runs: &PodRuns<'_>) -> Result<Self> {
        let up = ["cluster", "up", "embedded:3,security=mtls"];
        let process = runs.kgauge.start("secured-kafka", &up)?;
        let properties = fs::read_to_string(process.value("client.properties")?)?;
        let file = |key: &str| -> Result<String> {
            let mut lines = properties.lines();
            let path = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
            let path = path.with_context(|| format!("no {key} in client.properties"))?;
            Ok(fs::read_to_string(path)?)
        };
        Ok(Self {
            servers: process.servers()?,
            authority: file("ssl.truststore.location")?,
            login: file("ssl.keystore.location")?,
            _process: process,
        })
    }
}

/// Creates everything but the user.
fn prepare(runs: &PodRuns<'_>, definitions: &Path) -> Result<SecuredKafka> {
    for end in DEFINITIONS {
        let path = definition(definitions, end)?;
        // Too large for the annotation of `kubectl apply`.
        let create = ["create", "-f", &path.display().to_string()];
        runs.plane.good(&create, None)?;
    }
    let wait = [
        "wait",
        "--for=condition=Established",
        "--timeout=30s",
        "crd/kafkas.kafka.strimzi.io",
        "crd/kafkausers.kafka.strimzi.io",
    ];
    runs.plane.good(&wait, None)?;
    let kafka = SecuredKafka::start(runs)?;
    runs.plane.apply(&[
        kafka_object(),
        config_map("kafka-metrics", "rules.yml", "rules: []\n"),
        config_map("metrics-page", "metrics", METRICS),
        secret(
            &format!("{CLUSTER}-cluster-ca-cert"),
            &[("ca.crt", kafka.authority.as_str())],
        ),
        headless_service(),
    ])?;
    let status = json!({"status": {
        "conditions": [{"type": "Ready", "status": "True"}],
        "listeners": [{"name": "external", "bootstrapServers": kafka.servers}],
    }})
    .to_string();
    let patch = [
        "patch",
        "kafka",
        CLUSTER,
        "-n",
        KAFKA,
        "--subresource=status",
        "--type=merge",
    ];
    runs.plane
        .good(&[&patch[..], &["-p", &status]].concat(), None)?;
    let pods = BROKERS.map(broker_pod);
    runs.plane.apply(&pods)?;
    let labels = format!("strimzi.io/cluster={CLUSTER}");
    let wait = [
        "wait",
        "pod",
        "--for=condition=Ready",
        "--timeout=50s",
        "-n",
        KAFKA,
        "-l",
    ];
    runs.plane
        .good(&[&wait[..], &[labels.as_str()]].concat(), None)?;
    Ok(kafka)
}

/// The only file in a folder whose name ends like this.
fn definition(folder: &Path, end: &str) -> Result<PathBuf> {
    let entries = fs::read_dir(folder);
    let entries = entries.with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths = entries.flatten().map(|entry| entry.path());
    let found = paths.find(|path| path.to_string_lossy().ends_with(end));
    found.with_context(|| format!("{} has no file *{end}", folder.display()))
}

/// Without a user's Secret, the manifest is the user alone; with it, all objects. The API server takes both.
fn user_first(runs: &PodRuns<'_>, kafka: &SecuredKafka) -> Result<String> {
    let pods = format!("k8s:replicas=2,namespace={RUNS}");
    let words = [
        "agents",
        "manifest",
        &pods,
        "counted.yaml",
        "--target",
        TARGET,
    ];
    let alone = runs.call(&words, 0)?.stdout;
    ensure!(
        alone.contains("kind: KafkaUser") && !alone.contains("kind: Job"),
        "not only a KafkaUser: {alone}"
    );
    runs.plane.good(&["apply", "-f", "-"], Some(&alone))?;
    // What the user operator does.
    let login = kafka.login.as_str();
    let entries = [("user.crt", login), ("user.key", login)];
    runs.plane.apply(&[secret("kgauge", &entries)])?;
    let manifest = runs.call(&words, 0)?.stdout;
    let dry = ["apply", "--dry-run=server", "-f", "-"];
    let accepted = runs.plane.good(&dry, Some(&manifest))?.lines().count();
    ensure!(accepted == 6, "{accepted} objects are accepted");
    Ok(format!("a KafkaUser, then {accepted} objects are accepted"))
}

/// A run of this machine: it finds addresses, secrets and endpoints, which answer.
fn run_here(runs: &PodRuns<'_>) -> Result<String> {
    let words = [
        "run",
        "counted.yaml",
        "--out",
        "strimzi",
        "--yes",
        "--target",
        TARGET,
    ];
    let finished = runs.call(&words, 0)?;
    check_run(runs, "strimzi", &finished.stderr)?;
    Ok("addresses, secrets and metrics endpoints are found".to_owned())
}

/// A run in pods: the lead gets the endpoints, and the secrets as one file.
fn run_in_pods(runs: &PodRuns<'_>) -> Result<String> {
    let pods = format!("k8s:replicas=2,namespace={RUNS},image={IMAGE},cpu=500m,memory=256Mi");
    let words = [
        "run",
        "counted.yaml",
        "--out",
        "strimzi-pods",
        "--yes",
        "--agents",
        &pods,
        "--target",
        TARGET,
    ];
    let finished = runs.call(&words, 0)?;
    check_run(runs, "strimzi-pods", &finished.stderr)?;
    runs.await_gone()?;
    Ok("pods use the secrets and poll the endpoints".to_owned())
}

/// # Errors
/// Records are missing, or a broker's metrics.
fn check_run(runs: &PodRuns<'_>, out: &str, stderr: &str) -> Result<()> {
    ensure!(
        !stderr.contains("no broker metrics"),
        "endpoints are missing: {}",
        tail(stderr)
    );
    runs.check_counted(out)?;
    let path = runs.path(out).join("evidence.jsonl");
    let evidence = fs::read_to_string(&path);
    let evidence = evidence.with_context(|| format!("cannot read {}", path.display()))?;
    let samples: Vec<Value> = evidence
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .filter(|one: &Value| one["evidence"] == "broker" && one["source"] == "prometheus")
        .collect();
    for broker in BROKERS {
        let has_sample = samples.iter().any(|sample| sample["broker"] == broker);
        ensure!(has_sample, "no metrics of broker {broker}");
    }
    Ok(())
}

/// `Kafka`, as its users write it.
fn kafka_object() -> Value {
    json!({
        "apiVersion": "kafka.strimzi.io/v1",
        "kind": "Kafka",
        "metadata": {"name": CLUSTER, "namespace": KAFKA},
        "spec": {
            "kafka": {
                "listeners": [
                    {"name": "plain", "port": 9092, "type": "internal", "tls": false},
                    {"name": "external", "port": 9094, "type": "nodeport", "tls": true,
                     "authentication": {"type": "tls"}},
                ],
                "authorization": {"type": "simple"},
                "metricsConfig": {"type": "jmxPrometheusExporter", "valueFrom": {
                    "configMapKeyRef": {"name": "kafka-metrics", "key": "rules.yml"}}},
            },
            "entityOperator": {"userOperator": {}},
        },
    })
}

/// A pod with a broker's name and labels that serves its metrics.
fn broker_pod(broker: u32) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": format!("{CLUSTER}-dual-{broker}"),
            "namespace": KAFKA,
            "labels": {"strimzi.io/cluster": CLUSTER, "strimzi.io/broker-role": "true"},
        },
        "spec": {
            "automountServiceAccountToken": false,
            "terminationGracePeriodSeconds": 1,
            "containers": [{
                "name": "kafka",
                "image": BROKER_IMAGE,
                "command": ["/page", "page", ":9404", "/pages"],
                "env": [{"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
                "volumeMounts": [{"name": "pages", "mountPath": "/pages"}],
            }],
            "volumes": [{"name": "pages", "configMap": {"name": "metrics-page"}}],
        },
    })
}

/// The Service in front of the brokers, as the operator names it.
fn headless_service() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": format!("{CLUSTER}-kafka-brokers"), "namespace": KAFKA},
        "spec": {
            "clusterIP": "None",
            "selector": {"strimzi.io/cluster": CLUSTER},
            "ports": [{"name": "metrics", "port": 9404}],
        },
    })
}

fn config_map(name: &str, key: &str, text: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": KAFKA},
        "data": {key: text},
    })
}

fn secret(name: &str, entries: &[(&str, &str)]) -> Value {
    let entries = entries.iter();
    let entries: serde_json::Map<String, Value> = entries
        .map(|(key, value)| ((*key).to_owned(), json!(value)))
        .collect();
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": KAFKA},
        "stringData": entries,
    })
}
