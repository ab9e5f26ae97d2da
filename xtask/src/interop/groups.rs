//! Checks: kafka-consumer-groups, beyond what the console's group shows.

use anyhow::{Result, ensure};

use super::actions::Action;
use super::checks::{Checks, Name, Transcript};
use super::console::lines;
use super::scripts::create;
use crate::kafka::{KafkaScript, Tools, output};

const TOPIC: &str = "interop-groups";
const GROUP: &str = "interop-groups-group";
const CLIENT: KafkaScript = KafkaScript::GROUPS;
const PARTITIONS: u32 = 3;
const RECORDS: usize = 600;

pub(super) fn run(checks: &mut Checks, tools: &Tools<'_>) -> Result<()> {
    let name = Name::tool(CLIENT, "list with states", Action::ListGroups);
    let read = checks.check(name, |log| {
        read(log, tools)?;
        let stdout = log.run_tool(tools, CLIENT, &["--list", "--state"])?;
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect();
        let mut listed = stdout.lines().map(words);
        let expected = [GROUP, "Empty"].map(str::to_owned);
        ensure!(
            listed.any(|cells: Vec<String>| cells.starts_with(&expected)),
            "{GROUP} is not empty"
        );
        Ok(expected.join(" "))
    })?;
    let name = Name::tool(CLIENT, "describe its offsets", Action::GroupOffsets);
    checks.follow(read, name, |log| stands_at(log, tools, RECORDS as u64))?;
    let name = Name::tool(CLIENT, "reset by shift", Action::ResetGroupOffsets);
    checks.follow(read, name, |log| {
        reset(log, tools, &["--shift-by", "-10"])?;
        stands_at(log, tools, RECORDS as u64 - 10 * u64::from(PARTITIONS))
    })?;
    let name = Name::tool(CLIENT, "reset to a time", Action::ResetGroupOffsets);
    checks.follow(read, name, |log| {
        reset(log, tools, &["--to-datetime", "2020-01-01T00:00:00.000"])?;
        stands_at(log, tools, 0)
    })?;
    let name = Name::tool(CLIENT, "delete offsets", Action::DeleteGroupOffsets);
    checks.follow(read, name, |log| {
        let partition = format!("{TOPIC}:0");
        let stdout = group(log, tools, &["--delete-offsets", "--topic", &partition])?;
        ensure!(stdout.contains("Successful"), "it does not say so");
        let stdout = group(log, tools, &["--describe", "--offsets"])?;
        let left = output::standing(&stdout, GROUP)?.partitions;
        ensure!(
            left == PARTITIONS - 1,
            "{left} partitions with an offset are left"
        );
        Ok(format!("{left} of {PARTITIONS} are left"))
    })?;
    Ok(())
}

/// Calls the tool for the group. Returns its stdout.
fn group(log: &mut Transcript, tools: &Tools<'_>, arguments: &[&str]) -> Result<String> {
    log.run_tool(
        tools,
        CLIENT,
        &[&["--group", GROUP][..], arguments].concat(),
    )
}

fn reset(log: &mut Transcript, tools: &Tools<'_>, to: &[&str]) -> Result<()> {
    let offsets = ["--reset-offsets", "--execute", "--topic", TOPIC];
    group(log, tools, &[&offsets[..], to].concat())?;
    Ok(())
}

/// Sends lines and has a group read them.
fn read(log: &mut Transcript, tools: &Tools<'_>) -> Result<()> {
    log.run(create(tools, TOPIC, PARTITIONS)?)?;
    let keys = ["--topic", TOPIC, "--reader-property", "parse.key=true"];
    let call = tools.call(KafkaScript::CONSOLE_PRODUCER, &keys)?;
    log.run(call.with_input(&lines("groups", RECORDS))?)?;
    let records = RECORDS.to_string();
    let until = ["--max-messages", &records, "--timeout-ms", "60000"];
    let what = ["--topic", TOPIC, "--group", GROUP, "--from-beginning"];
    log.run_tool(
        tools,
        KafkaScript::CONSOLE_CONSUMER,
        &[&what[..], &until].concat(),
    )?;
    Ok(())
}

fn stands_at(log: &mut Transcript, tools: &Tools<'_>, expected: u64) -> Result<String> {
    let stdout = group(log, tools, &["--describe", "--offsets"])?;
    let standing = output::standing(&stdout, GROUP)?;
    let lag = RECORDS as u64 - expected;
    ensure!(
        (standing.committed, standing.lag) == (expected, lag),
        "{} committed, lag {}; not {expected} and {lag}",
        standing.committed,
        standing.lag
    );
    Ok(format!("{expected} committed, lag {lag}"))
}
