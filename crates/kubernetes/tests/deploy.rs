//! The files under `deploy/`: they are read, and agree with what kgauge generates.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kgauge_kubernetes::{AgentsManifest, RUN_RIGHTS};
use made::{full, small};
use serde_json::{Value, json};

mod made;
mod yaml_values;

fn deploy_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy")
}

fn deploy(name: &str) -> String {
    fs::read_to_string(deploy_dir().join(name)).unwrap()
}

#[test]
fn compose_has_three_brokers_that_differ_in_name_and_id_only() {
    let compose = yaml_values::read(&deploy("compose.yaml")).remove(0);
    let services = compose["services"].as_object().unwrap();
    let mut voters = Vec::new();
    let mut quorums = BTreeSet::new();
    for (index, name) in ["kafka1", "kafka2", "kafka3"].iter().enumerate() {
        let environment = &services[*name]["environment"];
        let id = environment["KAFKA_NODE_ID"].as_str().unwrap();
        assert_eq!(id, (index + 1).to_string());
        let advertised = environment["KAFKA_ADVERTISED_LISTENERS"].as_str().unwrap();
        assert_eq!(advertised, format!("PLAINTEXT://{name}:9092"));
        voters.push(format!("{id}@{name}:9093"));
        quorums.insert(
            environment["KAFKA_CONTROLLER_QUORUM_VOTERS"]
                .as_str()
                .unwrap(),
        );
        assert!(services[*name]["healthcheck"]["test"].is_string());
    }
    assert_eq!(quorums, BTreeSet::from([voters.join(",").as_str()]));
    let kgauge = &services["kgauge"];
    assert_eq!(
        kgauge["environment"]["KGAUGE_TARGET"],
        "kafka1:9092,kafka2:9092,kafka3:9092"
    );
    let awaited = kgauge["depends_on"].as_object().unwrap();
    assert!(
        awaited
            .values()
            .all(|one| one["condition"] == "service_healthy")
    );
    assert_eq!(awaited.len(), 3);
    assert_eq!(kgauge["build"]["dockerfile"], "deploy/Containerfile");
}

#[test]
fn the_image_is_empty_but_for_kgauge_and_runs_as_the_user_of_the_pods() {
    let text = deploy("Containerfile");
    let (_, last_stage) = text.rsplit_once("\nFROM ").unwrap();
    assert!(last_stage.starts_with("scratch\n"), "{last_stage}");
    assert!(!last_stage.contains("\nRUN "), "there is no shell");
    assert!(last_stage.contains("\nUSER 65532:65532\n"));
    assert!(last_stage.contains("ENTRYPOINT [\"/kgauge\"]"));
    let objects = yaml_values::read(&small().yaml().unwrap());
    let jobs: Vec<&Value> = objects
        .iter()
        .filter(|object| object["kind"] == "Job")
        .collect();
    for job in jobs {
        let pod = &job["spec"]["template"]["spec"];
        assert_eq!(pod["securityContext"]["runAsUser"], 65_532);
        assert_eq!(pod["containers"][0]["command"][0], "/kgauge");
    }
}

/// The values of the chart for a run.
fn helm_values(manifest: &AgentsManifest) -> Value {
    let options = &manifest.options;
    let user = manifest.kafka_user.as_ref().map(|user| {
        json!({"create": true, "name": user.name, "namespace": user.namespace, "cluster": user.cluster,
               "authentication": user.authentication, "acls": user.has_acls})
    });
    json!({
        "replicas": options.replicas, "image": options.image, "cpu": options.cpu, "memory": options.memory,
        "pullSecret": options.pull_secret.clone().unwrap_or_default(), "nodeSelector": options.node_selector,
        "deadlineSeconds": options.deadline_seconds, "plan": manifest.plan_json,
        "clientProperties": manifest.client_properties.expose(), "token": manifest.token.expose(),
        "leadArguments": manifest.lead_arguments, "kafkaUser": user.unwrap_or_else(|| json!({"create": false})),
    })
}

