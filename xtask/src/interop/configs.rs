//! Checks: kafka-configs, for brokers: one of them, and what holds for all.

use anyhow::{Result, ensure};

use super::actions::Action;
use super::checks::{Checks, Name, Transcript};
use crate::kafka::{KafkaScript, Tools};

const CLIENT: KafkaScript = KafkaScript::CONFIGS;
const ONE: [&str; 4] = ["--entity-type", "brokers", "--entity-name", "1"];
const ALL: [&str; 3] = ["--entity-type", "brokers", "--entity-default"];

pub(super) fn run(checks: &mut Checks, tools: &Tools<'_>) -> Result<()> {
    let name = Name::tool(CLIENT, "describe a broker", Action::BrokerConfigs);
    checks.check(name, |log| {
        let stdout = describe(log, tools, &[&ONE[..], &["--all"]].concat())?;
        let settings = stdout.lines().filter(|line| line.contains("sensitive="));
        ensure!(
            stdout.contains("log.segment.bytes=1073741824 "),
            "log.segment.bytes is not Kafka's default"
        );
        Ok(format!("{} settings", settings.count()))
    })?;
    let name = Name::tool(CLIENT, "alter all brokers", Action::AlterDefaultConfig);
    checks.check(name, |log| {
        alter(
            log,
            tools,
            &ALL,
            ["--add-config", "log.retention.ms=7200000"],
        )?;
        sees(
            log,
            tools,
            &ALL,
            "DYNAMIC_DEFAULT_BROKER_CONFIG:log.retention.ms=7200000",
        )
    })?;
    let name = Name::tool(CLIENT, "alter a broker", Action::AlterBrokerConfig);
    checks.check(name, |log| {
        alter(
            log,
            tools,
            &ONE,
            ["--add-config", "log.retention.ms=3600000"],
        )?;
        sees(
            log,
            tools,
            &ONE,
            "DYNAMIC_BROKER_CONFIG:log.retention.ms=3600000",
        )?;
        alter(log, tools, &ONE, ["--delete-config", "log.retention.ms"])?;
        let stdout = describe(log, tools, &[&ONE[..], &["--all"]].concat())?;
        ensure!(
            stdout.contains("log.retention.ms=7200000 "),
            "without its own setting the broker does not take that of all"
        );
        Ok("set, seen, deleted".to_owned())
    })?;
    let name = Name::tool(
        CLIENT,
        "delete the setting of all brokers",
        Action::AlterDefaultConfig,
    );
    checks.check(name, |log| {
        alter(log, tools, &ALL, ["--delete-config", "log.retention.ms"])?;
        let stdout = describe(log, tools, &ALL)?;
        ensure!(!stdout.contains("log.retention.ms"), "it is still there");
        Ok("it is gone".to_owned())
    })?;
    let name = Name::tool(CLIENT, "refuse what cannot be", Action::AlterBrokerConfig);
    checks.check(name, |log| {
        let change = ["--alter", "--add-config", "log.segment.bytes=few"];
        let finished = log.run_any(tools.call(CLIENT, &[&change[..], &ONE].concat())?)?;
        let words = "Invalid value few for configuration log.segment.bytes";
        let refused = finished.ended_with(1)?;
        ensure!(refused.stderr.contains(words), "it does not say: {words}");
        Ok(words.to_owned())
    })?;
    Ok(())
}

/// What kafka-configs says of an entity.
pub(super) fn describe(log: &mut Transcript, tools: &Tools<'_>, entity: &[&str]) -> Result<String> {
    log.run_tool(tools, CLIENT, &[&["--describe"][..], entity].concat())
}

/// Changes a setting of an entity, by `--add-config` or `--delete-config`.
pub(super) fn alter(
    log: &mut Transcript,
    tools: &Tools<'_>,
    entity: &[&str],
    change: [&str; 2],
) -> Result<()> {
    let arguments = [&["--alter"][..], &change, entity].concat();
    let stdout = log.run_tool(tools, CLIENT, &arguments)?;
    ensure!(stdout.contains("Completed updating"), "it does not say so");
    Ok(())
}

fn sees(log: &mut Transcript, tools: &Tools<'_>, entity: &[&str], setting: &str) -> Result<String> {
    let stdout = describe(log, tools, entity)?;
    ensure!(stdout.contains(setting), "{setting} is not there");
    Ok(setting.to_owned())
}
