//! The options of all tools, as `--help` prints them: name, argument, the releases that have the option, its effect and
//! default. `options.rs` reads them.

use crate::options::{OptionTable, Style};

pub(crate) const PRODUCER: OptionTable = OptionTable {
    style: Style::Argparse,
    about: "Writes records to a topic and prints throughput and latency, as Kafka's ProducerPerformance does.",
    options: "\
--help                            print this list
--topic VALUE                     the topic (required)
--num-records VALUE               number of records (required)
--record-size VALUE               bytes per value; or use a payload option
--payload-file VALUE              0.10.2+: a file with values, which are chosen at random
--payload-delimiter VALUE         0.10.2+: the text that ends a value in the file; \\n
--payload-monotonic               3.9+: values are increasing numbers
--throughput VALUE                records per second, -1 for no limit (required)
--bootstrap-server VALUE          4.2+: the brokers
--producer-props VALUE ...        0.9+: settings, key=value ...
--command-property VALUE ...      4.2+: the same
--producer.config VALUE           0.10.1+: a file with settings
--command-config VALUE            4.2+: the same
--print-metrics                   0.11+: print a table of metrics at the end
--transactional-id VALUE          0.11+: the id of the producer's transactions
--transaction-duration-ms VALUE   0.11+: commit at this interval; since 4.0 3000 with an id
--warmup-records VALUE            4.2+: print the figures of the records after these in an extra line; 0
--reporting-interval VALUE        4.2+: milliseconds between lines; 5000",
};

/// It has no named options.
pub(crate) const PRODUCER_BY_POSITION: OptionTable = OptionTable {
    style: Style::Argparse,
    about: "",
    options: "",
};

pub(crate) const OLD_PRODUCER: OptionTable = OptionTable {
    style: Style::Jopt,
    about: "Writes records to a topic and prints throughput, as the producer tool of Kafka 0.8 did.",
    options: "\
--broker-list VALUE               the brokers (required)
--topics VALUE                    the topic (required; only one)
--messages VALUE                  number of records (required here)
--message-size VALUE              bytes per value; 100
--batch-size VALUE                records per batch; 200
--threads VALUE                   number of producers; 1
--request-num-acks VALUE          acks; -1
--request-timeout-ms VALUE        request.timeout.ms; 3000
--producer-num-retries VALUE      retries; 3
--producer-retry-backoff-ms VALUE retry.backoff.ms; 100
--compression-codec VALUE         0 none, 1 gzip, 2 snappy, 3 lz4
--sync                            one record at a time
--new-producer                    no effect: there is one producer
--vary-message-size               sizes from 1 to --message-size
--initial-message-id VALUE        values contain their number, starting from this one
--message-send-gap-ms VALUE       pause of each thread between two records; 0
--csv-reporter-enabled            no effect
--metrics-dir VALUE               no effect
--date-format VALUE               a pattern of Java's SimpleDateFormat
--reporting-interval VALUE        no effect, as in Kafka's tool
--show-detailed-stats             no effect, as in Kafka's tool
--hide-header                     print no header
--help                            print this list",
};

pub(crate) const CONSUMER: OptionTable = OptionTable {
    style: Style::Jopt,
    about: "Reads a topic and prints throughput, as Kafka's ConsumerPerformance does.",
    options: "\
--topic VALUE                     the topic (or --include)
--include VALUE                   4.2+: a regular expression; all topics that match are read together
--num-records VALUE               4.2+: number of records (or --messages)
--messages VALUE                  the same, before 4.2
--bootstrap-server VALUE          2.5+: the brokers
--broker-list VALUE               0.9 to 3.9: the brokers
--zookeeper VALUE                 to 1.1: use the brokers in KGAUGE_BOOTSTRAP_SERVERS
--server VALUE                    simple consumer: a broker, kafka://host:port
--partition VALUE                 simple consumer: no effect, all partitions are read
--clientId VALUE                  simple consumer: client.id
--group VALUE                     the group; default: a new one that commits nothing
--fetch-size VALUE                max.partition.fetch.bytes; 1048576
--socket-buffer-size VALUE        receive.buffer.bytes; 2097152
--from-latest                     start at the end if the group has no offset
--timeout [VALUE]                 2.0+: give up after this time without a record, in milliseconds; 10000
--threads VALUE                   with --zookeeper: number of consumers, 10; otherwise no effect, as since 3.0
--num-fetch-threads VALUE         no effect
--new-consumer                    no effect
--consumer.config VALUE           0.9+: a file with settings
--command-config VALUE            4.2+: the same
--command-property VALUE          4.2+: a setting, key=value; can be repeated
--reporting-interval VALUE        milliseconds between rows (before 0.10.1 records); 5000
--show-detailed-stats             print a row per interval instead of one at the end
--date-format VALUE               a pattern of Java's SimpleDateFormat
--hide-header                     print no header
--print-metrics                   0.11+: print a table of metrics at the end
--message-size VALUE              to 0.11: no effect, as in Kafka's tool
--batch-size VALUE                to 0.11: no effect, as in Kafka's tool
--compression-codec VALUE         to 0.11: no effect, as in Kafka's tool
--help                            print this list
--version                         print the release whose output format is used",
};

