//! Runs whose objects are known.

use kgauge_client::Secret;
use kgauge_kubernetes::{AgentsManifest, KafkaUserRequest, PodOptions};

fn options(text: &str) -> PodOptions {
    let pairs = text.split(',').map(|pair| {
        let (key, value) = pair.split_once('=').unwrap();
        (key.to_owned(), value.to_owned())
    });
    PodOptions::read(&pairs.collect::<Vec<_>>()).unwrap()
}

/// A run with every kind of object and every optional field.
pub(crate) fn full() -> AgentsManifest {
    AgentsManifest {
        instance: "kgauge-1".to_owned(),
        options: options(
            "replicas=25,namespace=perf,image=registry.example/kgauge:1,cpu=2,memory=1Gi,node-selector=pool=load,\
             pull-secret=login,deadline=90min",
        ),
        plan_json: "{\n  \"format\": 1,\n  \"question\": \"true: or #not?\"\n}\n".to_owned(),
        client_properties: Secret::new("bootstrap.servers=a:9093\nsecurity.protocol=SSL\n"),
        token: Secret::new("0123456789abcdef0123456789abcdef"),
        lead_arguments: vec!["--seed".to_owned(), "7".to_owned()],
        kafka_user: Some(KafkaUserRequest {
            name: "kgauge".to_owned(),
            namespace: "kafka".to_owned(),
            cluster: "my-cluster".to_owned(),
            authentication: "tls".to_owned(),
            has_acls: true,
        }),
    }
}

/// A run with nothing optional.
pub(crate) fn small() -> AgentsManifest {
    AgentsManifest {
        options: options("replicas=1,namespace=default,image=kgauge:1"),
        lead_arguments: Vec::new(),
        kafka_user: None,
        ..full()
    }
}
