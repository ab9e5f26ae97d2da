//! The options of the verifiable consumer.

use std::time::Duration;

use kgauge_client::group::{Assignor, GroupSettings};

use crate::failure::ToolFailure;
use crate::options::ParsedOptions;

/// The options, checked.
#[derive(Debug)]
pub(crate) struct VerifiableConsumerArgs {
    pub(crate) topic: String,
    pub(crate) servers: String,
    pub(crate) group: GroupSettings,
    /// Whether the member uses the protocol of KIP-848.
    pub(crate) has_new_protocol: bool,
    pub(crate) remote_assignor: Option<String>,
    pub(crate) records: Option<u64>,
    pub(crate) is_verbose: bool,
    pub(crate) has_auto_commit: bool,
    pub(crate) reset: OffsetReset,
    pub(crate) file: Option<String>,
}

/// Where to start if the group has no offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OffsetReset {
    Earliest,
    Latest,
    None,
}

impl VerifiableConsumerArgs {
    pub(crate) fn new(given: &ParsedOptions) -> Result<VerifiableConsumerArgs, ToolFailure> {
        let topic = given.required(&["topic"])?.to_owned();
        let group_id = given.required(&["group-id"])?;
        let servers = given.required(&["bootstrap-server", "broker-list"])?;
        let protocol = given.text("group-protocol").unwrap_or("classic");
        let has_new_protocol = match protocol.to_ascii_lowercase().as_str() {
            "classic" => false,
            "consumer" => true,
            _ => {
                return Err(ToolFailure::Unsupported(format!(
                    "--group-protocol {protocol} is not supported; use classic or consumer"
                )));
            }
        };
        let session_ms = given.number("session-timeout", "Integer")?;
        let mut group = GroupSettings::new(group_id, &topic);
        group.session_timeout = Duration::from_millis(session_ms.unwrap_or(30_000));
        group.heartbeat_interval = group.heartbeat_interval.min(group.session_timeout / 3);
        group.assignors = vec![assignor(given.text("assignment-strategy"))?];
        group.instance_id = given.text("group-instance-id").map(str::to_owned);
        let reset = match given.text("reset-policy").unwrap_or("earliest") {
            "earliest" => OffsetReset::Earliest,
            "latest" => OffsetReset::Latest,
            "none" => OffsetReset::None,
            other => {
                return ToolFailure::options(format!(
                    "argument --reset-policy: invalid choice: '{other}' (choose from \
                     {{earliest,latest,none}})"
                ));
            }
        };
        let records = given.number::<i64>("max-messages", "Integer")?;
        let file = given.first_of(&["command-config", "consumer.config"]);
        Ok(VerifiableConsumerArgs {
            topic,
            servers: servers.to_owned(),
            group,
            has_new_protocol,
            remote_assignor: given.text("group-remote-assignor").map(str::to_owned),
            records: records.and_then(|records| u64::try_from(records).ok()),
            is_verbose: given.has("verbose"),
            has_auto_commit: given.has("enable-autocommit"),
            reset,
            file: file.map(str::to_owned),
        })
    }
}

fn assignor(class: Option<&str>) -> Result<Assignor, ToolFailure> {
    let class = class.unwrap_or("RangeAssignor");
    match class.rsplit('.').next().unwrap_or(class) {
        "RangeAssignor" => Ok(Assignor::Range),
        "RoundRobinAssignor" => Ok(Assignor::RoundRobin),
        "StickyAssignor" => Ok(Assignor::Sticky),
        "CooperativeStickyAssignor" => Ok(Assignor::CooperativeSticky),
        _ => Err(ToolFailure::Unsupported(format!(
            "--assignment-strategy {class}: kgauge cannot load Java classes; it knows Kafka's own \
             RangeAssignor, RoundRobinAssignor, StickyAssignor and CooperativeStickyAssignor"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::option_tables::VERIFIABLE_CONSUMER;
    use crate::options;

    fn args(line: &str) -> Result<VerifiableConsumerArgs, ToolFailure> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        VerifiableConsumerArgs::new(&options::read(&VERIFIABLE_CONSUMER, &words)?)
    }

    fn with(more: &str) -> Result<VerifiableConsumerArgs, ToolFailure> {
        args(&format!("--topic v --group-id g --broker-list a:1 {more}"))
    }

    #[test]
    fn heartbeats_fit_the_session() {
        let args = with("--session-timeout 6000").unwrap();
        assert_eq!(args.group.session_timeout, Duration::from_secs(6));
        assert_eq!(args.group.heartbeat_interval, Duration::from_secs(2));
    }

    #[test]
    fn kafkas_assignors_and_both_protocols_are_known() {
        for (class, assignor) in [
            ("RoundRobinAssignor", Assignor::RoundRobin),
            ("StickyAssignor", Assignor::Sticky),
            ("CooperativeStickyAssignor", Assignor::CooperativeSticky),
        ] {
            let class = format!("org.apache.kafka.clients.consumer.{class}");
            let args = with(&format!("--assignment-strategy {class}")).unwrap();
            assert_eq!(args.group.assignors, [assignor]);
            assert!(!args.has_new_protocol);
        }
        let args = with("--group-protocol CONSUMER --group-remote-assignor range").unwrap();
        assert!(args.has_new_protocol);
        assert_eq!(args.remote_assignor.as_deref(), Some("range"));
    }

    #[test]
    fn unsupported_and_wrong_values_are_named() {
        let mistake = |more: &str| with(more).unwrap_err().to_string();
        assert!(mistake("--group-protocol streams").contains("classic or consumer"));
        assert!(mistake("--assignment-strategy com.example.Mine").contains("RangeAssignor"));
        assert!(mistake("--reset-policy soon").contains("invalid choice: 'soon'"));
        let error = args("--topic v --broker-list a:1").unwrap_err();
        assert_eq!(error.to_string(), "argument --group-id is required");
    }
}
