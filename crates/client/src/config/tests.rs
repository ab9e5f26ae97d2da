//! Tests of client settings as users write them.

use std::time::Duration;

use super::*;

fn from_text(text: &str) -> Result<ClientConfig, ClientConfigError> {
    let mut settings = Settings::default();
    settings.add_properties("client.properties", text.as_bytes());
    settings.client_config()
}

fn mistakes(text: &str) -> Vec<String> {
    match from_text(text) {
        Err(ClientConfigError::Mistakes { mistakes }) => {
            mistakes.iter().map(ToString::to_string).collect()
        }
        other => panic!("expected mistakes, got {other:?}"),
    }
}

#[test]
fn a_whole_file_is_understood() {
    let config = from_text(
        "# our cluster\n\
         bootstrap.servers=kafka-1:9092, kafka-2:9093,\\\n   [::1]:9094\n\
         client.id = sizing\n\
         request.timeout.ms: 1500\n\
         default.api.timeout.ms=4000\n\
         socket.connection.setup.timeout.ms=100\n\
         retry.backoff.ms=7\n\
         retry.backoff.max.ms=70\n\
         metadata.max.age.ms=1000\n\
         connections.max.idle.ms=-1\n\
         send.buffer.bytes=-1\n\
         receive.buffer.bytes=1048576\n\
         metadata.recovery.strategy=NONE\n\
         client.dns.lookup=use_all_dns_ips\n\
         security.protocol=plaintext\n",
    )
    .unwrap();
    let servers: Vec<_> = config
        .bootstrap_servers
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(servers, ["kafka-1:9092", "kafka-2:9093", "[::1]:9094"]);
    assert_eq!(config.client_id, "sizing");
    assert_eq!(config.request_timeout, Duration::from_millis(1500));
    assert_eq!(config.api_timeout, Duration::from_secs(4));
    assert_eq!(config.connection_setup_timeout, Duration::from_millis(100));
    assert_eq!(config.retry_backoff, Duration::from_millis(7));
    assert_eq!(config.retry_backoff_max, Duration::from_millis(70));
    assert_eq!(config.metadata_age_max, Duration::from_secs(1));
    assert_eq!(config.connection_idle_max, None);
    assert_eq!(config.send_buffer_bytes, None);
    assert_eq!(config.receive_buffer_bytes, Some(1_048_576));
    assert_eq!(config.metadata_recovery, MetadataRecovery::None);
    assert_eq!(config.notes, []);
}

#[test]
fn all_mistakes_are_shown_at_once_each_with_line_and_cure() {
    let shown = mistakes(
        "bootstrap.server=a:9092\n\
         request.timeout.ms=30s\n\
         security.protocol=TLS\n\
         acks=all\n\
         group.id=g\n\
         bootstrap.controllers=a:9093\n\
         client.dns.lookup=resolve_canonical_bootstrap_servers_only\n",
    );
    assert_eq!(
        shown,
        [
            "client.properties:1: unknown setting bootstrap.server; did you mean bootstrap.servers?"
                .to_owned(),
            "client.properties:2: request.timeout.ms is \"30s\"; write a whole number from 1 to \
             2147483647 (milliseconds, no unit)"
                .to_owned(),
            "client.properties:3: security.protocol is \"TLS\"; write PLAINTEXT, SSL, \
             SASL_PLAINTEXT or SASL_SSL"
                .to_owned(),
            "client.properties:4: acks is a producer setting, not a connection setting; set it in \
             a producer flow of the scenario"
                .to_owned(),
            "client.properties:5: group.id is a consumer setting, not a connection setting; set \
             it in a consumer flow of the scenario"
                .to_owned(),
            "client.properties:6: bootstrap.controllers is not supported by kgauge; remove it"
                .to_owned(),
            "client.properties:7: client.dns.lookup=resolve_canonical_bootstrap_servers_only is \
             not supported: kgauge does no reverse lookups; write use_all_dns_ips, or remove the \
             line"
                .to_owned(),
            "client settings: bootstrap.servers is missing; write bootstrap.servers=host:9092"
                .to_owned(),
        ]
    );
}

#[test]
fn every_wrong_server_is_named() {
    let shown = mistakes("bootstrap.servers=a:9092,b,http://c:1,,::1:9092");
    assert_eq!(
        shown,
        [
            "client.properties:1: bootstrap.servers: \"b\" has no port: write host:9092; \
          \"http://c:1\" looks like a URL; write only host:port; \"\" is empty; remove the extra \
          comma; \"::1:9092\" is an IPv6 address without brackets: write [address]:port; write \
          bootstrap.servers=host:9092,other-host:9092"
        ]
    );
}

#[test]
fn no_secret_is_ever_repeated() {
    const CANARY: &str = "hunter2";
    let text = "bootstrap.servers=alice:hunter2@host:9092\n\
         security.protocol=SASL_SSL\n\
         sasl.jaas.config=Plain required username=\"alice\" password=\"hunter2\";\n\
         sasl.jaas.confg=hunter2\n\
         ssl.keystore.password=hunter2\n\
         ssl.keystore.password=hunter2\n\
         ssl.key.password=hunter2\\u12\n\
         password=\"hunter2\";\n\
         hunter2;\n\
         hunter2\n\
         MIIEvQhunter2IBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n";
    let mut settings = Settings::default();
    settings.add_properties("client.properties", text.as_bytes());
    settings.add_pair("ssl.key.password", CANARY);
    assert!(!format!("{settings:?}").contains(CANARY), "{settings:?}");
    let error = settings.client_config().unwrap_err();
    assert!(!error.to_string().contains(CANARY), "{error}");
    assert!(!format!("{error:?}").contains(CANARY), "{error:?}");

    let quiet = "bootstrap.servers=a:9092\nssl.key.password=hunter2\nssl.key.password=hunter2";
    let config = from_text(quiet).unwrap();
    assert!(!format!("{config:?}").contains(CANARY), "{config:?}");
}

#[test]
fn what_has_no_effect_is_named_in_a_note() {
    let config = from_text(
        "bootstrap.servers=a:9092\nclient.id=x\nmetric.reporters=a.B\nssl.protocol=TLSv1.3\n\
         client.id=y\n",
    )
    .unwrap();
    assert_eq!(config.client_id, "y");
    let notes: Vec<_> = config.notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "client.properties:3: metric.reporters only affects the Java client",
            "client.properties:4: ssl.protocol has no effect with security.protocol=PLAINTEXT",
            "client.properties:5: client.id is also set in line 2; the last one wins",
        ]
    );
}

#[test]
fn pairs_override_the_file_and_flows_settings_can_be_taken_out() {
    let mut settings = Settings::default();
    settings.add_properties(
        "p",
        b"bootstrap.servers=a:1\nacks=all\ngroup.id=g\nlinger.ms=5",
    );
    settings.add_pair("bootstrap.servers", "b:2");
    let producer: Vec<_> = settings
        .take(KeyRole::Producer)
        .into_iter()
        .map(|s| s.key)
        .collect();
    assert_eq!(producer, ["acks", "linger.ms"]);
    assert_eq!(settings.take(KeyRole::Consumer).len(), 1);
    let config = settings.client_config().unwrap();
    assert_eq!(config.bootstrap_servers[0].to_string(), "b:2");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = ClientConfig::from_properties_file(Path::new("/no/such.properties")).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("cannot read /no/such.properties: "),
        "{error}"
    );
}
