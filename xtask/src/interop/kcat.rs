//! Checks: kcat, and with it librdkafka.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::actions::{Action, InteropClient};
use super::checks::{Checks, Name, Transcript};
use super::console::{lines, same};
use super::following::{Follower, wait_until};
use super::scripts::create;
use crate::kafka::{Job, KafkaScript, Tools, output};

const TOPIC: &str = "interop-kcat";
const GROUP: &str = "interop-kcat-group";
const PARTITIONS: u32 = 3;
const RECORDS_PER_CODEC: usize = 2_000;
const CODECS: [&str; 5] = ["none", "gzip", "snappy", "lz4", "zstd"];

const REBALANCED_TOPIC: &str = "interop-kcat-rebalance";
const REBALANCED_GROUP: &str = "interop-kcat-rebalance-group";
const REBALANCED_PARTITIONS: u32 = 6;

const TIME_MAX: Duration = Duration::from_secs(120);

const ACTIONS: [Action; 12] = [
    Action::DescribeCluster,
    Action::ListTopics,
    Action::DescribeTopic,
    Action::Produce,
    Action::ProduceGzip,
    Action::ProduceSnappy,
    Action::ProduceLz4,
    Action::ProduceZstd,
    Action::Consume,
    Action::ConsumeByGroup,
    Action::Rebalance,
    Action::ListOffsets,
];

fn named(words: &'static str, action: Action) -> Name {
    Name::from(("kcat", words)).cell(InteropClient::Kcat, action)
}

pub(super) fn is_installed() -> bool {
    Command::new("kcat").arg("-V").output().is_ok()
}

pub(super) fn run(checks: &mut Checks, tools: &Tools<'_>, folder: &Path) -> Result<()> {
    if !is_installed() {
        for action in ACTIONS {
            checks.missing(Name::of(InteropClient::Kcat, action), "no kcat in PATH");
        }
        return Ok(());
    }
    metadata(checks, tools)?;
    for codec in CODECS {
        let action = Action::of_codec(codec);
        checks.check(named(action.words(), action), |log| {
            produce(log, tools, codec)
        })?;
    }
    checks.check(named("-C consume", Action::Consume), |log| {
        let from_the_start = ["-C", "-q", "-t", TOPIC, "-o", "beginning", "-e"];
        let format = ["-f", "%k\\t%s\\n"];
        let finished = log.run(call(tools, &[&from_the_start[..], &format].concat())?)?;
        same(&input(), &finished.stdout)
    })?;
    checks.check(
        named("-G consume as a group", Action::ConsumeByGroup),
        |log| consume_as_group(log, tools),
    )?;
    let words = "-G one joins and leaves, range";
    checks.check(named(words, Action::Rebalance), |log| {
        rebalance(log, tools, folder)
    })?;
    checks.check(named("-Q offsets by time", Action::ListOffsets), |log| {
        // -1: the end, -2: the start.
        let finished = log.run(call(tools, &["-Q", "-t", &format!("{TOPIC}:0:-1")])?)?;
        let end = format!("{TOPIC} [0] offset ");
        let offset = finished.stdout.trim().strip_prefix(&end).map(str::to_owned);
        let offset: u64 = offset.unwrap_or_default().parse()?;
        ensure!(offset > 0, "the end is at 0");
        Ok(format!("the end of partition 0 is at {offset}"))
    })?;
    Ok(())
}

fn metadata(checks: &mut Checks, tools: &Tools<'_>) -> Result<()> {
    checks.check(named("-L brokers", Action::DescribeCluster), |log| {
        log.run(create(tools, TOPIC, PARTITIONS)?)?;
        let stdout = log.run(call(tools, &["-L"])?)?.stdout;
        ensure!(stdout.contains(" 3 brokers:"), "not three brokers");
        Ok("3 brokers".to_owned())
    })?;
    checks.check(named("-L topics", Action::ListTopics), |log| {
        let stdout = log.run(call(tools, &["-L"])?)?.stdout;
        let expected = format!("topic \"{TOPIC}\"");
        ensure!(stdout.contains(&expected), "it does not list {expected}");
        Ok(expected)
    })?;
    checks.check(named("-L one topic", Action::DescribeTopic), |log| {
        let stdout = log.run(call(tools, &["-L", "-t", TOPIC])?)?.stdout;
        let expected = format!("topic \"{TOPIC}\" with {PARTITIONS} partitions:");
        ensure!(stdout.contains(&expected), "it does not say: {expected}");
        Ok(expected)
    })?;
    Ok(())
}

fn command(tools: &Tools<'_>, arguments: &[&str]) -> Result<Command> {
    (tools.alive)()?;
    let mut command = Command::new("kcat");
    // A user's own settings would change what is checked.
    command.env_remove("KCAT_CONFIG");
    command
        .args(["-b", &tools.servers, "-m", "30"])
        .args(arguments);
    Ok(command)
}

fn call(tools: &Tools<'_>, arguments: &[&str]) -> Result<Job> {
    let words = format!("kcat {}", arguments.join(" "));
    Ok(Job::new(words, command(tools, arguments)?, TIME_MAX))
}

/// Everything that is sent, codec after codec; each has keys of its own.
fn input() -> String {
    let of_codec = |codec: &&str| lines(codec, RECORDS_PER_CODEC);
    CODECS.iter().map(of_codec).collect()
}

fn produce(log: &mut Transcript, tools: &Tools<'_>, codec: &str) -> Result<String> {
    let input = lines(codec, RECORDS_PER_CODEC);
    send(log, tools, TOPIC, codec, &input)?;
    Ok(format!("{RECORDS_PER_CODEC} lines"))
}

