//! Strimzi clusters, found through a program that answers as `kubectl` does.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kgauge_client::Interrupt;
use kgauge_kubernetes::{Kubectl, StrimziCluster, StrimziError, StrimziSpec, find_strimzi};
use serde_json::{Value, json};

use fake_kubectl::FakeKubectl;

mod fake_kubectl;

const CA: &str = include_str!("../../client/tests/stores/ca.pem");
const CERTIFICATE: &str = include_str!("../../client/tests/stores/client.pem");
const KEY: &str = include_str!("../../client/tests/stores/client-plain.pem");

const GET_KAFKA: &str = "get kafkas.kafka.strimzi.io my-cluster -n kafka -o json";
const GET_USER: &str = "get secret kgauge -n kafka -o json";
const GET_PODS: &str =
    "get pods -n kafka -l strimzi.io/cluster=my-cluster,strimzi.io/broker-role=true -o json";

fn ready(listeners: Value, statuses: Value) -> FakeKubectl {
    let fake = FakeKubectl::new();
    fake.answer(GET_KAFKA, &kafka(listeners, statuses, true));
    fake
}

fn find(fake: &FakeKubectl, target: &str) -> Result<StrimziCluster, StrimziError> {
    find_with(&fake.kubectl(), target)
}

#[track_caller]
fn refusal(fake: &FakeKubectl, target: &str) -> String {
    let error = find(fake, target).unwrap_err();
    format!("{error}\n  {}", error.fix())
}

fn find_with(kubectl: &Kubectl, target: &str) -> Result<StrimziCluster, StrimziError> {
    let spec = StrimziSpec::parse(target).unwrap().unwrap();
    find_strimzi(&spec, kubectl)
}

/// A `Kafka` object with the fields that Strimzi 1.x sets.
fn kafka(listeners: Value, statuses: Value, ready: bool) -> Value {
    let condition = match ready {
        true => {
            json!({"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-01T00:00:00Z"})
        }
        false => json!({"type": "NotReady", "status": "True", "reason": "TimeoutException",
                        "message": "Exceeded timeout of 300000ms while waiting for Pods"}),
    };
    json!({
        "apiVersion": "kafka.strimzi.io/v1", "kind": "Kafka",
        "metadata": {"name": "my-cluster", "namespace": "kafka", "generation": 3},
        "spec": {
            "kafka": {"version": "4.1.0", "listeners": listeners, "config": {"min.insync.replicas": 2},
                      "metricsConfig": {"type": "strimziMetricsReporter", "values": {"allowList": [".*"]}}},
            "entityOperator": {"userOperator": {}},
        },
        "status": {"observedGeneration": 3, "clusterId": "x", "conditions": [condition], "listeners": statuses},
    })
}

fn status(name: &str, port: u16, certificates: &[&str]) -> Value {
    let host = "my-cluster-kafka-bootstrap.kafka.svc";
    json!({"name": name, "addresses": [{"host": host, "port": port}],
           "bootstrapServers": format!("{host}:{port}"), "certificates": certificates})
}

fn listener(name: &str, tls: bool, authentication: Option<&str>) -> Value {
    let mut listener = json!({"name": name, "port": 9093, "type": "internal", "tls": tls});
    if let Some(kind) = authentication {
        listener["authentication"] = json!({"type": kind});
    }
    listener
}

fn secret(entries: &[(&str, &str)]) -> Value {
    let data = entries
        .iter()
        .map(|(key, value)| ((*key).to_owned(), json!(STANDARD.encode(value))));
    json!({"apiVersion": "v1", "kind": "Secret", "data": serde_json::Map::from_iter(data)})
}

fn given<'a>(cluster: &'a StrimziCluster, key: &str) -> Option<&'a str> {
    let mut settings = cluster.config.given.iter();
    let setting = settings.find(|setting| setting.key == key)?;
    Some(setting.value.expose())
}

#[test]
fn a_plain_listener_needs_only_its_address() {
    let fake = ready(
        json!([
            listener("tls", true, Some("tls")),
            listener("plain", false, None)
        ]),
        json!([status("tls", 9093, &[CA]), status("plain", 9092, &[])]),
    );
    let cluster = find(&fake, "strimzi:kafka/my-cluster").unwrap();
    assert_eq!(cluster.listener, "plain");
    assert!(cluster.is_internal);
    assert_eq!(
        cluster.config.servers(),
        "my-cluster-kafka-bootstrap.kafka.svc:9092"
    );
    assert_eq!(given(&cluster, "security.protocol"), Some("PLAINTEXT"));
}

