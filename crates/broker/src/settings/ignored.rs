//! Broker configurations of Apache Kafka 4.3.1, and a few of older releases, that change nothing on the
//! embedded cluster: threads, purgatories, buffers of sockets, roles, and parts of Kafka that it does
//! not have.
//!
//! A cluster to work with takes a server.properties with them and names what it ignores; a run refuses
//! them, so that nobody measures a setting that did nothing. What a user relies on (security,
//! authorizers, policies) is not here.

/// Whether Kafka knows this broker configuration and the embedded cluster has no use for it.
#[must_use]
pub fn is_ignored_node_config(name: &str) -> bool {
    IGNORED.binary_search(&name).is_ok()
}

#[rustfmt::skip]
const IGNORED: &[&str] = &[
    "add.partitions.to.txn.retry.backoff.max.ms", "add.partitions.to.txn.retry.backoff.ms",
    "alter.log.dirs.replication.quota.window.num",
    "alter.log.dirs.replication.quota.window.size.seconds", "background.threads", "broker.id",
    "control.plane.listener.name", "controlled.shutdown.enable", "controller.listener.names",
    "controller.quorum.append.linger.ms", "controller.quorum.auto.join.enable",
    "controller.quorum.bootstrap.servers", "controller.quorum.election.backoff.max.ms",
    "controller.quorum.election.timeout.ms", "controller.quorum.fetch.max.bytes",
    "controller.quorum.fetch.snapshot.max.bytes", "controller.quorum.fetch.timeout.ms",
    "controller.quorum.request.timeout.ms", "controller.quorum.retry.backoff.ms",
    "controller.quorum.voters", "controller.quota.window.num",
    "controller.quota.window.size.seconds", "controller.socket.timeout.ms", "cordoned.log.dirs",
    "delete.records.purgatory.purge.interval.requests", "early.start.listeners",
    "fetch.purgatory.purge.interval.requests", "follower.fetch.last.tiered.offset.enable",
    "group.consumer.assignment.interval.ms", "group.consumer.assignors",
    "group.consumer.heartbeat.interval.ms", "group.consumer.max.assignment.interval.ms",
    "group.consumer.max.heartbeat.interval.ms", "group.consumer.max.session.timeout.ms",
    "group.consumer.max.size", "group.consumer.migration.policy",
    "group.consumer.min.assignment.interval.ms", "group.consumer.min.heartbeat.interval.ms",
    "group.consumer.min.session.timeout.ms", "group.consumer.session.timeout.ms",
    "group.coordinator.append.linger.ms", "group.coordinator.background.threads",
    "group.coordinator.cached.buffer.max.bytes", "group.coordinator.rebalance.protocols",
    "group.coordinator.threads", "group.share.assignment.interval.ms", "group.share.assignors",
    "group.share.delivery.count.limit", "group.share.heartbeat.interval.ms",
    "group.share.max.assignment.interval.ms", "group.share.max.delivery.count.limit",
    "group.share.max.heartbeat.interval.ms", "group.share.max.partition.max.record.locks",
    "group.share.max.record.lock.duration.ms", "group.share.max.session.timeout.ms",
    "group.share.max.share.sessions", "group.share.max.size",
    "group.share.min.assignment.interval.ms", "group.share.min.delivery.count.limit",
    "group.share.min.heartbeat.interval.ms", "group.share.min.partition.max.record.locks",
    "group.share.min.record.lock.duration.ms", "group.share.min.session.timeout.ms",
    "group.share.partition.max.record.locks", "group.share.record.lock.duration.ms",
    "group.share.session.timeout.ms", "group.streams.assignment.interval.ms",
    "group.streams.heartbeat.interval.ms", "group.streams.initial.rebalance.delay.ms",
    "group.streams.max.assignment.interval.ms", "group.streams.max.heartbeat.interval.ms",
    "group.streams.max.session.timeout.ms", "group.streams.max.size",
    "group.streams.max.standby.replicas", "group.streams.min.assignment.interval.ms",
    "group.streams.min.heartbeat.interval.ms", "group.streams.min.session.timeout.ms",
    "group.streams.num.standby.replicas", "group.streams.session.timeout.ms",
    "initial.broker.registration.timeout.ms", "inter.broker.listener.name",
    "inter.broker.protocol.version", "kafka.metrics.polling.interval.secs",
    "kafka.metrics.reporters", "listener.security.protocol.map", "log.cleaner.backoff.ms",
    "log.cleaner.dedupe.buffer.size", "log.cleaner.enable", "log.cleaner.io.buffer.load.factor",
    "log.cleaner.io.buffer.size", "log.cleaner.io.max.bytes.per.second", "log.cleaner.threads",
    "log.dir", "log.dir.failure.timeout.ms", "log.dirs", "log.flush.offset.checkpoint.interval.ms",
    "log.flush.scheduler.interval.ms", "log.flush.start.offset.checkpoint.interval.ms",
    "log.message.format.version", "max.connection.creation.rate", "max.connections.per.ip",
    "max.connections.per.ip.overrides", "max.incremental.fetch.session.cache.slots",
    "max.request.partition.size.limit", "metadata.log.dir",
    "metadata.log.max.record.bytes.between.snapshots", "metadata.log.max.snapshot.interval.ms",
    "metadata.log.segment.bytes", "metadata.log.segment.ms", "metadata.max.idle.interval.ms",
    "metadata.max.retention.bytes", "metadata.max.retention.ms", "metric.reporters",
    "metrics.num.samples", "metrics.recording.level", "metrics.sample.window.ms", "node.id",
    "num.io.threads", "num.network.threads", "num.recovery.threads.per.data.dir",
    "num.replica.alter.log.dirs.threads", "num.replica.fetchers", "offsets.commit.timeout.ms",
    "offsets.load.buffer.size", "offsets.topic.compression.codec", "offsets.topic.segment.bytes",
    "process.roles", "producer.purgatory.purge.interval.requests", "queued.max.request.bytes",
    "queued.max.requests", "quota.window.num", "quota.window.size.seconds",
    "remote.fetch.max.wait.ms", "remote.list.offsets.request.timeout.ms",
    "remote.log.index.file.cache.total.size.bytes", "remote.log.manager.copier.thread.pool.size",
    "remote.log.manager.copy.max.bytes.per.second", "remote.log.manager.copy.quota.window.num",
    "remote.log.manager.copy.quota.window.size.seconds",
    "remote.log.manager.expiration.thread.pool.size",
    "remote.log.manager.fetch.max.bytes.per.second", "remote.log.manager.fetch.quota.window.num",
    "remote.log.manager.fetch.quota.window.size.seconds",
    "remote.log.manager.follower.thread.pool.size", "remote.log.manager.task.interval.ms",
    "remote.log.manager.thread.pool.size", "remote.log.metadata.custom.metadata.max.bytes",
    "remote.log.metadata.manager.class.name", "remote.log.metadata.manager.class.path",
    "remote.log.metadata.manager.impl.prefix", "remote.log.metadata.manager.listener.name",
    "remote.log.reader.max.pending.tasks", "remote.log.reader.threads",
    "remote.log.storage.manager.class.name", "remote.log.storage.manager.class.path",
    "remote.log.storage.manager.impl.prefix", "remote.log.storage.system.enable",
    "replica.fetch.min.bytes", "replica.socket.receive.buffer.bytes", "replica.socket.timeout.ms",
    "replication.quota.window.num", "replication.quota.window.size.seconds", "request.timeout.ms",
    "security.inter.broker.protocol", "share.coordinator.append.linger.ms",
    "share.coordinator.cached.buffer.max.bytes", "share.coordinator.load.buffer.size",
    "share.coordinator.snapshot.update.records.per.snapshot",
    "share.coordinator.state.topic.compression.codec", "share.coordinator.state.topic.min.isr",
    "share.coordinator.state.topic.num.partitions",
    "share.coordinator.state.topic.replication.factor",
    "share.coordinator.state.topic.segment.bytes", "share.coordinator.threads",
    "share.coordinator.write.timeout.ms", "share.fetch.purgatory.purge.interval.requests",
    "socket.connection.setup.timeout.max.ms", "socket.connection.setup.timeout.ms",
    "socket.listen.backlog.size", "socket.receive.buffer.bytes", "socket.send.buffer.bytes",
    "telemetry.max.bytes", "transaction.abort.timed.out.transaction.cleanup.interval.ms",
    "transaction.max.timeout.ms", "transaction.partition.verification.enable",
    "transaction.remove.expired.transaction.cleanup.interval.ms",
    "transaction.state.log.load.buffer.size", "transaction.state.log.min.isr",
    "transaction.state.log.num.partitions", "transaction.state.log.replication.factor",
    "transaction.state.log.segment.bytes", "transaction.two.phase.commit.enable",
    "transactional.id.expiration.ms", "zookeeper.connect", "zookeeper.connection.timeout.ms",
    "zookeeper.session.timeout.ms",
];

#[cfg(test)]
mod tests {
    use super::{IGNORED, is_ignored_node_config};
    use crate::settings::node_definition;

    #[test]
    fn ignored_names_are_in_order_and_have_no_definition() {
        assert!(IGNORED.is_sorted());
        for name in IGNORED {
            assert!(node_definition(name).is_none(), "{name}");
        }
        assert!(is_ignored_node_config("num.io.threads"));
        assert!(!is_ignored_node_config("authorizer.class.name"));
        assert!(!is_ignored_node_config("num.io.thread"));
    }
}