fn send(
    log: &mut Transcript,
    tools: &Tools<'_>,
    topic: &str,
    codec: &str,
    input: &str,
) -> Result<()> {
    let what = ["-P", "-t", topic, "-K", "\\t", "-z", codec];
    let how = ["-X", "enable.idempotence=true", "-X", "acks=all"];
    let call = call(tools, &[&what[..], &how].concat())?;
    log.run(call.with_input(input)?)?;
    Ok(())
}

fn consume_as_group(log: &mut Transcript, tools: &Tools<'_>) -> Result<String> {
    let input = input();
    let count = input.lines().count().to_string();
    let options = [
        "-q",
        "-c",
        &count,
        "-f",
        "%k\\t%s\\n",
        "-X",
        "auto.offset.reset=earliest",
    ];
    let arguments = [&["-G", GROUP][..], &options, &[TOPIC]].concat();
    let finished = log.run(call(tools, &arguments)?)?;
    let seen = same(&input, &finished.stdout)?;
    caught_up(log, tools, GROUP)?;
    Ok(format!("{seen}; lag 0 afterwards"))
}

fn caught_up(log: &mut Transcript, tools: &Tools<'_>, group: &str) -> Result<()> {
    let arguments = ["--describe", "--group", group];
    let stdout = log.run_tool(tools, KafkaScript::GROUPS, &arguments)?;
    let lag = output::standing(&stdout, group)?.lag;
    ensure!(lag == 0, "lag {lag} afterwards");
    Ok(())
}

/// A member that prints what it reads at once, and on stderr what it is given.
fn member(name: &'static str, tools: &Tools<'_>, folder: &Path) -> Result<Follower> {
    let what = ["-G", REBALANCED_GROUP, "-u", "-f", "%p:%o\\n"];
    let how = [
        "-X",
        "auto.offset.reset=earliest",
        "-X",
        "partition.assignment.strategy=range",
        "-X",
        "topic.metadata.refresh.interval.ms=1000",
    ];
    let arguments = [&what[..], &how, &[REBALANCED_TOPIC]].concat();
    Follower::start(name, command(tools, &arguments)?, folder)
}

/// Three equal parts are sent: before, while and after there are two members.
fn rebalance(log: &mut Transcript, tools: &Tools<'_>, folder: &Path) -> Result<String> {
    let sent = |part: &str| lines(part, RECORDS_PER_CODEC);
    log.run(create(tools, REBALANCED_TOPIC, REBALANCED_PARTITIONS)?)?;
    send(log, tools, REBALANCED_TOPIC, "none", &sent("first"))?;
    let stays = member("kcat-stays", tools, folder)?;
    let read = |of: &[&Follower]| -> Result<Vec<String>> {
        let mut all = Vec::new();
        for follower in of {
            all.extend(follower.stdout()?.lines().map(str::to_owned));
        }
        Ok(all)
    };
    wait_until("one member has read the first part", &[&stays], || {
        Ok(read(&[&stays])?.len() >= RECORDS_PER_CODEC)
    })?;
    let guest = member("kcat-guest", tools, folder)?;
    let both = [&stays, &guest];
    let half = REBALANCED_PARTITIONS as usize / 2;
    wait_until("both members have half of the partitions", &both, || {
        Ok(assigned(&stays.stderr()?) == half && assigned(&guest.stderr()?) == half)
    })?;
    send(log, tools, REBALANCED_TOPIC, "none", &sent("second"))?;
    wait_until("both have read the second part", &both, || {
        Ok(read(&both)?.len() >= 2 * RECORDS_PER_CODEC)
    })?;
    guest.end()?;
    wait_until("one member has all partitions again", &[&stays], || {
        Ok(assigned(&stays.stderr()?) == 2 * half)
    })?;
    send(log, tools, REBALANCED_TOPIC, "none", &sent("third"))?;
    wait_until("it has read the third part", &[&stays], || {
        Ok(read(&both)?.len() >= 3 * RECORDS_PER_CODEC)
    })?;
    stays.end()?;
    for follower in both {
        follower.log_lines(log);
    }
    let mut all = read(&both)?;
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    let by_guest = read(&[&guest])?.len();
    ensure!(
        count == all.len(),
        "{} were read more than once",
        count - all.len()
    );
    ensure!(count == 3 * RECORDS_PER_CODEC, "{count} read");
    ensure!(by_guest > 0, "the second member has read nothing");
    caught_up(log, tools, REBALANCED_GROUP)?;
    Ok(format!(
        "{count} records, each once, {by_guest} by the second member"
    ))
}

/// How many partitions the last line about them gives:
/// `% Group g rebalanced (memberid m): assigned: t [0], t [1]`.
fn assigned(stderr: &str) -> usize {
    let mut lines = stderr.lines().rev();
    let last = lines.find(|line| line.contains(" rebalanced "));
    let given = last.and_then(|line| line.split_once(" assigned: "));
    given.map_or(0, |(_, partitions)| partitions.matches('[').count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_on_partitions_counts() {
        let text = "% Group g rebalanced (memberid m-1): assigned: t [0], t [1]\n\
            % Group g rebalanced (memberid m-1): revoked: t [0], t [1]\n";
        assert_eq!(assigned(text), 0);
        let text = format!("{text}% Group g rebalanced (memberid m-1): assigned: t [2]\n% end\n");
        assert_eq!(assigned(&text), 1);
        assert_eq!(assigned(""), 0);
    }
}
