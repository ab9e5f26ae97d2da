//! Checks: kcat, and with it librdkafka. Skipped aloud when it is not installed.

use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::checks::{Checks, Transcript};
use super::console::{lines, same};
use crate::kafka::{Job, Tool, Tools, output};

const TOPIC: &str = "interop-kcat";
const GROUP: &str = "interop-kcat-group";
const PARTITIONS: u32 = 3;
const RECORDS_PER_CODEC: usize = 2_000;
const CODECS: [&str; 5] = ["none", "gzip", "snappy", "lz4", "zstd"];

const CLIENT: &str = "kcat";
const LIST: &str = "-L list";
const PRODUCE: &str = "-P produce, every codec";
const CONSUME: &str = "-C consume";
const GROUP_CONSUME: &str = "-G consume as a group";
const TIME_MAX: Duration = Duration::from_secs(120);

pub(super) fn run(checks: &mut Checks, tools: &Tools<'_>) -> Result<()> {
    if !is_installed() {
        for action in [LIST, PRODUCE, CONSUME, GROUP_CONSUME] {
            checks.skip(CLIENT, action, "kcat is not installed");
        }
        return Ok(());
    }
    checks.check(CLIENT, LIST, |log| {
        log.run(tools.create(TOPIC, PARTITIONS)?)?;
        let said = log.run(call(tools, &["-L", "-t", TOPIC])?)?.stdout;
        let expected = format!("topic \"{TOPIC}\" with {PARTITIONS} partitions:");
        ensure!(said.contains(&expected), "it does not say: {expected}");
        Ok(expected)
    })?;
    checks.check(CLIENT, PRODUCE, |log| produce(log, tools))?;
    checks.check(CLIENT, CONSUME, |log| {
        let arguments = [
            "-C",
            "-q",
            "-t",
            TOPIC,
            "-o",
            "beginning",
            "-e",
            "-f",
            "%k\\t%s\\n",
        ];
        let said = log.run(call(tools, &arguments)?)?;
        same(&input(), &said.stdout)
    })?;
    checks.check(CLIENT, GROUP_CONSUME, |log| consume_as_group(log, tools))?;
    Ok(())
}

fn is_installed() -> bool {
    Command::new("kcat").arg("-V").output().is_ok()
}

fn call(tools: &Tools<'_>, arguments: &[&str]) -> Result<Job> {
    (tools.alive)()?;
    let mut command = Command::new("kcat");
    // A user's own settings would change what is checked.
    command.env_remove("KCAT_CONFIG");
    command
        .args(["-b", &tools.servers, "-m", "30"])
        .args(arguments);
    let words = format!("kcat {}", arguments.join(" "));
    Ok(Job::new(words, command, TIME_MAX))
}

/// Everything that is sent, codec after codec; each has keys of its own.
fn input() -> String {
    let of_codec = |codec: &&str| lines(codec, RECORDS_PER_CODEC);
    CODECS.iter().map(of_codec).collect()
}

fn produce(log: &mut Transcript, tools: &Tools<'_>) -> Result<String> {
    for codec in CODECS {
        let arguments = ["-P", "-t", TOPIC, "-K", "\\t", "-z", codec];
        let input = lines(codec, RECORDS_PER_CODEC);
        log.run(call(tools, &arguments)?.with_input(&input)?)?;
    }
    Ok(format!(
        "{} lines each: {}",
        RECORDS_PER_CODEC,
        CODECS.join(", ")
    ))
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
    let said = log.run(call(tools, &arguments)?)?;
    let seen = same(&input, &said.stdout)?;
    let arguments = ["--describe", "--group", GROUP];
    let said = log.run(tools.call(Tool::GROUPS, &arguments)?)?.stdout;
    let lag = output::standing(&said, GROUP)?.lag;
    ensure!(lag == 0, "lag {lag} afterwards");
    Ok(format!("{seen}; lag 0 afterwards"))
}
