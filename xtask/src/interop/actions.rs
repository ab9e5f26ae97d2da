//! The names in the suite's table: clients are its columns, actions its rows.

use clap::ValueEnum;

/// Replicas of every topic that these checks make on three nodes.
pub(super) const REPLICATION_FACTOR: &str = "3";

/// A client, as the table has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InteropClient {
    Kafka,
    Kcat,
    Python,
    Go,
    JavaScript,
}

impl InteropClient {
    pub(super) const ALL: [InteropClient; 5] = [
        InteropClient::Kafka,
        InteropClient::Kcat,
        InteropClient::Python,
        InteropClient::Go,
        InteropClient::JavaScript,
    ];

    /// The head of its column.
    pub(super) fn words(self) -> &'static str {
        match self {
            InteropClient::Kafka => "Kafka's tools",
            InteropClient::Kcat => "kcat",
            InteropClient::Python => "confluent-kafka-python",
            InteropClient::Go => "franz-go",
            InteropClient::JavaScript => "@platformatic/kafka",
        }
    }

    /// What `--client` calls it.
    pub(super) fn short(self) -> &'static str {
        match self {
            InteropClient::Kafka => "kafka-tools",
            InteropClient::Kcat => "kcat",
            InteropClient::Python => "python",
            InteropClient::Go => "go",
            InteropClient::JavaScript => "javascript",
        }
    }

    /// The client that `--client` means.
    pub(super) fn named(word: &str) -> Option<InteropClient> {
        let mut all = InteropClient::ALL.into_iter();
        all.find(|column| column.short() == word)
    }

    /// Why this client is not asked to do that; none when it should have been.
    pub(super) fn lacks(self, action: Action) -> Option<&'static str> {
        let is_security = matches!(
            action,
            Action::Tls
                | Action::MutualTls
                | Action::SaslPlain
                | Action::SaslScram
                | Action::SaslScramTls
        );
        match (self, action) {
            (InteropClient::Kafka | InteropClient::Kcat, _) if is_security => None,
            (_, _) if is_security => Some("judged by Kafka's tools and kcat"),
            (
                InteropClient::Python | InteropClient::Go | InteropClient::JavaScript,
                Action::Quotas,
            ) => Some("judged by Kafka's tools"),
            (
                InteropClient::Kafka
                | InteropClient::Kcat
                | InteropClient::Go
                | InteropClient::JavaScript,
                Action::Transactions | Action::ConsumerProtocol,
            ) => Some("judged by confluent-kafka-python, which waits longest"),
            (InteropClient::Kcat, Action::RebalanceCooperative | Action::StaticMember) => {
                Some("librdkafka is judged through confluent-kafka-python")
            }
            (InteropClient::Kcat, _) => Some("kcat has no such call"),
            (
                InteropClient::Python | InteropClient::Go | InteropClient::JavaScript,
                Action::EndToEnd,
            ) => Some("a measurement of Kafka's own tool"),
            _ => None,
        }
    }
}

/// What a client does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Action {
    ApiVersions,
    DescribeCluster,
    CreateTopic,
    ListTopics,
    DescribeTopic,
    AddPartitions,
    DeleteTopic,
    TopicConfigs,
    AlterTopicConfig,
    BrokerConfigs,
    AlterBrokerConfig,
    AlterDefaultConfig,
    Produce,
    ProduceGzip,
    ProduceSnappy,
    ProduceLz4,
    ProduceZstd,
    Consume,
    ConsumeByGroup,
    Rebalance,
    RebalanceCooperative,
    StaticMember,
    ListGroups,
    DescribeGroup,
    GroupOffsets,
    ResetGroupOffsets,
    DeleteGroupOffsets,
    DeleteGroup,
    ListOffsets,
    DeleteRecords,
    LogDirs,
    EndToEnd,
    ElectLeaders,
    Reassign,
    Quotas,
    Transactions,
    ConsumerProtocol,
    Tls,
    MutualTls,
    SaslPlain,
    SaslScram,
    SaslScramTls,
}

impl Action {
    /// All of them, in the table's order.
    pub(super) fn all() -> impl Iterator<Item = Action> {
        Action::value_variants().iter().copied()
    }

    /// Its name, in the table and in what the client programs print.
    pub(super) fn words(self) -> &'static str {
        match self {
            Action::ApiVersions => "API versions",
            Action::DescribeCluster => "describe the cluster",
            Action::CreateTopic => "create a topic",
            Action::ListTopics => "list topics",
            Action::DescribeTopic => "describe a topic",
            Action::AddPartitions => "add partitions",
            Action::DeleteTopic => "delete a topic",
            Action::TopicConfigs => "describe a topic's settings",
            Action::AlterTopicConfig => "alter a topic's setting",
            Action::BrokerConfigs => "describe a broker's settings",
            Action::AlterBrokerConfig => "alter a broker's setting",
            Action::AlterDefaultConfig => "alter a default of all brokers",
            Action::Produce => "produce, idempotent",
            Action::ProduceGzip => "produce, gzip",
            Action::ProduceSnappy => "produce, snappy",
            Action::ProduceLz4 => "produce, lz4",
            Action::ProduceZstd => "produce, zstd",
            Action::Consume => "consume",
            Action::ConsumeByGroup => "consume by group",
            Action::Rebalance => "rebalance, eager",
            Action::RebalanceCooperative => "rebalance, cooperative",
            Action::StaticMember => "static member",
            Action::ListGroups => "list groups",
            Action::DescribeGroup => "describe a group",
            Action::GroupOffsets => "list a group's offsets",
            Action::ResetGroupOffsets => "reset a group's offsets",
            Action::DeleteGroupOffsets => "delete a group's offsets",
            Action::DeleteGroup => "delete a group",
            Action::ListOffsets => "list offsets",
            Action::DeleteRecords => "delete records",
            Action::LogDirs => "log directories",
            Action::EndToEnd => "end-to-end latency",
            Action::ElectLeaders => "elect leaders",
            Action::Reassign => "reassign partitions",
            Action::Quotas => "client quotas",
            Action::Transactions => "transactions, or a refusal at once",
            Action::ConsumerProtocol => "group.protocol=consumer, or a refusal at once",
            Action::Tls => "TLS",
            Action::MutualTls => "TLS, certificates of clients",
            Action::SaslPlain => "SASL PLAIN",
            Action::SaslScram => "SASL SCRAM",
            Action::SaslScramTls => "SASL SCRAM over TLS",
        }
    }

    /// The action of that name.
    pub(super) fn named(words: &str) -> Option<Action> {
        Action::all().find(|action| action.words() == words)
    }

    /// Producing with this codec, as Kafka's settings name it; `none` is the plain one.
    pub(super) fn of_codec(codec: &str) -> Action {
        match codec {
            "gzip" => Action::ProduceGzip,
            "snappy" => Action::ProduceSnappy,
            "lz4" => Action::ProduceLz4,
            "zstd" => Action::ProduceZstd,
            _ => Action::Produce,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_has_a_name_of_its_own() {
        for action in Action::all() {
            assert_eq!(Action::named(action.words()), Some(action));
        }
        assert_eq!(Action::named("make coffee"), None);
    }

    #[test]
    fn clients_are_found_by_their_short_names() {
        assert_eq!(InteropClient::named("go"), Some(InteropClient::Go));
        assert_eq!(InteropClient::named("franz-go"), None);
    }
}
