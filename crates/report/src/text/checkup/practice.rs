//! Settings that deviate from good practice: what follows from the value, and what to set.

use kgauge_analyze::checkup::{Practice, SettingDeviation};

use crate::format;

/// What follows from the value.
pub(super) fn consequence(deviation: &SettingDeviation) -> String {
    match deviation.practice {
        Practice::Replicas { .. } => match deviation.setting.as_str() {
            "default.replication.factor" => {
                "New topics get too few replicas; with one, the loss of a broker loses records"
            }
            "offsets.topic.replication.factor" => {
                "Consumer groups cannot commit while a broker is down"
            }
            _ => "Transactions stop while a broker is down",
        }
        .to_owned(),
        Practice::InSync { .. } => {
            "acks=all is satisfied by one replica, so an acked record can be lost with its broker"
                .to_owned()
        }
        Practice::InSyncBelow { replicas } => format!(
            "Topics with {} accept no records with acks=all as soon as one is missing",
            format::counted(replicas.into(), "replica")
        ),
        Practice::Enabled => match deviation.setting.as_str() {
            "auto.leader.rebalance.enable" => {
                "After a restart, leaders stay where they are and the load is uneven"
            }
            "controlled.shutdown.enable" => {
                "A broker that stops does not hand over its leaders, so clients wait for elections"
            }
            _ => "Topics cannot be deleted",
        }
        .to_owned(),
        Practice::Disabled => match deviation.setting.as_str() {
            "unclean.leader.election.enable" => {
                "A replica that is not in sync can become leader, which loses acked records"
            }
            _ => "A misspelled topic name creates a topic with default settings",
        }
        .to_owned(),
        Practice::AsProduced => {
            "Brokers compress again what producers have compressed, which costs CPU".to_owned()
        }
        Practice::SystemFlushes => {
            "Brokers flush while they handle records, which costs throughput and latency".to_owned()
        }
        Practice::Threads { least } => {
            format!("Brokers have fewer threads than Kafka's default of {least}")
        }
        Practice::OwnRelease => {
            "The cluster speaks the protocol of an older release, so newer features are off"
                .to_owned()
        }
        Practice::Equal => "Brokers behave differently, depending on the partition".to_owned(),
    }
}

/// What to set.
pub(super) fn advice(deviation: &SettingDeviation) -> String {
    let setting = &deviation.setting;
    match deviation.practice {
        Practice::Replicas { least } if setting == "default.replication.factor" => {
            format!("set {setting}={least}; raise existing topics with kafka-reassign-partitions")
        }
        Practice::Replicas { least } => format!(
            "set {setting}={least}, and raise the existing internal topic with \
             kafka-reassign-partitions"
        ),
        Practice::InSync { least } => format!("set {setting}={least} for topics with 3 replicas"),
        Practice::InSyncBelow { replicas: 0..=1 } => {
            format!("raise default.replication.factor above {}", deviation.value)
        }
        Practice::InSyncBelow { replicas } => format!("set {setting}={}", replicas - 1),
        Practice::Enabled => format!("set {setting}=true"),
        Practice::Disabled => format!("set {setting}=false"),
        Practice::AsProduced => format!("set {setting}=producer, and compress in the producers"),
        Practice::SystemFlushes => {
            format!("remove {setting} and rely on replication for durability")
        }
        Practice::Threads { least } => format!("set {setting}={least} or more"),
        Practice::OwnRelease => format!("raise {setting} to the brokers' release"),
        Practice::Equal => format!("set {setting} to one value on all brokers"),
    }
}
