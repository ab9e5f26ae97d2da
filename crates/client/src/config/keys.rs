//! Every key of Kafka 4.3.1's own clients, and what kgauge does with it.
//!
//! Source: the Java classes `AdminClientConfig`, `ProducerConfig` and `ConsumerConfig` of kafka-clients 4.3.1
//! (`configNames()`).

/// What kgauge does with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyRole {
    /// Sets a field of [`crate::ClientConfig`].
    Client,
    /// Belongs to TLS or SASL; no effect with another `security.protocol`.
    Security,
    /// Configures only internals of the Java client (metrics, classes); no effect here.
    JavaOnly,
    /// Would change the protocol, and is not supported.
    Unsupported,
    /// A producer's setting: it belongs to a flow of the scenario.
    Producer,
    /// A consumer's setting: it belongs to a flow of the scenario.
    Consumer,
}

const CLIENT: &[&str] = &[
    "bootstrap.servers",
    "client.dns.lookup",
    "client.id",
    "connections.max.idle.ms",
    "default.api.timeout.ms",
    "metadata.max.age.ms",
    "metadata.recovery.strategy",
    "receive.buffer.bytes",
    "reconnect.backoff.max.ms",
    "reconnect.backoff.ms",
    "request.timeout.ms",
    "retries",
    "retry.backoff.max.ms",
    "retry.backoff.ms",
    "security.protocol",
    "send.buffer.bytes",
    "socket.connection.setup.timeout.max.ms",
    "socket.connection.setup.timeout.ms",
];

const JAVA_ONLY: &[&str] = &[
    "auto.include.jmx.reporter",
    "enable.metrics.push",
    "metadata.recovery.rebootstrap.trigger.ms",
    "metric.reporters",
    "metrics.num.samples",
    "metrics.recording.level",
    "metrics.sample.window.ms",
    "security.providers",
];

const UNSUPPORTED: &[&str] = &["bootstrap.controllers", "config.providers"];

const SECURITY: &[&str] = &[
    // kgauge's own; the others are Kafka's.
    "kgauge.oauthbearer.token.command",
    "kgauge.oauthbearer.token.file",
    "sasl.client.callback.handler.class",
    "sasl.jaas.config",
    "sasl.kerberos.kinit.cmd",
    "sasl.kerberos.min.time.before.relogin",
    "sasl.kerberos.service.name",
    "sasl.kerberos.ticket.renew.jitter",
    "sasl.kerberos.ticket.renew.window.factor",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.login.connect.timeout.ms",
    "sasl.login.read.timeout.ms",
    "sasl.login.refresh.buffer.seconds",
    "sasl.login.refresh.min.period.seconds",
    "sasl.login.refresh.window.factor",
    "sasl.login.refresh.window.jitter",
    "sasl.login.retry.backoff.max.ms",
    "sasl.login.retry.backoff.ms",
    "sasl.mechanism",
    "sasl.oauthbearer.assertion.algorithm",
    "sasl.oauthbearer.assertion.claim.aud",
    "sasl.oauthbearer.assertion.claim.exp.seconds",
    "sasl.oauthbearer.assertion.claim.iss",
    "sasl.oauthbearer.assertion.claim.jti.include",
    "sasl.oauthbearer.assertion.claim.nbf.seconds",
    "sasl.oauthbearer.assertion.claim.sub",
    "sasl.oauthbearer.assertion.file",
    "sasl.oauthbearer.assertion.private.key.file",
    "sasl.oauthbearer.assertion.private.key.passphrase",
    "sasl.oauthbearer.assertion.template.file",
    "sasl.oauthbearer.client.credentials.client.id",
    "sasl.oauthbearer.client.credentials.client.secret",
    "sasl.oauthbearer.clock.skew.seconds",
    "sasl.oauthbearer.expected.audience",
    "sasl.oauthbearer.expected.issuer",
    "sasl.oauthbearer.header.urlencode",
    "sasl.oauthbearer.jwks.endpoint.refresh.ms",
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms",
    "sasl.oauthbearer.jwks.endpoint.url",
    "sasl.oauthbearer.jwt.retriever.class",
    "sasl.oauthbearer.jwt.validator.class",
    "sasl.oauthbearer.scope",
    "sasl.oauthbearer.scope.claim.name",
    "sasl.oauthbearer.sub.claim.name",
    "sasl.oauthbearer.token.endpoint.url",
    "ssl.cipher.suites",
    "ssl.enabled.protocols",
    "ssl.endpoint.identification.algorithm",
    "ssl.engine.factory.class",
    "ssl.key.password",
    "ssl.keymanager.algorithm",
    "ssl.keystore.certificate.chain",
    "ssl.keystore.key",
    "ssl.keystore.location",
    "ssl.keystore.password",
    "ssl.keystore.type",
    "ssl.protocol",
    "ssl.provider",
    "ssl.secure.random.implementation",
    "ssl.trustmanager.algorithm",
    "ssl.truststore.certificates",
    "ssl.truststore.location",
    "ssl.truststore.password",
    "ssl.truststore.type",
];

