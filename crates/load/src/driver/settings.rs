//! Translates a flow's settings to the names of the client.
//!
//! A setting that the client lacks is refused when the scenario is read (`Driver::refusals`), or by the client itself
//! if that depends on its release.

use kgauge_client::ClientConfig;
use kgauge_scenario::{Acks, Compression, Driver, Partitioner, ProduceFlow, ProducerSettings};

use super::frames::Property;
use super::properties::DriverProperties;
use super::security;
use crate::settings::codec;

const MS: u64 = 1_000_000;

/// All settings of a producer of the flow, or a message about what cannot be translated.
pub(super) fn properties(
    flow: &ProduceFlow,
    client: &ClientConfig,
) -> Result<Vec<Property>, String> {
    let mut properties = DriverProperties::default();
    properties.set("bootstrap.servers", client.servers());
    match flow.driver {
        Driver::Librdkafka => {
            librdkafka(&flow.settings, &mut properties);
            security::librdkafka(client, &mut properties)?;
        }
        Driver::Java { .. } | Driver::Kgauge => {
            java(&flow.settings, &mut properties);
            security::java(client, &mut properties)?;
        }
    }
    Ok(properties.0)
}

/// Settings with the same name in both clients.
fn shared(settings: &ProducerSettings, properties: &mut DriverProperties) {
    let default = ProducerSettings::default();
    let acks = match settings.acks {
        Acks::None => "0",
        Acks::Leader => "1",
        Acks::All => "all",
    };
    let ms = |ns: u64| (ns / MS).to_string();
    properties.set("acks", acks);
    properties.set("compression.type", settings.compression.codec.name());
    properties.set("client.id", settings.client_id.clone());
    properties.set("linger.ms", ms(settings.linger_ns));
    properties.set("enable.idempotence", settings.idempotence.to_string());
    properties.set("retries", settings.retries.to_string());
    properties.set("retry.backoff.ms", ms(settings.retry_backoff_ns));
    properties.put(
        "retry.backoff.max.ms",
        ms(settings.retry_backoff_ns_max),
        settings.retry_backoff_ns_max == default.retry_backoff_ns_max,
    );
    properties.set("request.timeout.ms", ms(settings.request_timeout_ns));
    properties.set(
        "max.in.flight.requests.per.connection",
        settings.in_flight_max.to_string(),
    );
    properties.put(
        "delivery.timeout.ms",
        ms(settings.delivery_timeout_ns),
        settings.delivery_timeout_ns == default.delivery_timeout_ns,
    );
}

fn java(settings: &ProducerSettings, properties: &mut DriverProperties) {
    shared(settings, properties);
    let default = ProducerSettings::default();
    let socket = |bytes: Option<u32>| bytes.map_or("-1".to_owned(), |bytes| bytes.to_string());
    for (key, value) in [
        ("batch.size", settings.batch_bytes.to_string()),
        ("buffer.memory", settings.buffer_bytes.to_string()),
        ("max.block.ms", (settings.block_ns_max / MS).to_string()),
        ("max.request.size", settings.request_bytes_max.to_string()),
        (
            "metadata.max.age.ms",
            (settings.metadata_age_ns_max / MS).to_string(),
        ),
        ("send.buffer.bytes", socket(settings.send_buffer_bytes)),
        (
            "receive.buffer.bytes",
            socket(settings.receive_buffer_bytes),
        ),
    ] {
        properties.set(key, value);
    }
    if let Some((key, level, usual)) = level(settings.compression) {
        properties.put(&key, level.to_string(), level == usual);
    }
    if settings.partitioner == Partitioner::RoundRobin {
        let class = "org.apache.kafka.clients.producer.RoundRobinPartitioner";
        properties.set("partitioner.class", class);
    }
    properties.put(
        "partitioner.ignore.keys",
        settings.partitioner_ignores_keys.to_string(),
        settings.partitioner_ignores_keys == default.partitioner_ignores_keys,
    );
    properties.put(
        "partitioner.adaptive.partitioning.enable",
        settings.partitioner_adaptive.to_string(),
        settings.partitioner_adaptive == default.partitioner_adaptive,
    );
    properties.put(
        "partitioner.availability.timeout.ms",
        (settings.partitioner_availability_ns / MS).to_string(),
        settings.partitioner_availability_ns == default.partitioner_availability_ns,
    );
}

