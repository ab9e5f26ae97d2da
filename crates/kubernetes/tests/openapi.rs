//! Every object against the API definitions that Kubernetes itself publishes.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};

use made::{full, small};
use serde_json::{Map, Value};

mod made;
mod yaml_values;

/// The definitions of one API group.
struct Definitions(Value);

impl Definitions {
    /// `v1`, `batch/v1` and others, from the folder `api/openapi-spec/v3` of Kubernetes' sources.
    fn read(dir: &Path, api_version: &str) -> Self {
        let name = match api_version.split_once('/') {
            Some((group, version)) => format!("apis__{group}__{version}_openapi.json"),
            None => format!("api__{api_version}_openapi.json"),
        };
        Self(serde_json::from_slice(&fs::read(dir.join(name)).unwrap()).unwrap())
    }

    fn schemas(&self) -> &Map<String, Value> {
        self.0["components"]["schemas"].as_object().unwrap()
    }

    fn of_kind(&self, api_version: &str, kind: &str) -> &Value {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let is_it = |schema: &&Value| {
            let kinds = schema["x-kubernetes-group-version-kind"].as_array();
            kinds.is_some_and(|kinds| {
                let mut kinds = kinds.iter();
                kinds.any(|one| {
                    one["kind"] == kind && one["group"] == group && one["version"] == version
                })
            })
        };
        self.schemas()
            .values()
            .find(is_it)
            .unwrap_or_else(|| panic!("{api_version} {kind}"))
    }

    /// Follows references.
    fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let reference = schema["$ref"]
            .as_str()
            .or_else(|| schema["allOf"][0]["$ref"].as_str());
        match reference {
            Some(reference) => &self.schemas()[reference.rsplit_once('/').unwrap().1],
            None => schema,
        }
    }

    fn check(&self, value: &Value, schema: &Value, path: &str, mistakes: &mut Vec<String>) {
        let schema = self.resolve(schema);
        if let Some(choices) = schema["oneOf"].as_array() {
            let fits = |choice: &Value| is_of_type(value, choice["type"].as_str());
            if !choices.iter().any(fits) {
                mistakes.push(format!("{path}: {value} has none of the types"));
            }
            return;
        }
        if !is_of_type(value, schema["type"].as_str()) {
            mistakes.push(format!("{path}: {value} is not {}", schema["type"]));
        }
        if let Some(allowed) = schema["enum"].as_array()
            && !allowed.contains(value)
        {
            mistakes.push(format!("{path}: {value} is not one of {allowed:?}"));
        }
        match value {
            Value::Object(fields) => self.check_fields(fields, schema, path, mistakes),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.check(
                        item,
                        &schema["items"],
                        &format!("{path}[{index}]"),
                        mistakes,
                    );
                }
            }
            _ => {}
        }
    }

    fn check_fields(
        &self,
        fields: &Map<String, Value>,
        schema: &Value,
        path: &str,
        mistakes: &mut Vec<String>,
    ) {
        for required in schema["required"].as_array().into_iter().flatten() {
            if !fields.contains_key(required.as_str().unwrap()) {
                mistakes.push(format!("{path}: {required} is missing"));
            }
        }
        for (key, value) in fields {
            let path = format!("{path}.{key}");
            match (&schema["properties"][key], &schema["additionalProperties"]) {
                (Value::Null, Value::Null) => mistakes.push(format!("{path} is unknown")),
                (Value::Null, schema) | (schema, _) => self.check(value, schema, &path, mistakes),
            }
        }
    }
}

fn is_of_type(value: &Value, name: Option<&str>) -> bool {
    match name {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        _ => true,
    }
}

fn dir() -> PathBuf {
    let dir = std::env::var_os("KGAUGE_OPENAPI_DIR");
    dir.expect("KGAUGE_OPENAPI_DIR is api/openapi-spec/v3 of Kubernetes' sources")
        .into()
}

fn mistakes(object: &Value) -> Vec<String> {
    let (api_version, kind) = (
        object["apiVersion"].as_str().unwrap(),
        object["kind"].as_str().unwrap(),
    );
    let definitions = Definitions::read(&dir(), api_version);
    let mut mistakes = Vec::new();
    definitions.check(
        object,
        definitions.of_kind(api_version, kind),
        kind,
        &mut mistakes,
    );
    mistakes
}

#[test]
#[ignore = "needs Kubernetes' sources; cargo xtask k8s runs it"]
fn every_object_is_what_kubernetes_defines() {
    let role = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/role.yaml");
    let texts = [
        full().yaml().unwrap(),
        small().yaml().unwrap(),
        full().owned_yaml("8f14e45f").unwrap(),
        fs::read_to_string(role).unwrap(),
    ];
    let mut kinds = Vec::new();
    for object in texts.iter().flat_map(|text| yaml_values::read(text)) {
        // Strimzi's objects are not Kubernetes' own.
        if object["kind"] != "KafkaUser" {
            assert_eq!(mistakes(&object), Vec::<String>::new());
            kinds.push(object["kind"].as_str().unwrap().to_owned());
        }
    }
    kinds.sort();
    kinds.dedup();
    assert_eq!(kinds, ["ConfigMap", "Job", "Role", "Secret", "Service"]);
}

#[test]
#[ignore = "needs Kubernetes' sources; cargo xtask k8s runs it"]
fn a_misspelt_field_a_wrong_type_and_a_missing_field_are_found() {
    let objects = yaml_values::read(&small().yaml().unwrap());
    let job = objects
        .iter()
        .find(|object| object["kind"] == "Job")
        .unwrap();
    for (pointer, value, words) in [
        (
            "/spec/parallelism",
            Value::from("three"),
            "Job.spec.parallelism",
        ),
        (
            "/spec/template/spec/containers/0/volumeMounts/0",
            serde_json::json!({"name": "x"}),
            "mountPath\" is missing",
        ),
        (
            "/spec/template/spec/securityContext",
            serde_json::json!({"runAsNonroot": true}),
            "runAsNonroot is unknown",
        ),
    ] {
        let mut wrong = job.clone();
        *wrong.pointer_mut(pointer).unwrap() = value;
        let mistakes = mistakes(&wrong).join("; ");
        assert!(mistakes.contains(words), "{mistakes}");
    }
}
