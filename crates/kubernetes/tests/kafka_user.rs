//! The KafkaUser against what Strimzi accepts: the rules of `install/cluster-operator/044-Crd-kafkauser.yaml` in
//! release 1.2.0, those of its user operator, and Kafka's own of which operation fits which resource.

#![allow(clippy::unwrap_used, reason = "tests")]

use kgauge_kubernetes::KafkaUserRequest;
use serde_json::Value;

mod yaml_values;

/// What a value may be.
enum Rule {
    OneOf(&'static [&'static str]),
    Text,
    /// An integer of at least 0.
    Count,
}

/// All fields below `spec`, but for those that kgauge has no use for: passwords, validity, templates, hosts.
const FIELDS: [(&str, Rule); 9] = [
    (
        "authentication.type",
        Rule::OneOf(&["tls", "tls-external", "scram-sha-512"]),
    ),
    ("authorization.type", Rule::OneOf(&["simple"])),
    (
        "authorization.acls[].resource.type",
        Rule::OneOf(&["topic", "group", "cluster", "transactionalId"]),
    ),
    ("authorization.acls[].resource.name", Rule::Text),
    (
        "authorization.acls[].resource.patternType",
        Rule::OneOf(&["literal", "prefix"]),
    ),
    (
        "authorization.acls[].operations[]",
        Rule::OneOf(&[
            "Read",
            "Write",
            "Create",
            "Delete",
            "Alter",
            "Describe",
            "ClusterAction",
            "AlterConfigs",
            "DescribeConfigs",
            "IdempotentWrite",
            "All",
        ]),
    ),
    ("quotas.producerByteRate", Rule::Count),
    ("quotas.consumerByteRate", Rule::Count),
    ("quotas.requestPercentage", Rule::Count),
];

/// Kafka's `AclEntry.supportedOperations`.
const OPERATIONS: [(&str, &[&str]); 4] = [
    (
        "topic",
        &[
            "Read",
            "Write",
            "Create",
            "Describe",
            "Delete",
            "Alter",
            "DescribeConfigs",
            "AlterConfigs",
        ],
    ),
    (
        "group",
        &[
            "Read",
            "Describe",
            "Delete",
            "DescribeConfigs",
            "AlterConfigs",
        ],
    ),
    (
        "cluster",
        &[
            "Create",
            "ClusterAction",
            "DescribeConfigs",
            "AlterConfigs",
            "IdempotentWrite",
            "Alter",
            "Describe",
        ],
    ),
    ("transactionalId", &["Describe", "Write"]),
];

fn user(has_acls: bool) -> Value {
    let request = KafkaUserRequest {
        name: "kgauge".to_owned(),
        namespace: "kafka".to_owned(),
        cluster: "my-cluster".to_owned(),
        authentication: "tls".to_owned(),
        has_acls,
    };
    yaml_values::read(&request.yaml().unwrap()).remove(0)
}

/// The values in an object with their paths.
fn leaves(value: &Value, path: &str, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let dot = if path.is_empty() { "" } else { "." };
                leaves(value, &format!("{path}{dot}{key}"), found);
            }
        }
        Value::Array(items) => {
            for item in items {
                leaves(item, &format!("{path}[]"), found);
            }
        }
        leaf => found.push((path.to_owned(), leaf.clone())),
    }
}

#[test]
fn every_field_is_one_that_strimzi_defines() {
    let user = user(true);
    assert_eq!(user["apiVersion"], "kafka.strimzi.io/v1");
    assert_eq!(user["kind"], "KafkaUser");
    let mut found = Vec::new();
    leaves(&user["spec"], "", &mut found);
    for (path, value) in &found {
        let rule = FIELDS.iter().find(|(field, _)| field == path);
        let (_, rule) = rule.unwrap_or_else(|| panic!("{path} is no field of a KafkaUser"));
        let fits = match rule {
            Rule::OneOf(allowed) => value.as_str().is_some_and(|text| allowed.contains(&text)),
            Rule::Text => value.as_str().is_some_and(|text| !text.is_empty()),
            Rule::Count => value.as_u64().is_some(),
        };
        assert!(fits, "{path}: {value}");
    }
    for required in ["authentication.type", "authorization.type"] {
        assert!(found.iter().any(|(path, _)| path == required), "{required}");
    }
}

#[test]
fn every_acl_has_a_name_and_operations_that_fit_its_resource() {
    let user = user(true);
    for acl in user["spec"]["authorization"]["acls"].as_array().unwrap() {
        let resource = &acl["resource"];
        let kind = resource["type"].as_str().unwrap();
        // The user operator refuses others without a name; the cluster's own is fixed.
        match kind {
            "cluster" => assert_eq!(resource["name"], Value::Null),
            _ => {
                assert_eq!(resource["name"], "kgauge-", "{kind}");
                assert_eq!(resource["patternType"], "prefix", "{kind}");
            }
        }
        let fitting = OPERATIONS.iter().find(|(name, _)| *name == kind).unwrap().1;
        let operations = acl["operations"].as_array().unwrap();
        assert!(!operations.is_empty(), "{kind}");
        for operation in operations {
            assert!(
                fitting.contains(&operation.as_str().unwrap()),
                "{kind}: {operation}"
            );
        }
    }
}

#[test]
fn the_operator_finds_the_user_by_its_label_and_accepts_it() {
    let user = user(true);
    let labels = &user["metadata"]["labels"];
    assert_eq!(labels["strimzi.io/cluster"], "my-cluster");
    assert_eq!(user["metadata"]["namespace"], "kafka");
    // The name of a user with a certificate is the certificate's common name.
    assert!(user["metadata"]["name"].as_str().unwrap().len() <= 64);
}

#[test]
fn a_cluster_that_checks_no_rights_gets_a_user_without_acls() {
    let user = user(false);
    assert_eq!(user["spec"]["authorization"], Value::Null);
    assert_eq!(user["spec"]["authentication"]["type"], "tls");
    assert!(user["spec"]["quotas"]["producerByteRate"].as_u64().unwrap() > 0);
}