/// By kind and name: Helm has an order of its own.
fn sorted(text: &str) -> Vec<Value> {
    let mut objects = yaml_values::read(text);
    objects.sort_by_key(|object| format!("{} {}", object["kind"], object["metadata"]["name"]));
    objects
}

#[test]
#[ignore = "needs helm in PATH; cargo xtask k8s runs it"]
fn the_chart_renders_the_objects_of_the_manifest() {
    let dir = tempfile::tempdir().unwrap();
    for manifest in [full(), small()] {
        let values = dir.path().join("values.json");
        fs::write(&values, helm_values(&manifest).to_string()).unwrap();
        let rendered = Command::new("helm")
            .args([
                "template",
                &manifest.instance,
                "--namespace",
                &manifest.options.namespace,
                // A helm that is built without its linker flags would assume an older release.
                "--kube-version",
                "1.29.0",
                "--values",
            ])
            .arg(&values)
            .arg(deploy_dir().join("helm/kgauge"))
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&rendered.stderr);
        assert!(rendered.status.success(), "{stderr}");
        let rendered = sorted(std::str::from_utf8(&rendered.stdout).unwrap());
        let expected = sorted(&manifest.yaml().unwrap());
        assert_eq!(rendered.len(), expected.len());
        for (rendered, expected) in rendered.iter().zip(&expected) {
            assert_eq!(rendered, expected);
        }
    }
}

#[test]
fn the_chart_has_the_version_of_the_program() {
    let version = env!("CARGO_PKG_VERSION");
    let chart = yaml_values::read(&deploy("helm/kgauge/Chart.yaml")).remove(0);
    assert_eq!(chart["appVersion"], version);
    let values = yaml_values::read(&deploy("helm/kgauge/values.yaml")).remove(0);
    assert_eq!(values["image"], format!("kgauge:{version}"));
}

/// What a Role allows: `get batch/jobs`.
fn granted(role: &Value) -> BTreeSet<String> {
    let mut granted = BTreeSet::new();
    for rule in role["rules"].as_array().unwrap() {
        let of = |key: &str| {
            let list = rule[key].as_array().unwrap().iter();
            list.map(|one| one.as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        for group in of("apiGroups") {
            for resource in of("resources") {
                let verbs = of("verbs").into_iter();
                granted.extend(verbs.map(|verb| format!("{verb} {group}/{resource}")));
            }
        }
    }
    granted
}

#[test]
fn the_role_has_the_rights_of_every_command_and_no_other() {
    let roles = yaml_values::read(&deploy("role.yaml"));
    let may = |role: &Value, verb: &str, group: &str, resource: &str| {
        role["rules"].as_array().unwrap().iter().any(|rule| {
            let has = |key: &str, value: &str| {
                rule[key].as_array().unwrap().iter().any(|one| one == value)
            };
            has("verbs", verb) && has("apiGroups", group) && has("resources", resource)
        })
    };
    let mut needed = BTreeSet::new();
    for right in RUN_RIGHTS {
        let resource = match right.subresource {
            "" => right.resource.to_owned(),
            subresource => format!("{}/{subresource}", right.resource),
        };
        let is_granted = may(&roles[0], right.verb, right.group, &resource);
        assert!(is_granted, "{right}");
        needed.insert(format!("{} {}/{resource}", right.verb, right.group));
    }
    // `kubectl` 1.31 and later asks with this first.
    needed.insert("get /pods/exec".to_owned());
    assert_eq!(granted(&roles[0]), needed);
    for (verb, group, resource) in [
        ("get", "kafka.strimzi.io", "kafkas"),
        ("get", "", "secrets"),
        ("list", "", "pods"),
    ] {
        assert!(may(&roles[1], verb, group, resource), "{verb} {resource}");
    }
    assert!(!deploy("role.yaml").contains('*'));
}
