//! Checks: the console tools, with contents compared, and the group that the consumer was in.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};

use super::actions::Action;
use super::checks::{Checks, Name};
use crate::kafka::{KafkaScript, Tools, output};

/// The topic of these checks.
pub(super) const TOPIC: &str = "interop-console";

const GROUP: &str = "interop-console-group";
const PARTITIONS: u32 = 3;
const RECORDS: usize = 2_000;

/// Lines `key<TAB>value`: keys that come again, so that their order shows; values empty, long and
/// beyond ASCII.
pub(super) fn lines(prefix: &str, records: usize) -> String {
    let line = |index: usize| {
        let value = match index % 50 {
            0 => String::new(),
            1 => format!("{index} {}", "long ".repeat(1_000)),
            _ => format!("{index} größer, 大きい"),
        };
        format!("{prefix}-{}\t{value}\n", index % 40)
    };
    (0..records).map(line).collect()
}

pub(super) fn run(checks: &mut Checks, tools: &Tools<'_>) -> Result<()> {
    let input = lines("key", RECORDS);
    checks.check(
        Name::tool(
            KafkaScript::CONSOLE_PRODUCER,
            "send lines with keys",
            Action::Produce,
        ),
        |log| {
            log.run(tools.create(TOPIC, PARTITIONS)?)?;
            let arguments = ["--topic", TOPIC, "--reader-property", "parse.key=true"];
            let call = tools.call(KafkaScript::CONSOLE_PRODUCER, &arguments)?;
            log.run(call.with_input(&input)?)?;
            Ok(format!("{RECORDS} lines"))
        },
    )?;
    checks.check(
        Name::tool(
            KafkaScript::CONSOLE_CONSUMER,
            "read as a group",
            Action::ConsumeByGroup,
        ),
        |log| {
            let records = RECORDS.to_string();
            let what = ["--topic", TOPIC, "--group", GROUP, "--from-beginning"];
            let until = ["--max-messages", &records, "--timeout-ms", "60000"];
            let format = ["--formatter-property", "print.key=true"];
            let arguments = [&what[..], &until, &format].concat();
            same(
                &input,
                &log.run_tool(tools, KafkaScript::CONSOLE_CONSUMER, &arguments)?,
            )
        },
    )?;
    groups(checks, tools)
}

/// Values by key, in their order, of lines `key<TAB>value`.
fn by_key(text: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut values: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in text.lines() {
        let (key, value) = line.split_once('\t').unwrap_or(("(no key)", line));
        values.entry(key).or_default().push(value);
    }
    values
}

/// Compares what was read with what was sent; only the order between keys may differ.
pub(super) fn same(sent: &str, read: &str) -> Result<String> {
    let (sent_lines, read_lines) = (sent.lines().count(), read.lines().count());
    ensure!(
        sent_lines == read_lines,
        "{read_lines} records read, {sent_lines} sent"
    );
    let (sent, read) = (by_key(sent), by_key(read));
    let differs = sent
        .iter()
        .find(|(key, values)| read.get(*key) != Some(values));
    ensure!(
        differs.is_none(),
        "records of key {:?} differ",
        differs.map(|(key, _)| key)
    );
    Ok(format!(
        "{read_lines} records, contents and order per key equal"
    ))
}

fn groups(checks: &mut Checks, tools: &Tools<'_>) -> Result<()> {
    const CLIENT: KafkaScript = KafkaScript::GROUPS;
    checks.check(Name::tool(CLIENT, "list", Action::ListGroups), |log| {
        let stdout = log.run_tool(tools, CLIENT, &["--list"])?;
        ensure!(
            stdout.lines().any(|line| line == GROUP),
            "{GROUP} is missing"
        );
        Ok(GROUP.to_owned())
    })?;
    checks.check(
        Name::tool(CLIENT, "describe", Action::DescribeGroup),
        |log| {
            let arguments = ["--describe", "--group", GROUP];
            let stdout = log.run_tool(tools, CLIENT, &arguments)?;
            let standing = output::standing(&stdout, GROUP)?;
            let records = u64::try_from(RECORDS).context("a small constant")?;
            ensure!(
                standing.committed == records && standing.lag == 0,
                "{} committed, lag {}",
                standing.committed,
                standing.lag
            );
            Ok(format!("{} committed, lag 0", standing.committed))
        },
    )?;
    checks.check(
        Name::tool(CLIENT, "reset offsets", Action::ResetGroupOffsets),
        |log| {
            let how = ["--reset-offsets", "--to-earliest", "--execute"];
            let arguments = [&how[..], &["--group", GROUP, "--topic", TOPIC]].concat();
            log.run_tool(tools, CLIENT, &arguments)?;
            let arguments = ["--describe", "--group", GROUP];
            let stdout = log.run_tool(tools, CLIENT, &arguments)?;
            let standing = output::standing(&stdout, GROUP)?;
            ensure!(standing.committed == 0, "{} committed", standing.committed);
            Ok(format!("lag {}", standing.lag))
        },
    )?;
    checks.check(Name::tool(CLIENT, "delete", Action::DeleteGroup), |log| {
        log.run_tool(tools, CLIENT, &["--delete", "--group", GROUP])?;
        let stdout = log.run_tool(tools, CLIENT, &["--list"])?;
        ensure!(
            !stdout.lines().any(|line| line == GROUP),
            "{GROUP} is there"
        );
        Ok("the group is gone".to_owned())
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_order_within_a_key() {
        let expected = BTreeMap::from([("a", vec!["2", ""]), ("b", vec!["1"])]);
        assert_eq!(by_key("a\t2\nb\t1\na\t\n"), expected);
    }

    #[test]
    fn records_may_change_places_between_keys_but_not_within_one() {
        let sent = "a\t1\nb\t2\na\t3\n";
        assert!(same(sent, "b\t2\na\t1\na\t3\n").is_ok());
        assert!(same(sent, "b\t2\na\t3\na\t1\n").is_err());
        assert!(same(sent, "a\t1\nb\t2\n").is_err());
        assert!(same(sent, "a\t1\nb\t2\nc\t3\n").is_err());
    }

    #[test]
    fn the_lines_hold_what_is_hard() {
        let lines = lines("key", 100);
        assert_eq!(lines.lines().count(), 100);
        assert!(lines.contains("key-0\t\n"));
        assert!(lines.lines().any(|line| line.len() > 5_000));
    }
}
