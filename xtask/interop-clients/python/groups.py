"""Consumers of a group that come and go while records are sent."""

import threading

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import NewTopic

from records import send
from suite import check, wait_until

PARTITIONS = 6
HALF = PARTITIONS // 2
# Sent before, while and after there are two members.
PART = 3_000


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
        self._commit()
        self.owned -= {partition.partition for partition in partitions}

    def _on_lost(self, _consumer, partitions):
        self.failure = AssertionError(f"partitions were lost: {partitions}")

    def _commit(self):
        if not self._pending:
            return
        offsets = [
            TopicPartition(self.topic, partition, offset)
            for partition, offset in self._pending.items()
        ]
        try:
            self.consumer.commit(offsets=offsets, asynchronous=False)
            self._pending.clear()
        except KafkaException as error:
            # The group is between two generations: it is asked again afterwards.
            if error.args[0].code() != KafkaError.REBALANCE_IN_PROGRESS:
                raise

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
    """A second member joins in the middle, and leaves again."""
    topic = f"interop-python-{assignor}"
    group = f"{topic}-group"
    settings = {"partition.assignment.strategy": assignor}
    create(admin, topic, factor)
    send(servers, topic, PARTITIONS, PART, "first")

    stays = Member(servers, group, topic, settings)
    wait_for("one member has read the first part", [stays], lambda: len(stays.seen) >= PART)
    guest = Member(servers, group, topic, settings)
    both = [stays, guest]
    wait_for(
        "both members have half of the partitions",
        both,
        lambda: len(stays.owned) == HALF and len(guest.owned) == HALF,
    )
    send(servers, topic, PARTITIONS, PART, "second")
    wait_for(
        "both have read the second part",
        both,
        lambda: len(stays.seen) + len(guest.seen) >= 2 * PART,
    )
    guest.end()
    wait_for(
        "one member has all partitions again", [stays], lambda: len(stays.owned) == PARTITIONS
    )
    send(servers, topic, PARTITIONS, PART, "third")
    wait_for(
        "it has read the third part",
        [stays],
        lambda: len(stays.seen) + len(guest.seen) >= 3 * PART,
    )
    stays.end()

    read = stays.seen + guest.seen
    check(guest.seen, "the second member has read nothing")
    check(len(read) == len(set(read)), f"{len(read) - len(set(read))} were read more than once")
    check(len(read) == 3 * PART, f"{len(read)} records read, {3 * PART} sent")
    return f"{len(read)} records, each once, {len(guest.seen)} by the second member"


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