const PRODUCER: &[&str] = &[
    "acks",
    "batch.size",
    "buffer.memory",
    "compression.gzip.level",
    "compression.lz4.level",
    "compression.type",
    "compression.zstd.level",
    "delivery.timeout.ms",
    "enable.idempotence",
    "interceptor.classes",
    "key.serializer",
    "linger.ms",
    "max.block.ms",
    "max.in.flight.requests.per.connection",
    "max.request.size",
    "metadata.max.idle.ms",
    "partitioner.adaptive.partitioning.enable",
    "partitioner.availability.timeout.ms",
    "partitioner.class",
    "partitioner.ignore.keys",
    "transaction.timeout.ms",
    "transaction.two.phase.commit.enable",
    "transactional.id",
    "value.serializer",
];

const CONSUMER: &[&str] = &[
    "allow.auto.create.topics",
    "auto.commit.interval.ms",
    "auto.offset.reset",
    "check.crcs",
    "client.rack",
    "enable.auto.commit",
    "exclude.internal.topics",
    "fetch.max.bytes",
    "fetch.max.wait.ms",
    "fetch.min.bytes",
    "group.id",
    "group.instance.id",
    "group.protocol",
    "group.remote.assignor",
    "heartbeat.interval.ms",
    "isolation.level",
    "key.deserializer",
    "max.partition.fetch.bytes",
    "max.poll.interval.ms",
    "max.poll.records",
    "partition.assignment.strategy",
    "session.timeout.ms",
    "share.acknowledgement.mode",
    "share.acquire.mode",
    "value.deserializer",
];

const ROLES: &[(KeyRole, &[&str])] = &[
    (KeyRole::Client, CLIENT),
    (KeyRole::Security, SECURITY),
    (KeyRole::JavaOnly, JAVA_ONLY),
    (KeyRole::Unsupported, UNSUPPORTED),
    (KeyRole::Producer, PRODUCER),
    (KeyRole::Consumer, CONSUMER),
];

/// What kgauge does with `key`; `None` if no client of Kafka has such a key.
pub fn role(key: &str) -> Option<KeyRole> {
    // The client has no plug-in settings such as sasl.login.* per listener, but it has config.providers.<name>.*.
    if key.starts_with("config.providers.") {
        return Some(KeyRole::Unsupported);
    }
    ROLES
        .iter()
        .find(|(_, keys)| keys.contains(&key))
        .map(|&(role, _)| role)
}

/// The known key that was probably meant.
pub(super) fn nearest(key: &str) -> Option<&'static str> {
    let letters: Vec<char> = key.to_lowercase().replace('_', ".").chars().collect();
    // Up to a third of the letters may differ.
    let distance_max = (letters.len() / 3).clamp(1, 6);
    ROLES
        .iter()
        .flat_map(|(_, keys)| keys.iter())
        .map(|&known| (edit_distance(&letters, known), known))
        .filter(|&(distance, _)| distance <= distance_max)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, known)| known)
}

/// Levenshtein's distance: insertions, deletions and replacements of one letter.
fn edit_distance(from: &[char], to: &str) -> usize {
    let mut row: Vec<usize> = (0..=from.len()).collect();
    for (index, letter) in to.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for column in 1..row.len() {
            let replaced = diagonal + usize::from(from[column - 1] != letter);
            diagonal = row[column];
            row[column] = replaced.min(row[column] + 1).min(row[column - 1] + 1);
        }
    }
    row[from.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_one_role() {
        let mut all: Vec<&str> = ROLES
            .iter()
            .flat_map(|(_, keys)| keys.iter().copied())
            .collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn misspelt_keys_find_their_neighbour() {
        for (wrong, right) in [
            ("bootstrap.server", "bootstrap.servers"),
            ("bootstrap_servers", "bootstrap.servers"),
            ("Client.Id", "client.id"),
            ("request.timeout", "request.timeout.ms"),
            ("sasl.jaas.confg", "sasl.jaas.config"),
            ("ack", "acks"),
            ("security.protcol", "security.protocol"),
        ] {
            assert_eq!(nearest(wrong), Some(right), "{wrong}");
        }
        assert_eq!(nearest("colour.of.the.sky"), None);
    }
}
