//! Text from brokers and from foreign run folders: it commands no terminal, and forges no line.

use std::fs;
use std::sync::{Arc, OnceLock};

use kgauge_client::Address;
use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::create_topics::CreatableTopicResult;
use kgauge_wire::messages::metadata::MetadataResponseBroker;
use kgauge_wire::messages::{CreateTopicsRequest, CreateTopicsResponse, MetadataResponse};

use crate::fake::{Asked, all_versions, broker_of};
use crate::site::{Site, text};

/// Sets the terminal's title, clears its screen and forges a line.
const EVIL: &str = "\u{1b}]0;pwned\u{7}\u{1b}[2Jboo\r\nkgauge: all good";

/// A broker that advertises itself under `host`, or under its own address, and creates no topic.
fn hostile(host: Option<&'static str>) -> Address {
    let own: Arc<OnceLock<Address>> = Arc::default();
    let known = own.clone();
    let mut versions = all_versions();
    let served = [ApiKey::ApiVersions, ApiKey::Metadata, ApiKey::CreateTopics];
    let is_served = |key: i16| served.iter().any(|api| api.as_i16() == key);
    versions.api_keys.retain(|range| is_served(range.api_key));
    let address = broker_of(versions, move |asked| {
        let own = known.wait();
        match asked.api {
            ApiKey::Metadata => Some(asked.answer(&MetadataResponse {
                brokers: vec![MetadataResponseBroker {
                    node_id: 1,
                    host: host.unwrap_or(&own.host).into(),
                    port: own.port.into(),
                    ..MetadataResponseBroker::default()
                }],
                cluster_id: Some(EVIL.into()),
                controller_id: 1,
                ..MetadataResponse::default()
            })),
            ApiKey::CreateTopics => Some(refused(asked)),
            _ => None,
        }
    });
    own.set(address.clone()).unwrap();
    address
}

fn refused(asked: &Asked) -> Vec<u8> {
    let request = asked.message::<CreateTopicsRequest<'_>>();
    asked.answer(&CreateTopicsResponse {
        topics: request
            .topics
            .iter()
            .map(|topic| CreatableTopicResult {
                name: topic.name.clone(),
                error_code: ErrorCode::PolicyViolation.as_i16(),
                error_message: Some(EVIL.into()),
                ..CreatableTopicResult::default()
            })
            .collect(),
        ..CreateTopicsResponse::default()
    })
}

/// Checks that stdout and stderr of a command contain `word`, no control character and no forged line.
fn check_harmless(arguments: &[&str], status: i32, word: &str) {
    let output = Site::new().run(arguments);
    let terminal_output = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{terminal_output:?}");
    assert!(terminal_output.contains(word), "{terminal_output:?}");
    let obeyed = |c: char| c.is_control() && c != '\n' && c != '\t';
    assert!(!terminal_output.contains(obeyed), "{terminal_output:?}");
    assert!(
        !terminal_output.contains("\nkgauge: all good"),
        "{terminal_output:?}"
    );
}

#[test]
fn a_broker_s_words_command_no_terminal() {
    let broker = hostile(None).to_string();
    let create = [
        "kafka-topics",
        "--create",
        "--topic",
        "t",
        "--bootstrap-server",
        &broker,
    ];
    check_harmless(&create, 1, "pwned");
    let run = ["run", "tiny.yaml", "--yes", "--target", &broker];
    check_harmless(&run, 3, "pwned");
}

#[test]
fn an_advertised_name_commands_no_terminal() {
    let broker = hostile(Some(EVIL)).to_string();
    let run = ["run", "tiny.yaml", "--yes", "--target", &broker];
    check_harmless(&run, 3, "pwned");
}

#[test]
fn a_foreign_run_folder_commands_no_terminal() {
    let site = Site::new();
    site.run(&["run", "counted.yaml", "--out", "out"]);
    let head = fs::read_to_string(site.path("out/run.json")).unwrap();
    let evil = "\"\\u001b[31mred\\u0007\\r\\nkgauge: all good\"";
    site.write("out/run.json", &head.replace("\"complete\"", evil));
    let dir = site.path("out").display().to_string();
    check_harmless(&["report", &dir], 2, "red");
    check_harmless(&["compare", &dir, &dir], 2, "red");
}
