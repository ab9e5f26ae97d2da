//! The objects of a run, compared with files. `KGAUGE_UPDATE_GOLDEN=1` writes the files anew.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};

use kgauge_kubernetes::{AgentsManifest, ManifestError};
use serde_json::Value;

use made::{full, small};

mod made;
mod yaml_values;

fn objects(manifest: &AgentsManifest) -> Vec<Value> {
    yaml_values::read(&manifest.yaml().unwrap())
}

fn of_kind<'a>(objects: &'a [Value], kind: &str) -> Vec<&'a Value> {
    objects
        .iter()
        .filter(|object| object["kind"] == kind)
        .collect()
}

#[track_caller]
fn assert_golden(name: &str, text: &str) {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if std::env::var_os("KGAUGE_UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap();
    assert_eq!(text, expected, "{}", path.display());
}

#[test]
fn the_objects_are_those_of_the_files() {
    assert_golden("full.yaml", &full().yaml().unwrap());
    assert_golden("small.yaml", &small().yaml().unwrap());
}

#[test]
fn yaml_gives_back_every_text() {
    let objects = objects(&full());
    let plan = &of_kind(&objects, "ConfigMap")[0]["data"]["plan.json"];
    assert_eq!(plan.as_str().unwrap(), full().plan_json);
    let secret = &of_kind(&objects, "Secret")[0]["stringData"];
    assert_eq!(secret["token"], "0123456789abcdef0123456789abcdef");
    assert_eq!(
        secret["client.properties"],
        "bootstrap.servers=a:9093\nsecurity.protocol=SSL\n"
    );
}

#[test]
fn all_pods_are_restricted_guaranteed_and_without_a_token_of_kubernetes() {
    let objects = objects(&full());
    let jobs = of_kind(&objects, "Job");
    assert_eq!(jobs.len(), 2);
    for job in jobs {
        let spec = &job["spec"];
        assert_eq!(spec["activeDeadlineSeconds"], 5_400);
        assert!(spec["ttlSecondsAfterFinished"].as_u64().unwrap() > 0);
        // One lost agent must not end the others.
        let (limit, none) = match spec["completionMode"] == "Indexed" {
            true => ("backoffLimitPerIndex", "backoffLimit"),
            false => ("backoffLimit", "backoffLimitPerIndex"),
        };
        assert_eq!(spec[limit], 0);
        assert!(spec[none].is_null());
        let pod = &spec["template"]["spec"];
        assert_eq!(pod["automountServiceAccountToken"], false);
        assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
        assert_eq!(
            pod["securityContext"]["seccompProfile"]["type"],
            "RuntimeDefault"
        );
        assert_eq!(pod["nodeSelector"]["pool"], "load");
        for container in pod["containers"].as_array().unwrap() {
            let security = &container["securityContext"];
            assert_eq!(security["allowPrivilegeEscalation"], false);
            assert_eq!(security["readOnlyRootFilesystem"], true);
            assert_eq!(security["capabilities"]["drop"][0], "ALL");
            let resources = &container["resources"];
            assert_eq!(resources["requests"], resources["limits"]);
            assert_eq!(resources["limits"]["cpu"], "2");
        }
    }
}

#[test]
fn agents_are_indexed_spread_and_find_the_lead_by_the_service() {
    let objects = objects(&full());
    let jobs = of_kind(&objects, "Job");
    let agents = jobs
        .iter()
        .find(|job| job["metadata"]["name"] == "kgauge-1-agent")
        .unwrap();
    assert_eq!(agents["spec"]["completionMode"], "Indexed");
    assert_eq!(agents["spec"]["completions"], 25);
    assert_eq!(agents["spec"]["parallelism"], 25);
    let pod = &agents["spec"]["template"]["spec"];
    let spread = &pod["topologySpreadConstraints"][0];
    assert_eq!(
        (&spread["maxSkew"], &spread["topologyKey"]),
        (&1.into(), &"kubernetes.io/hostname".into())
    );
    let service = of_kind(&objects, "Service")[0];
    assert_eq!(service["spec"]["clusterIP"], "None");
    let name = service["metadata"]["name"].as_str().unwrap();
    assert_eq!(pod["containers"][0]["args"][2], format!("{name}:7700"));
    // The selector of the service fits the lead's pod only.
    let selector = service["spec"]["selector"].as_object().unwrap();
    let fits = |job: &Value| {
        let labels = &job["spec"]["template"]["metadata"]["labels"];
        selector.iter().all(|(key, value)| labels[key] == *value)
    };
    assert_eq!(jobs.iter().filter(|job| fits(job)).count(), 1);
    // An agent's pod does not get the login of the Kafka cluster: its lead sends it.
    let items = pod["volumes"][0]["secret"]["items"].as_array().unwrap();
    assert_eq!(items.len(), 1);
    assert_eq!(items[0]["key"], "token");
}

#[test]
fn secrets_are_in_the_secret_only() {
    for object in objects(&full())
        .iter()
        .filter(|object| object["kind"] != "Secret")
    {
        assert!(!object.to_string().contains("0123456789abcdef"), "{object}");
        assert!(
            !object.to_string().contains("security.protocol"),
            "{object}"
        );
    }
    assert!(!format!("{:?}", full()).contains("0123456789abcdef"));
}

#[test]
fn the_leads_job_owns_all_other_objects_of_a_run() {
    let lead = yaml_values::read(&full().lead_yaml().unwrap());
    assert_eq!(lead.len(), 1);
    assert_eq!(lead[0]["metadata"]["name"], "kgauge-1-lead");
    assert!(lead[0]["metadata"]["ownerReferences"].is_null());
    let mut owned = yaml_values::read(&full().owned_yaml("8f14e45f").unwrap());
    for object in &mut owned {
        let metadata = object["metadata"].as_object_mut().unwrap();
        let owners = metadata.remove("ownerReferences").unwrap();
        assert_eq!(
            owners,
            serde_json::json!([{"apiVersion": "batch/v1", "kind": "Job", "name": "kgauge-1-lead", "uid": "8f14e45f"}])
        );
    }
    // Together they are the objects that people apply, but for the user of Kafka, whom a run does not create.
    let mut applied = objects(&full());
    applied.retain(|object| object["kind"] != "KafkaUser" && *object != lead[0]);
    assert_eq!(owned, applied);
}

#[test]
fn wrong_names_and_large_plans_are_refused() {
    for name in ["", "Kgauge", "a.b", "-a", &"a".repeat(49)] {
        let manifest = AgentsManifest {
            instance: name.to_owned(),
            ..small()
        };
        assert!(
            matches!(manifest.yaml(), Err(ManifestError::Name(_))),
            "{name}"
        );
    }
    let manifest = AgentsManifest {
        plan_json: "x".repeat(1024 * 1024 + 1),
        ..small()
    };
    let error = manifest.yaml().unwrap_err().to_string();
    assert!(error.contains("--only"), "{error}");
}