/// The key of a codec's level, the level, and Kafka's default (KIP-390, 3.8).
fn level(compression: Compression) -> Option<(String, i32, i32)> {
    let default = codec(compression.codec).level_default()?;
    let key = format!("compression.{}.level", compression.codec.name());
    Some((key, compression.level?, default))
}

/// Source of names and ranges: librdkafka's CONFIGURATION.md.
fn librdkafka(settings: &ProducerSettings, properties: &mut DriverProperties) {
    shared(settings, properties);
    let socket = |bytes: Option<u32>| bytes.unwrap_or(0).to_string();
    // Kafka's 0: one record per batch.
    let records_max = match settings.batch_bytes {
        0 => 1,
        _ => 1_000_000,
    };
    for (key, value) in [
        ("batch.size", settings.batch_bytes.max(1).to_string()),
        // As in Kafka, only bytes end a batch and fill the buffer.
        ("batch.num.messages", records_max.to_string()),
        (
            "queue.buffering.max.kbytes",
            (settings.buffer_bytes / 1024).to_string(),
        ),
        ("queue.buffering.max.messages", "10000000".to_owned()),
        ("message.max.bytes", settings.request_bytes_max.to_string()),
        (
            "topic.metadata.refresh.interval.ms",
            (settings.metadata_age_ns_max / MS).to_string(),
        ),
        (
            "socket.send.buffer.bytes",
            socket(settings.send_buffer_bytes),
        ),
        (
            "socket.receive.buffer.bytes",
            socket(settings.receive_buffer_bytes),
        ),
        // Kafka's own hash for records with keys.
        ("partitioner", "murmur2_random".to_owned()),
        // The library never blocks in a send; the program implements this wait.
        (
            "kgauge.max.block.ms",
            (settings.block_ns_max / MS).to_string(),
        ),
    ] {
        properties.set(key, value);
    }
    // Kafka's lz4 level 9 is the fast compressor, which is librdkafka's default.
    if let Some((key, level, _)) = level(settings.compression)
        && key != "compression.lz4.level"
    {
        properties.set("compression.level", level.to_string());
    }
}

#[cfg(test)]
mod tests {
    use kgauge_scenario::{FlowPlan, Scenario, Size};

    use super::*;

    fn translated(
        driver: &str,
        settings: &str,
        client: &str,
    ) -> Result<Vec<(String, String, bool)>, String> {
        let text = format!(
            "kgauge: 1\nname: a\nquestion: b\ntopic: {{partitions: 1}}\nflows:\n  - {{name: w, kind: \
             produce, shape: max, record: {{size: 100 B}}, driver: {driver}, settings: {{{settings}}}}}\n"
        );
        let scenario = Scenario::parse("a.yaml", &text).unwrap();
        let Some(FlowPlan::Produce(flow)) = scenario.trials(Size::Default).remove(0).flows.pop()
        else {
            panic!("it is a produce flow");
        };
        let client = format!("bootstrap.servers=a:1,b:2\n{client}");
        let client = ClientConfig::from_properties_text(&client, "test").unwrap();
        let found = properties(&flow, &client)?.into_iter();
        Ok(found
            .map(|one| (one.key, one.value.expose().to_owned(), one.is_default))
            .collect())
    }

    fn value(of: &[(String, String, bool)], key: &str) -> Option<(String, bool)> {
        let mut found = of.iter().filter(|(known, ..)| known == key);
        let one = found.next();
        assert!(found.next().is_none(), "{key} stands there twice");
        one.map(|(_, value, is_default)| (value.clone(), *is_default))
    }