#[test]
fn a_user_with_a_certificate_gets_key_and_chain_and_the_published_authority() {
    let fake = ready(
        json!([
            listener("plain", false, None),
            listener("tls", true, Some("tls"))
        ]),
        json!([status("plain", 9092, &[]), status("tls", 9093, &[CA])]),
    );
    fake.answer(
        GET_USER,
        &secret(&[("user.crt", CERTIFICATE), ("user.key", KEY), ("ca.crt", CA)]),
    );
    let cluster = find(&fake, "strimzi:kafka/my-cluster,user=kgauge").unwrap();
    assert_eq!(cluster.listener, "tls");
    let user = cluster.kafka_user.as_ref().unwrap();
    assert_eq!((user.namespace.as_str(), user.has_acls), ("kafka", false));
    assert_eq!(given(&cluster, "security.protocol"), Some("SSL"));
    assert_eq!(given(&cluster, "ssl.truststore.certificates"), Some(CA));
    assert_eq!(given(&cluster, "ssl.keystore.key"), Some(KEY));
    assert!(!format!("{cluster:?}").contains("PRIVATE KEY"));
}

#[test]
fn a_scram_user_logs_in_and_an_unpublished_authority_comes_from_its_secret() {
    let fake = ready(
        json!([listener("scram", true, Some("scram-sha-512"))]),
        json!([status("scram", 9094, &[])]),
    );
    let jaas = "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"kgauge\" \
                password=\"hunter2\";";
    fake.answer(
        GET_USER,
        &secret(&[("password", "hunter2"), ("sasl.jaas.config", jaas)]),
    );
    let target = "strimzi:kafka/my-cluster,listener=scram,user=kgauge";
    let error = refusal(&fake, target);
    assert!(
        error.contains("no Secret my-cluster-cluster-ca-cert"),
        "{error}"
    );
    fake.answer(
        "get secret my-cluster-cluster-ca-cert -n kafka -o json",
        &secret(&[("ca.crt", CA)]),
    );
    let cluster = find(&fake, target).unwrap();
    assert_eq!(given(&cluster, "security.protocol"), Some("SASL_SSL"));
    assert_eq!(given(&cluster, "sasl.jaas.config"), Some(jaas));
    assert!(!format!("{cluster:?}").contains("hunter2"));
}

#[test]
fn metrics_are_on_the_pods_of_brokers() {
    let fake = ready(
        json!([listener("plain", false, None)]),
        json!([status("plain", 9092, &[])]),
    );
    let target = "strimzi:kafka/my-cluster";
    fake.fail(
        GET_PODS,
        "Error from server (Forbidden): pods is forbidden: User \"jane\" cannot list resource \"pods\" in API group \
         \"\" in the namespace \"kafka\"",
    );
    let cluster = find(&fake, target).unwrap();
    let absent = cluster.metrics_absent.unwrap();
    assert_eq!(absent, "user jane may not list pods in namespace kafka");
    fs::remove_file(fake.file(&format!("{GET_PODS}.error"))).unwrap();
    let pod =
        |name: &str, ip: Option<&str>| json!({"metadata": {"name": name}, "status": {"podIP": ip}});
    let pods = [
        pod("my-cluster-broker-2", Some("fd00::7")),
        pod("my-cluster-broker-0", Some("10.1.2.3")),
        pod("my-cluster-broker-1", None),
    ];
    fake.answer(GET_PODS, &json!({"items": pods}));
    let cluster = find(&fake, target).unwrap();
    let metrics: Vec<_> = cluster
        .metrics
        .iter()
        .map(|one| (one.broker, one.url.as_str()))
        .collect();
    assert_eq!(
        metrics,
        [
            (0, "http://10.1.2.3:9404/metrics"),
            (2, "http://[fd00::7]:9404/metrics")
        ]
    );
}

