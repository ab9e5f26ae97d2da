//! A cluster that Strimzi would run: the embedded cluster, described by a program that answers as `kubectl` does.

use std::fs;
use std::process::Output;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::fake_kubectl;
use crate::site::{ServingCluster, Site, check_status, files, good, json as read_json, text};

struct FakeKubernetes {
    site: Site,
}

impl FakeKubernetes {
    fn new() -> Self {
        let site = Site::new();
        fake_kubectl::install(&site);
        Self { site }
    }

    fn kafka(&self, servers: &str, tls: bool, authentication: &str) {
        let listener = json!({"name": "external", "port": 9094, "type": "nodeport", "tls": tls,
                              "authentication": {"type": authentication}});
        fake_kubectl::object(
            &self.site,
            "kafkas.kafka.strimzi.io",
            Some("my-cluster"),
            &json!({"spec": {"kafka": {"listeners": [listener]}},
                    "status": {"conditions": [{"type": "Ready", "status": "True"}],
                               "listeners": [{"name": "external", "bootstrapServers": servers}]}}),
        );
    }

    fn secret(&self, name: &str, entries: &[(&str, &str)]) {
        let data = entries
            .iter()
            .map(|(key, value)| ((*key).to_owned(), json!(STANDARD.encode(value))));
        fake_kubectl::object(
            &self.site,
            "secret",
            Some(name),
            &json!({"data": serde_json::Map::from_iter(data)}),
        );
    }

    fn run(&self, target: &str) -> Output {
        let call = [
            "run",
            "counted.yaml",
            "--out",
            "out",
            "--yes",
            "--target",
            target,
        ];
        fake_kubectl::command(&self.site, &call).output().unwrap()
    }
}

/// The value of a key in a properties file.
fn value(properties: &str, key: &str) -> String {
    let mut lines = properties.lines();
    let line = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    line.unwrap_or_else(|| panic!("{key}")).to_owned()
}

#[test]
fn a_run_logs_in_with_the_secrets_of_a_strimzi_user_and_shows_none() {
    for (security, authentication) in [("mtls", "tls"), ("scram-sha-512+tls", "scram-sha-512")] {
        let fake = FakeKubernetes::new();
        let mut cluster =
            ServingCluster::start(&fake.site, &[&format!("embedded:1,security={security}")]);
        let properties = fs::read_to_string(cluster.properties()).unwrap();
        fake.kafka(&cluster.servers, true, authentication);
        let authority = fs::read_to_string(value(&properties, "ssl.truststore.location")).unwrap();
        fake.secret("my-cluster-cluster-ca-cert", &[("ca.crt", &authority)]);
        let secret = match authentication {
            "tls" => {
                let own = fs::read_to_string(value(&properties, "ssl.keystore.location")).unwrap();
                fake.secret("kgauge", &[("user.crt", &own), ("user.key", &own)]);
                "PRIVATE KEY".to_owned()
            }
            _ => {
                let login = value(&properties, "sasl.jaas.config");
                fake.secret("kgauge", &[("sasl.jaas.config", &login)]);
                login.split('"').nth(3).unwrap().to_owned()
            }
        };
        let output = fake.run("strimzi:kafka/my-cluster,user=kgauge");
        good(&output);
        let stderr = text(&output.stderr);
        assert!(
            stderr.contains("Strimzi cluster kafka/my-cluster: listener external"),
            "{stderr}"
        );
        assert!(
            stderr.contains("no broker metrics: the Kafka object has no metricsConfig"),
            "{stderr}"
        );
        let trial = read_json(&fake.site.path("out/summary.json"))["trials"][0].clone();
        assert_eq!(trial["counted"][0]["on_broker"], 800, "{security}");
        assert!(!stderr.contains(&secret));
        for file in files(&fake.site.path("out")) {
            let bytes = fs::read(&file).unwrap();
            assert!(
                !String::from_utf8_lossy(&bytes).contains(&secret),
                "{}",
                file.display()
            );
        }
        assert_eq!(cluster.end(), Some(0));
    }
}

#[test]
fn what_is_missing_ends_with_its_status_and_a_fix() {
    let fake = FakeKubernetes::new();
    for (target, words) in [
        ("strimzi:kafka/my-cluster", "kubectl get kafka -n kafka"),
        ("strimzi:my-cluster", "strimzi:NAMESPACE/CLUSTER"),
        ("strimzi:kafka/my-cluster,port=1", "listener=NAME"),
    ] {
        let output = fake.run(target);
        let stderr = check_status(&output, 2);
        assert!(stderr.contains(words), "{target}: {stderr}");
    }
    fake.kafka("127.0.0.1:1", false, "tls");
    let output = fake.run("strimzi:kafka/my-cluster,listener=external");
    let stderr = check_status(&output, 2);
    assert!(stderr.contains("add user=NAME"), "{stderr}");
    assert!(!fake.site.path("out").exists());
}

#[test]
fn a_manifest_has_the_user_and_says_what_was_found() {
    let fake = FakeKubernetes::new();
    fake.kafka("b:9094", false, "scram-sha-512");
    let login = "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"u\" \
                 password=\"p\";";
    fake.secret("kgauge", &[("sasl.jaas.config", login)]);
    let call = fake_kubectl::manifest("counted.yaml", "strimzi:kafka/my-cluster,user=kgauge");
    let output = fake_kubectl::command(&fake.site, &call).output().unwrap();
    let manifest = good(&output);
    for kind in ["KafkaUser", "Secret", "ConfigMap", "Service", "Job"] {
        assert!(
            manifest.contains(&format!("kind: {kind}\n")),
            "{kind}: {manifest}"
        );
    }
    let stderr = text(&output.stderr);
    for words in [
        "Strimzi cluster kafka/my-cluster: listener external, b:9094",
        "no broker metrics: the Kafka object has no metricsConfig",
    ] {
        assert!(stderr.contains(words), "{words}: {stderr}");
    }
}