pub(crate) const END_TO_END: OptionTable = OptionTable {
    style: Style::Jopt,
    about: "Sends one record at a time, reads it back and prints the latency, as Kafka's EndToEndLatency does.",
    options: "\
--bootstrap-server VALUE          4.2+: the brokers (required)
--topic VALUE                     4.2+: the topic (required)
--num-records VALUE               4.2+: number of records (required)
--producer-acks VALUE             4.2+: 1 or all (required)
--record-size VALUE               4.2+: bytes per value (required)
--command-config [VALUE]          4.2+: a file with client settings
--record-key-size [VALUE]         4.2+: bytes per key; 0: no key
--num-headers [VALUE]             4.2+: headers per record; 0
--record-header-key-size [VALUE]  4.2+: bytes per header name; 0
--record-header-size [VALUE]      4.2+: bytes per header value, -1 for null; 0
--help                            print this list
--version                         print the release whose output format is used",
};

pub(crate) const TOPICS: OptionTable = OptionTable {
    style: Style::Jopt,
    about: "Creates, deletes, describes, lists and changes topics, as Kafka's TopicCommand does.",
    options: "\
--create                          create a topic
--delete                          delete topics
--describe                        describe topics
--list                            list topics
--alter                           change the number of partitions (with --zookeeper also settings)
--topic VALUE                     its name, or a regular expression except with --create
--topic-id VALUE                  3.2+: describe the topic with this id
--bootstrap-server VALUE          2.2+: the brokers
--zookeeper VALUE                 to 2.8: use the brokers in KGAUGE_BOOTSTRAP_SERVERS
--command-config VALUE            2.2+: a file with client settings
--partitions VALUE                number of partitions
--replication-factor VALUE        replicas per partition
--replica-assignment VALUE        the brokers of each partition: 1:2,2:3
--config VALUE                    a setting of the topic, name=value; can be repeated
--delete-config VALUE             with --alter --zookeeper: reset a setting to its default
--if-not-exists                   create: succeed if the topic already exists
--if-exists                       alter, delete, describe: succeed if the topic does not exist
--exclude-internal                describe, list: without Kafka's own topics
--topics-with-overrides           describe: only topics that override settings
--under-replicated-partitions     describe: only with replicas out of sync
--unavailable-partitions          describe: only without a leader
--under-min-isr-partitions        describe: only with fewer in-sync replicas than min.insync.replicas
--at-min-isr-partitions           describe: only with exactly min.insync.replicas in-sync replicas
--partition-size-limit-per-response VALUE  3.7+: no effect
--disable-rack-aware              to 2.8: no effect
--force                           to 2.8: no effect
--help                            print this list
--version                         print the release whose output format is used",
};

pub(crate) const VERIFIABLE_PRODUCER: OptionTable = OptionTable {
    style: Style::Argparse,
    about: "Writes increasing numbers to a topic and prints JSON for each, as Kafka's VerifiableProducer does.",
    options: "\
--help                            print this list
--topic VALUE                     the topic (required)
--bootstrap-server VALUE          2.5+: the brokers (or --broker-list)
--broker-list VALUE               to 3.9: the brokers
--max-messages VALUE              number of records, -1: until it is stopped; -1
--throughput VALUE                records per second, -1 for no limit; -1
--acks VALUE                      -1 or 1; -1
--producer.config VALUE           a file with settings
--command-config VALUE            4.2+: the same
--message-create-time VALUE       0.11+: timestamp of the first record, in ms since 1970; -1: now
--value-prefix VALUE              0.10+: a number in front of each value, separated by a dot
--repeating-keys VALUE            1.1+: use the keys 0, 1, ... up to this number in turn",
};

pub(crate) const VERIFIABLE_CONSUMER: OptionTable = OptionTable {
    style: Style::Argparse,
    about: "Reads a topic as a member of a group and prints JSON events, as Kafka's VerifiableConsumer does.",
    options: "\
--help                            print this list
--topic VALUE                     the topic (required)
--group-id VALUE                  the group (required)
--bootstrap-server VALUE          2.5+: the brokers (or --broker-list)
--broker-list VALUE               to 3.9: the brokers
--group-instance-id VALUE         2.3+: be a static member
--group-protocol VALUE            3.7+: classic or consumer; classic
--group-remote-assignor VALUE     3.7+: the broker's assignor, with the consumer protocol
--max-messages VALUE              number of records, -1: until it is stopped; -1
--session-timeout VALUE           milliseconds; 30000
--verbose                         print a line per record
--enable-autocommit               commit periodically instead of after every response
--reset-policy VALUE              earliest, latest or none; earliest
--assignment-strategy VALUE       RangeAssignor, RoundRobinAssignor, StickyAssignor or CooperativeStickyAssignor
--consumer.config VALUE           a file with settings
--command-config VALUE            4.2+: the same",
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::OWN;

    #[test]
    fn every_line_of_a_table_is_an_option_with_its_effect() {
        for table in [
            PRODUCER,
            OLD_PRODUCER,
            CONSUMER,
            END_TO_END,
            TOPICS,
            VERIFIABLE_PRODUCER,
            VERIFIABLE_CONSUMER,
        ] {
            let lines = table.options.lines().chain(OWN.lines());
            assert_eq!(lines.count(), table.all().count(), "{}", table.about);
            for option in table.all() {
                assert!(!option.name.contains(['=', ' ', '[']), "{}", option.name);
            }
        }
    }
}
