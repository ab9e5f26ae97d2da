//! Checks: kafka-consumer-groups, beyond what the console's group shows.

use anyhow::{Result, ensure};

use super::actions::Action;
use super::checks::{Checks, Name, Transcript};
use super::console::lines;
use super::scripts::create;
use crate::kafka::{KafkaScript, Tools, output};

const TOPIC: &str = "interop-groups";
const GROUP: &str = "interop-groups-group";
const CLIENT: &str = KafkaScript::GROUPS.name;
const PARTITIONS: u32 = 3;
const RECORDS: usize = 600;

pub(super) fn run(checks: &mut Checks, tools: &Tools<'_>) -> Result<()> {
    let name = Name::tool(CLIENT, "list with states", Action::ListGroups);
    let read = checks.check(name, |log| {
        read(log, tools)?;
        let stdout = log
            .run(tools.call(KafkaScript::GROUPS, &["--list", "--state"])?)?
            .stdout;
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
        let how = [
            "--reset-offsets",
            "--shift-by",
            "-10",
            "--execute",
            "--topic",
            TOPIC,
        ];
        log.run(group(tools, &how)?)?;
        stands_at(log, tools, RECORDS as u64 - 10 * u64::from(PARTITIONS))
    })?;
    let name = Name::tool(CLIENT, "reset to a time", Action::ResetGroupOffsets);
    checks.follow(read, name, |log| {
        let time = "2020-01-01T00:00:00.000";
        let how = [
            "--reset-offsets",
            "--to-datetime",
            time,
            "--execute",
            "--topic",
            TOPIC,
        ];
        log.run(group(tools, &how)?)?;
        stands_at(log, tools, 0)
    })?;
    let name = Name::tool(CLIENT, "delete offsets", Action::DeleteGroupOffsets);
    checks.follow(read, name, |log| {
        let partition = format!("{TOPIC}:0");
        let finished = log.run(group(tools, &["--delete-offsets", "--topic", &partition])?)?;
        ensure!(finished.stdout.contains("Successful"), "it does not say so");
        let stdout = log.run(group(tools, &["--describe", "--offsets"])?)?.stdout;
        let left = output::standing(&stdout, GROUP)?.partitions;
        ensure!(
            left == PARTITIONS - 1,
            "{left} partitions with an offset are left"
        );
        Ok(format!("{left} of {PARTITIONS} are left"))
    })?;
    Ok(())
}

fn group(tools: &Tools<'_>, arguments: &[&str]) -> Result<crate::kafka::Job> {
    tools.call(
        KafkaScript::GROUPS,
        &[&["--group", GROUP][..], arguments].concat(),
    )
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
    log.run(tools.call(KafkaScript::CONSOLE_CONSUMER, &[&what[..], &until].concat())?)?;
    Ok(())
}

fn stands_at(log: &mut Transcript, tools: &Tools<'_>, expected: u64) -> Result<String> {
    let stdout = log.run(group(tools, &["--describe", "--offsets"])?)?.stdout;
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
