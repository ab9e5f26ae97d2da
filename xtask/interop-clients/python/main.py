"""confluent-kafka-python, which is librdkafka, against a cluster."""

import argparse
import time

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    ElectionType,
    KafkaError,
    KafkaException,
    Producer,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from groups import Member, rebalance, static_member
from records import compare, expected, read, send
from suite import WAIT_MAX_S, Suite, check, wait_until

TOPIC = "interop-python"
GROUP = "interop-python-group"
PARTITIONS_FIRST = 3
PARTITIONS = 6
RECORDS = 2_000
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
RETENTION = "retention.ms"
LOG_RETENTION = "log.retention.ms"
# Far below the 15 to 60 s that librdkafka waits when it takes a refusal for a passing one.
REFUSAL_MAX_S = 10
SEGMENT_DEFAULT = "1073741824"


class Client:
    def __init__(self, servers, factor):
        self.servers = servers
        self.factor = factor
        self.admin = AdminClient({"bootstrap.servers": servers})
        self.sent = []

    # Topics

    def describe_cluster(self):
        cluster = self.admin.describe_cluster().result()
        wanted = len(self.servers.split(","))
        check(len(cluster.nodes) == wanted, f"{len(cluster.nodes)} nodes, not {wanted}")
        check(cluster.cluster_id and cluster.controller, "no cluster id or no controller")
        return f"{wanted} nodes, controller {cluster.controller.id}"

    def create_topic(self):
        def create():
            config = {RETENTION: "7200000"}
            new = NewTopic(TOPIC, PARTITIONS_FIRST, self.factor, config=config)
            self.admin.create_topics([new])[TOPIC].result()

        create()
        try:
            create()
        except KafkaException as error:
            code = error.args[0].code()
            check(code == KafkaError.TOPIC_ALREADY_EXISTS, f"a second time: {error}")
        else:
            check(False, "a second time is not refused")
        return f"{PARTITIONS_FIRST} partitions; a second time is refused"

    def list_topics(self):
        topics = self.admin.list_topics(timeout=30).topics
        check(TOPIC in topics, f"{TOPIC} is missing")
        return f"{TOPIC} among {len(topics)}"

    def describe_topic(self):
        found = self.admin.describe_topics(TopicCollection([TOPIC]))[TOPIC].result()
        check(len(found.partitions) == PARTITIONS_FIRST, f"{len(found.partitions)} partitions")
        for partition in found.partitions:
            check(partition.leader is not None, f"partition {partition.id} has no leader")
            check(len(partition.replicas) == self.factor, f"replicas {partition.replicas}")
            check(len(partition.isr) == self.factor, f"in sync are {partition.isr}")
        return f"{PARTITIONS_FIRST} partitions, {self.factor} replicas, all in sync"

    def add_partitions(self):
        self.admin.create_partitions([NewPartitions(TOPIC, PARTITIONS)])[TOPIC].result()
        wait_until(
            "the new partitions are told",
            lambda: len(self.admin.list_topics(TOPIC, 30).topics[TOPIC].partitions) == PARTITIONS,
        )
        return f"{PARTITIONS} partitions"

    def delete_topic(self):
        # Not by a client that knows the topic: it would ask for it, and so create it, again.
        other = AdminClient({"bootstrap.servers": self.servers})
        other.delete_topics([TOPIC])[TOPIC].result()
        wait_until(
            "the topic is gone", lambda: TOPIC not in other.list_topics(timeout=30).topics
        )
        return "the topic is gone"

    # Settings

    def _described(self, resource):
        return self.admin.describe_configs([resource])[resource].result()

    def _alter(self, kind, name, setting, value):
        operation = AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
        entry = ConfigEntry(setting, value, incremental_operation=operation)
        resource = ConfigResource(kind, name, incremental_configs=[entry])
        self.admin.incremental_alter_configs([resource])[resource].result()

    def _becomes(self, resource, setting, value):
        """A node may hear of a change a little later than the controller."""
        wait_until(
            f"{setting} is {value}",
            lambda: self._described(resource)[setting].value == value,
        )

    def topic_configs(self):
        found = self._described(ConfigResource(ResourceType.TOPIC, TOPIC))
        check(found[RETENTION].value == "7200000", f"{RETENTION} is {found[RETENTION].value}")
        return f"{len(found)} settings"

    def alter_topic_config(self):
        self._alter(ResourceType.TOPIC, TOPIC, RETENTION, "3600000")
        self._becomes(ConfigResource(ResourceType.TOPIC, TOPIC), RETENTION, "3600000")
        return f"{RETENTION} set and seen"

    def _node(self):
        return str(self.admin.describe_cluster().result().nodes[0].id)

    def broker_configs(self):
        found = self._described(ConfigResource(ResourceType.BROKER, self._node()))
        segment = found["log.segment.bytes"].value
        check(segment == SEGMENT_DEFAULT, f"log.segment.bytes is {segment}")
        return f"{len(found)} settings"

    def alter_broker_config(self):
        node = self._node()
        resource = ConfigResource(ResourceType.BROKER, node)
        self._alter(ResourceType.BROKER, node, LOG_RETENTION, "3600000")
        self._becomes(resource, LOG_RETENTION, "3600000")
        self._alter(ResourceType.BROKER, node, LOG_RETENTION, None)
        self._becomes(resource, LOG_RETENTION, None)
        return "set, seen, deleted"

    # Records

    def produce(self, codec):
        said = send(self.servers, TOPIC, PARTITIONS, RECORDS, codec, codec)
        self.sent.append(codec)
        return said

    def consume(self):
        return read(self.servers, TOPIC, PARTITIONS, expected(self.sent, RECORDS))

    def consume_by_group(self):
        consumer = Consumer(
            {
                "bootstrap.servers": self.servers,
                "group.id": GROUP,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
            }
        )
        consumer.subscribe([TOPIC])
        wanted = expected(self.sent, RECORDS)
        compare(consumer, wanted)
        consumer.commit(asynchronous=False)
        places = [TopicPartition(TOPIC, index) for index in range(PARTITIONS)]
        committed = sum(place.offset for place in consumer.committed(places, 30))
        consumer.close()
        check(committed == len(wanted), f"{committed} committed")
        return f"{len(wanted)} records, contents equal, {committed} committed"

    def list_offsets(self):
        def ends(spec):
            wanted = {TopicPartition(TOPIC, index): spec for index in range(PARTITIONS)}
            return [future.result().offset for future in self.admin.list_offsets(wanted).values()]

        first, last = sum(ends(OffsetSpec.earliest())), sum(ends(OffsetSpec.latest()))
        total = len(self.sent) * RECORDS
        check((first, last) == (0, total), f"from {first} to {last}, not from 0 to {total}")
        newest = ends(OffsetSpec.max_timestamp())
        check(all(offset >= 0 for offset in newest), f"by the newest timestamp: {newest}")
        of_time = ends(OffsetSpec.for_timestamp(1))
        check(of_time == [0] * PARTITIONS, f"by a time before all records: {of_time}")
        return f"{first} to {last}, by time and by the newest time"

    def delete_records(self):
        place = TopicPartition(TOPIC, 0, 10)
        low = self.admin.delete_records([place])[place].result().low_watermark
        check(low == 10, f"the low watermark is {low}")
        return f"the low watermark is {low}"

    # Groups

    def list_groups(self):
        groups = self.admin.list_consumer_groups().result()
        check(not groups.errors, f"{groups.errors}")
        names = {group.group_id: group.state.name for group in groups.valid}
        check(names.get(GROUP) == "EMPTY", f"{GROUP} is {names.get(GROUP)}")
        return f"{GROUP} among {len(names)}"

    def describe_group(self):
        member = Member(self.servers, GROUP, TOPIC, {"client.id": "described"})
        wait_until("the member has all partitions", lambda: len(member.owned) == PARTITIONS)
        found = self.admin.describe_consumer_groups([GROUP])[GROUP].result()
        member.end()
        check(found.state.name == "STABLE", f"it is {found.state.name}")
        check(len(found.members) == 1, f"{len(found.members)} members")
        check(found.members[0].client_id == "described", f"it is {found.members[0].client_id}")
        count = len(found.members[0].assignment.topic_partitions)
        check(count == PARTITIONS, f"its member has {count} partitions")
        return f"stable, one member with {count} partitions"

    def _group_offsets(self):
        wanted = [ConsumerGroupTopicPartitions(GROUP)]
        found = self.admin.list_consumer_group_offsets(wanted)[GROUP].result()
        return [place.offset for place in found.topic_partitions]

    def group_offsets(self):
        offsets = self._group_offsets()
        total = len(self.sent) * RECORDS
        check(sum(offsets) == total, f"they add up to {sum(offsets)}, not {total}")
        return f"{sum(offsets)} in {len(offsets)} partitions"

    def reset_group_offsets(self):
        places = [TopicPartition(TOPIC, index, 7) for index in range(PARTITIONS)]
        wanted = [ConsumerGroupTopicPartitions(GROUP, places)]
        self.admin.alter_consumer_group_offsets(wanted)[GROUP].result()
        offsets = self._group_offsets()
        check(offsets == [7] * PARTITIONS, f"they are {offsets}")
        return "all at 7"

    def delete_group(self):
        self.admin.delete_consumer_groups([GROUP])[GROUP].result()
        groups = self.admin.list_consumer_groups().result().valid
        check(all(group.group_id != GROUP for group in groups), "it is still there")
        return "the group is gone"

    def transactions(self):
        """Librdkafka tries again until its timeout on most refusals, so the time counts."""
        config = {"bootstrap.servers": self.servers, "transactional.id": TOPIC}
        start = time.monotonic()
        try:
            Producer(config).init_transactions(WAIT_MAX_S)
            return "served"
        except KafkaException as refusal:
            took = time.monotonic() - start
            check(refusal.args[0].fatal(), f"not refused for good: {refusal}")
            check(took < REFUSAL_MAX_S, f"refused after {took:.1f} s: {refusal}")
            return f"refused after {took:.1f} s"

    def consumer_protocol(self):
        config = {
            "bootstrap.servers": self.servers,
            "group.id": GROUP + "-new-protocol",
            "group.protocol": "consumer",
            "auto.offset.reset": "earliest",
        }
        consumer = Consumer(config)
        consumer.subscribe([TOPIC])
        start = time.monotonic()
        try:
            message = wait_until("a record or a refusal", lambda: consumer.poll(1))
        finally:
            consumer.close()
        if message.error() is None:
            return "served"
        took = time.monotonic() - start
        check(message.error().code() == KafkaError._FATAL, f"not refused for good: {message.error()}")
        check(took < REFUSAL_MAX_S, f"refused after {took:.1f} s: {message.error()}")
        return f"refused after {took:.1f} s"

    def elect_leaders(self):
        places = [TopicPartition(TOPIC, index) for index in range(PARTITIONS)]
        results = self.admin.elect_leaders(ElectionType.PREFERRED, places).result()
        needless = KafkaError.ELECTION_NOT_NEEDED
        for place, error in results.items():
            check(error is None or error.code() == needless, f"{place}: {error}")
        check(len(results) == PARTITIONS, f"{len(results)} results")
        return f"{len(results)} partitions have their preferred leaders"


