"""Consumers of a group that come and go while records are sent."""

import threading
import time

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import NewTopic

from records import send
from suite import check, wait_until

PARTITIONS = 6
HALF = PARTITIONS // 2
# Sent while members come and go, in small parts.
RECORDS = 9_000
PART = 60
PAUSE_S = 0.06
# The second member joins after so many, and stays for so many of its own.
ALONE = 1_000
TOGETHER = 500

# The group is between two generations: a commit is asked for again afterwards.
BETWEEN = (KafkaError.REBALANCE_IN_PROGRESS, KafkaError.ILLEGAL_GENERATION)


class Sender(threading.Thread):
    """Sends all records, a few at a time."""

    def __init__(self, servers, topic):
        super().__init__(daemon=True)
        self.arguments = (servers, topic, PARTITIONS, RECORDS, "trickle")
        self.failure = None
        self.start()

    def run(self):
        try:
            send(*self.arguments, part=PART, pause_s=PAUSE_S)
        except Exception as error:  # told by `check`, in the thread that waits
            self.failure = error

    def check(self):
        if self.failure:
            raise self.failure


class Member(threading.Thread):
    """A consumer that commits whatever it has read before it may lose the partition."""

    def __init__(self, servers, group, topic, settings):
        super().__init__(daemon=True)
        self.consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": group,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "heartbeat.interval.ms": 500,
                **settings,
            }
        )
        self.topic = topic
        self.owned = set()
        self.seen = []
        # How often partitions were given or taken.
        self.changes = 0
        self.failure = None
        self._pending = {}
        self._ending = threading.Event()
        self.start()

    def run(self):
        try:
            self.consumer.subscribe(
                [self.topic],
                on_assign=self._on_assign,
                on_revoke=self._on_revoke,
                on_lost=self._on_lost,
            )
            while not self._ending.is_set():
                message = self.consumer.poll(0.1)
                if message is None:
                    self._commit()
                    continue
                if message.error():
                    raise KafkaException(message.error())
                place = (message.partition(), message.offset())
                self.seen.append(place)
                self._pending[message.partition()] = message.offset() + 1
                if len(self.seen) % 100 == 0:
                    self._commit()
            self._commit()
            self.consumer.close()
        except Exception as error:  # told by `check`, in the thread that waits
            self.failure = error

    def _on_assign(self, _consumer, partitions):
        self.changes += 1
        self.owned |= {partition.partition for partition in partitions}

    def _on_revoke(self, _consumer, partitions):
        self.changes += 1
        end = time.monotonic() + 10
        while not self._commit() and time.monotonic() < end:
            time.sleep(0.02)
        self.owned -= {partition.partition for partition in partitions}

    def _on_lost(self, _consumer, partitions):
        self.failure = AssertionError(f"partitions were lost: {partitions}")

    def _commit(self):
        """True when nothing is left to commit."""
        if not self._pending:
            return True
        offsets = [
            TopicPartition(self.topic, partition, offset)
            for partition, offset in self._pending.items()
        ]
        try:
            self.consumer.commit(offsets=offsets, asynchronous=False)
            self._pending.clear()
        except KafkaException as error:
            if error.args[0].code() not in BETWEEN:
                raise
        return not self._pending

    def check(self):
        if self.failure:
            raise self.failure

    def end(self):
        """Commits, leaves the group and waits for the end."""
        self._ending.set()
        self.join(60)
        check(not self.is_alive(), "a member does not end")
        self.check()


def wait_for(what, members, holds):
    """Waits until `holds`, while all members are well."""

    def look():
        for member in members:
            member.check()
        return holds()

    wait_until(what, look)


def create(admin, topic, factor):
    new = NewTopic(topic, num_partitions=PARTITIONS, replication_factor=factor)
    admin.create_topics([new])[topic].result()


def rebalance(servers, admin, factor, assignor):
    """A second member joins in the middle, and leaves again, while records come."""
    topic = f"interop-python-{assignor}"
    group = f"{topic}-group"
    settings = {"partition.assignment.strategy": assignor}
    create(admin, topic, factor)

    sender = Sender(servers, topic)
    stays = Member(servers, group, topic, settings)
    wait_for("one member reads", [sender, stays], lambda: len(stays.seen) >= ALONE)
    guest = Member(servers, group, topic, settings)
    all_of_them = [sender, stays, guest]
    wait_for(
        "both members have half of the partitions",
        all_of_them,
        lambda: len(stays.owned) == HALF and len(guest.owned) == HALF,
    )
    wait_for("the second member reads", all_of_them, lambda: len(guest.seen) >= TOGETHER)
    guest.end()
    rest = [sender, stays]
    wait_for("one member has all partitions again", rest, lambda: len(stays.owned) == PARTITIONS)
    wait_for("all is read", rest, lambda: len(stays.seen) + len(guest.seen) >= RECORDS)
    stays.end()

    read = stays.seen + guest.seen
    check(len(read) == len(set(read)), f"{len(read) - len(set(read))} were read more than once")
    check(len(read) == RECORDS, f"{len(read)} records read, {RECORDS} sent")
    committed = committed_by(admin, group)
    check(committed == RECORDS, f"{committed} committed")
    return f"{len(read)} records, each once, {len(guest.seen)} by the second member"


def committed_by(admin, group):
    """The sum of a group's offsets."""
    wanted = [ConsumerGroupTopicPartitions(group)]
    found = admin.list_consumer_group_offsets(wanted)[group].result()
    return sum(place.offset for place in found.topic_partitions)


def static_member(servers, admin, factor):
    """A member with a name of its own ends and comes back: nobody else's partitions move."""
    topic = "interop-python-static"
    group = f"{topic}-group"
    create(admin, topic, factor)

    def member(instance):
        settings = {
            "group.instance.id": instance,
            "session.timeout.ms": 60_000,
            "partition.assignment.strategy": "range",
        }
        return Member(servers, group, topic, settings)

    stays, goes = member("one"), member("two")
    wait_for(
        "both members have half of the partitions",
        [stays, goes],
        lambda: len(stays.owned) == HALF and len(goes.owned) == HALF,
    )
    changes, gone = stays.changes, set(goes.owned)
    goes.end()
    back = member("two")
    wait_for("it has its partitions again", [stays, back], lambda: back.owned == gone)
    check(stays.changes == changes, "the other member's partitions were assigned anew")
    back.end()
    stays.end()
    return "the same partitions, and the other member noticed nothing"