    #[test]
    fn java_gets_kafkas_own_names() {
        let settings = "acks: 1, batch.size: 128 KiB, linger.ms: 20, compression.type: zstd, \
                        compression.zstd.level: 7, partitioner: round-robin";
        let found = translated("java", settings, "client.dns.lookup=use_all_dns_ips\n").unwrap();
        let value = |key: &str| value(&found, key);
        let asked = |text: &str| Some((text.to_owned(), false));
        let usual = |text: &str| Some((text.to_owned(), true));
        assert_eq!(value("bootstrap.servers"), asked("a:1,b:2"));
        assert_eq!(value("acks"), asked("1"));
        assert_eq!(value("batch.size"), asked("131072"));
        assert_eq!(value("linger.ms"), asked("20"));
        assert_eq!(value("compression.zstd.level"), asked("7"));
        assert_eq!(value("client.dns.lookup"), asked("use_all_dns_ips"));
        assert_eq!(value("retry.backoff.max.ms"), usual("1000"));
        assert_eq!(value("delivery.timeout.ms"), usual("120000"));
        let class = "org.apache.kafka.clients.producer.RoundRobinPartitioner";
        assert_eq!(value("partitioner.class"), asked(class));
        assert_eq!(value("send.buffer.bytes"), asked("131072"));
    }

    #[test]
    fn librdkafka_gets_its_own_names_and_units() {
        let settings = "batch.size: 0, buffer.memory: 64 MiB, compression.type: lz4, \
                        metadata.max.age.ms: 60000, max.block.ms: 5000";
        let found = translated("librdkafka", settings, "").unwrap();
        let value = |key: &str| value(&found, key).map(|(value, _)| value);
        let is = |text: &str| Some(text.to_owned());
        assert_eq!(value("batch.size"), is("1"));
        assert_eq!(value("batch.num.messages"), is("1"));
        assert_eq!(value("queue.buffering.max.kbytes"), is("65536"));
        assert_eq!(value("topic.metadata.refresh.interval.ms"), is("60000"));
        assert_eq!(value("compression.type"), is("lz4"));
        assert_eq!(value("compression.level"), None);
        assert_eq!(value("kgauge.max.block.ms"), is("5000"));
        assert_eq!(value("buffer.memory"), None);
    }

    #[test]
    fn security_settings_are_translated_for_each_driver() {
        let jaas = "org.apache.kafka.common.security.plain.PlainLoginModule required \
                    username=\"ann\" password=\"s3cret\";";
        let client = format!(
            "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config={jaas}\n"
        );
        let java = translated("java", "", &client).unwrap();
        assert_eq!(
            value(&java, "sasl.jaas.config"),
            Some((jaas.to_owned(), false))
        );
        let librdkafka = translated("librdkafka", "", &client).unwrap();
        let value = |key: &str| value(&librdkafka, key).map(|(value, _)| value);
        assert_eq!(
            value("security.protocol").as_deref(),
            Some("SASL_PLAINTEXT")
        );
        assert_eq!(value("sasl.mechanism").as_deref(), Some("PLAIN"));
        assert_eq!(value("sasl.username").as_deref(), Some("ann"));
        assert_eq!(value("sasl.password").as_deref(), Some("s3cret"));
        assert_eq!(value("sasl.jaas.config"), None);
    }

    #[test]
    fn what_librdkafka_is_not_told_is_refused_by_name() {
        let words = translated(
            "librdkafka",
            "",
            "security.protocol=SSL\nssl.enabled.protocols=TLSv1.2\n",
        )
        .map(|found| found.len())
        .unwrap_err();
        assert!(words.contains("ssl.enabled.protocols"), "{words}");
        let token = "security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER\n\
                     kgauge.oauthbearer.token.command=cat token\n";
        for driver in ["java", "librdkafka"] {
            let words = translated(driver, "", token)
                .map(|found| found.len())
                .unwrap_err();
            assert!(words.contains("OAUTHBEARER"), "{words}");
            assert!(!words.contains("cat token"), "{words}");
        }
    }
}
