"""Records that are known again when they are read."""

import time

from confluent_kafka import Consumer, Producer, TopicPartition

from suite import check

READ_MAX_S = 60


def value(prefix, index):
    """Short ones, long ones and an empty one, beyond ASCII."""
    if index % 50 == 0:
        return f"{prefix}-{index} " + "long " * 1_000
    return f"{prefix}-{index} größer, 大きい"


def send(servers, topic, partitions, count, prefix, codec="none", part=None, pause_s=0):
    """Sends idempotently, `count` records, as many to each partition; with a pause after each part."""
    producer = Producer(
        {
            "bootstrap.servers": servers,
            "enable.idempotence": True,
            "acks": "all",
            "compression.type": codec,
            "linger.ms": 5,
        }
    )
    failures = []
    acked = []

    def on_delivery(error, message):
        if error is None:
            acked.append(message.offset())
        else:
            failures.append(error)

    for index in range(count):
        producer.produce(
            topic,
            value=value(prefix, index).encode(),
            key=f"{prefix}-{index}",
            headers={"codec": codec},
            partition=index % partitions,
            on_delivery=on_delivery,
        )
        producer.poll(0)
        if part and (index + 1) % part == 0:
            time.sleep(pause_s)
    left = producer.flush(60)
    check(not failures, f"{len(failures)} failed, first: {failures[:1]}")
    check(left == 0 and len(acked) == count, f"{len(acked)} of {count} acked")
    return f"{count} acked"


def expected(prefixes, count):
    """What was sent by all these calls, by key."""
    return {
        f"{prefix}-{index}": value(prefix, index) for prefix in prefixes for index in range(count)
    }


def read(servers, topic, partitions, wanted):
    """Reads all partitions from their start and compares: each record once, with its content."""
    consumer = Consumer(
        {"bootstrap.servers": servers, "group.id": "interop-python-none", "check.crcs": True}
    )
    consumer.assign([TopicPartition(topic, index, 0) for index in range(partitions)])
    compare(consumer, wanted)
    consumer.close()
    return f"{len(wanted)} records, contents equal"


def compare(consumer, wanted):
    """Takes records until all are there; more or other ones are an error."""
    left = dict(wanted)
    while left:
        message = consumer.poll(READ_MAX_S)
        check(message is not None, f"{len(left)} of {len(wanted)} records never came")
        check(message.error() is None, f"{message.error()}")
        key = message.key().decode()
        check(key in left, f"{key} came twice, or was never sent")
        check(message.value().decode() == left.pop(key), f"the value of {key} differs")
    message = consumer.poll(0.5)
    check(message is None, "more came than was sent")