def run(suite, client):
    suite.cannot("API versions", "librdkafka asks by itself and shows no answer")
    suite.act("describe the cluster", client.describe_cluster)
    suite.act("create a topic", client.create_topic)
    suite.act("list topics", client.list_topics)
    suite.act("describe a topic", client.describe_topic)
    suite.act("add partitions", client.add_partitions)
    suite.act("describe a topic's settings", client.topic_configs)
    suite.act("alter a topic's setting", client.alter_topic_config)
    suite.act("describe a broker's settings", client.broker_configs)
    suite.act("alter a broker's setting", client.alter_broker_config)
    suite.cannot("alter a default of all brokers", "the client takes no resource without a name")
    for codec in CODECS:
        name = "produce, idempotent" if codec == "none" else f"produce, {codec}"
        suite.act(name, lambda codec=codec: client.produce(codec))
    suite.act("consume", client.consume)
    suite.act("consume by group", client.consume_by_group)
    for name, assignor in [("eager", "range"), ("cooperative", "cooperative-sticky")]:
        suite.act(
            f"rebalance, {name}",
            lambda assignor=assignor: rebalance(
                client.servers, client.admin, client.factor, assignor
            ),
        )
    suite.act(
        "static member", lambda: static_member(client.servers, client.admin, client.factor)
    )
    suite.act("transactions, or a refusal at once", client.transactions)
    suite.act("group.protocol=consumer, or a refusal at once", client.consumer_protocol)
    suite.act("list groups", client.list_groups)
    suite.act("describe a group", client.describe_group)
    suite.act("list a group's offsets", client.group_offsets)
    suite.act("reset a group's offsets", client.reset_group_offsets)
    suite.cannot("delete a group's offsets", "the client has no call for it")
    suite.act("delete a group", client.delete_group)
    suite.act("list offsets", client.list_offsets)
    suite.act("delete records", client.delete_records)
    suite.cannot("log directories", "the client has no call for it")
    if client.factor > 1:
        suite.act("elect leaders", client.elect_leaders)
    suite.cannot("reassign partitions", "the client has no call for it")
    suite.act("delete a topic", client.delete_topic)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--replication-factor", type=int, default=1)
    given = parser.parse_args()
    suite = Suite()
    run(suite, Client(given.bootstrap, given.replication_factor))
    suite.exit()


if __name__ == "__main__":
    main()