#[test]
fn each_thing_that_is_missing_is_named_with_a_fix() {
    let kubectl = Kubectl::at("/no/such/kubectl".into(), Interrupt::new());
    let error = find_with(&kubectl, "strimzi:kafka/my-cluster").unwrap_err();
    assert_eq!(
        error.to_string(),
        "kubectl is not installed, or not in PATH"
    );
    assert!(error.is_input());

    let fake = FakeKubectl::new();
    let target = "strimzi:kafka/my-cluster";
    let error = refusal(&fake, target);
    assert!(
        error.contains("namespace kafka has no Strimzi cluster my-cluster"),
        "{error}"
    );
    assert!(error.contains("kubectl get kafka -n kafka"), "{error}");

    fake.fail(
        GET_KAFKA,
        "error: the server doesn't have a resource type \"kafkas\"",
    );
    assert!(refusal(&fake, target).contains("Strimzi is not installed"));
    fake.fail(
        GET_KAFKA,
        "Error from server (Forbidden): kafkas.kafka.strimzi.io \"my-cluster\" is forbidden: User \"jane\" cannot get \
         resource \"kafkas\" in API group \"kafka.strimzi.io\" in the namespace \"kafka\"",
    );
    let error = refusal(&fake, target);
    assert!(
        error.contains("user jane may not get kafkas.kafka.strimzi.io in namespace kafka"),
        "{error}"
    );
}

#[test]
fn a_cluster_that_is_not_ready_or_a_listener_that_does_not_fit_is_refused() {
    let fake = FakeKubectl::new();
    let target = "strimzi:kafka/my-cluster";
    let listeners = json!([
        listener("tls", true, Some("tls")),
        listener("sso", true, Some("oauth"))
    ]);
    let statuses = json!([status("tls", 9093, &[CA]), status("sso", 9095, &[CA])]);
    fake.answer(
        GET_KAFKA,
        &kafka(listeners.clone(), statuses.clone(), false),
    );
    let error = find(&fake, target).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("not ready: TimeoutException Exceeded timeout"),
        "{error}"
    );
    assert!(!error.is_input());

    fake.answer(GET_KAFKA, &kafka(listeners.clone(), statuses, true));
    let error = refusal(&fake, target);
    assert!(
        error.contains("its listeners are tls (internal, TLS, tls), sso (internal, TLS, oauth)"),
        "{error}"
    );
    let error = refusal(&fake, "strimzi:kafka/my-cluster,listener=tls");
    assert!(
        error.contains("listener tls requires a login (tls)"),
        "{error}"
    );
    let error = refusal(&fake, "strimzi:kafka/my-cluster,listener=tls,user=kgauge");
    assert!(
        error.contains("namespace kafka has no Secret kgauge of a KafkaUser"),
        "{error}"
    );
    let error = refusal(&fake, "strimzi:kafka/my-cluster,listener=sso,user=kgauge");
    assert!(error.contains("authentication type oauth"), "{error}");
    fake.answer(GET_USER, &secret(&[("password", "x")]));
    let error = refusal(&fake, "strimzi:kafka/my-cluster,listener=tls,user=kgauge");
    assert!(
        error.contains("Secret kafka/kgauge has no usable user.crt"),
        "{error}"
    );

    fake.answer(GET_KAFKA, &kafka(listeners, json!([]), true));
    let error = refusal(&fake, "strimzi:kafka/my-cluster,listener=tls");
    assert!(
        error.contains("not published an address of listener tls"),
        "{error}"
    );
}

#[test]
fn users_and_their_secrets_are_where_the_user_operator_has_them() {
    let mut object = kafka(
        json!([listener("tls", true, Some("tls"))]),
        json!([status("tls", 9093, &[CA])]),
        true,
    );
    object["spec"]["kafka"]["authorization"] = json!({"type": "simple"});
    object["spec"]["entityOperator"] =
        json!({"userOperator": {"watchedNamespace": "users", "secretPrefix": "kafka-"}});
    let fake = FakeKubectl::new();
    fake.answer(GET_KAFKA, &object);
    let target = "strimzi:kafka/my-cluster,user=kgauge";
    let StrimziError::NoUserSecret {
        namespace,
        name,
        user,
    } = find(&fake, target).unwrap_err()
    else {
        panic!("there is no Secret");
    };
    assert_eq!(
        (namespace.as_str(), name.as_str()),
        ("users", "kafka-kgauge")
    );
    assert_eq!(
        (user.name.as_str(), user.namespace.as_str()),
        ("kgauge", "users")
    );
    assert!(user.has_acls);
    fake.answer(
        "get secret kafka-kgauge -n users -o json",
        &secret(&[("user.crt", CERTIFICATE), ("user.key", KEY)]),
    );
    assert_eq!(find(&fake, target).unwrap().kafka_user, Some(*user));
    // Nothing that an object says becomes an option of kubectl.
    object["spec"]["entityOperator"]["userOperator"] =
        json!({"watchedNamespace": "--all-namespaces", "secretPrefix": "--v="});
    fake.answer(GET_KAFKA, &object);
    assert!(refusal(&fake, target).contains("namespace kafka has no Secret kgauge"));
}
