//! Checks: kafka-topics and kafka-configs.

use anyhow::{Result, ensure};

use super::actions::Action;
use super::checks::{Checks, Name, Transcript};
use super::configs::{self, alter};
use crate::kafka::{KafkaScript, Tools, output};

/// The topic of the checks here and of the performance tools.
pub(super) const TOPIC: &str = "interop";
/// How many partitions it has in the end.
pub(super) const PARTITIONS: u32 = 6;

const PARTITIONS_FIRST: u32 = 3;
/// The topic that is created with all settings of another.
const DESCRIBED: &str = "interop-described";
const CLIENT: KafkaScript = KafkaScript::TOPICS;

pub(super) fn run(checks: &mut Checks, tools: &Tools<'_>) -> Result<()> {
    checks.check(Name::tool(CLIENT, "create", Action::CreateTopic), |log| {
        let stdout = log.run(tools.create(TOPIC, PARTITIONS_FIRST)?)?.stdout;
        ensure!(
            stdout.contains("Created topic interop."),
            "it does not say so"
        );
        Ok(format!("{PARTITIONS_FIRST} partitions"))
    })?;
    checks.check(Name::tool(CLIENT, "list", Action::ListTopics), |log| {
        let stdout = log.run_tool(tools, CLIENT, &["--list"])?;
        ensure!(
            stdout.lines().any(|line| line == TOPIC),
            "{TOPIC} is missing"
        );
        Ok("the new topic".to_owned())
    })?;
    checks.check(
        Name::tool(CLIENT, "describe", Action::DescribeTopic),
        |log| describe(log, tools, PARTITIONS_FIRST),
    )?;
    settings(checks, tools)?;
    checks.check(
        Name::tool(CLIENT, "alter partitions", Action::AddPartitions),
        |log| {
            let more = PARTITIONS.to_string();
            let arguments = ["--alter", "--topic", TOPIC, "--partitions", &more];
            log.run_tool(tools, CLIENT, &arguments)?;
            describe(log, tools, PARTITIONS)
        },
    )?;
    Ok(())
}

fn settings(checks: &mut Checks, tools: &Tools<'_>) -> Result<()> {
    const SETTING: &str = "retention.ms=3600000";
    let entity = ["--entity-type", "topics", "--entity-name", TOPIC];
    checks.check(
        Name::tool(KafkaScript::CONFIGS, "alter", Action::AlterTopicConfig),
        |log| {
            alter(log, tools, &entity, ["--add-config", SETTING])?;
            Ok(SETTING.to_owned())
        },
    )?;
    checks.check(
        Name::tool(KafkaScript::CONFIGS, "describe", Action::TopicConfigs),
        |log| {
            let stdout = configs::describe(log, tools, &entity)?;
            ensure!(stdout.contains(SETTING), "{SETTING} is not there");
            Ok(SETTING.to_owned())
        },
    )?;
    checks.check(
        Name::tool(
            CLIENT,
            "create with all that is described",
            Action::TopicConfigs,
        ),
        |log| {
            let all = [&entity[..], &["--all"]].concat();
            let stdout = configs::describe(log, tools, &all)?;
            let mut described = output::settings(&stdout);
            // The tool itself takes no empty value.
            described.retain(|setting| !setting.ends_with('='));
            ensure!(described.len() > 30, "only {} settings", described.len());
            let mut arguments = vec!["--create", "--topic", DESCRIBED];
            arguments.extend(described.iter().flat_map(|one| ["--config", one]));
            log.run_tool(tools, CLIENT, &arguments)?;
            log.run(tools.delete(DESCRIBED)?)?;
            Ok(format!("{} settings", described.len()))
        },
    )?;
    Ok(())
}

fn describe(log: &mut Transcript, tools: &Tools<'_>, expected: u32) -> Result<String> {
    let arguments = ["--describe", "--topic", TOPIC];
    let stdout = log.run_tool(tools, CLIENT, &arguments)?;
    let (count, led) = output::partitions(&stdout)?;
    ensure!(
        (count, led) == (expected, expected),
        "{count} partitions, {led} with a leader, not {expected}"
    );
    Ok(format!("{count} partitions, all with a leader"))
}

/// The last check on a cluster: a topic of another check goes.
pub(super) fn delete(checks: &mut Checks, tools: &Tools<'_>) -> Result<()> {
    checks.check(Name::tool(CLIENT, "delete", Action::DeleteTopic), |log| {
        let topic = super::console::TOPIC;
        log.run(tools.delete(topic)?)?;
        let stdout = log.run_tool(tools, CLIENT, &["--list"])?;
        ensure!(
            !stdout.lines().any(|line| line == topic),
            "{topic} is there"
        );
        Ok("the topic is gone".to_owned())
    })?;
    Ok(())
}
