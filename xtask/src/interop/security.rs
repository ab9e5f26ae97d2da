//! Checks: TLS and SASL. Kafka's tools and kcat are let in by the files that `kgauge cluster up`
//! writes for them, and a wrong password is refused.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::actions::{Action, InteropClient};
use super::checks::{Checks, Name, Transcript};
use super::console::{lines, same};
use super::kcat;
use crate::kafka::{Job, KafkaScript, Tools, output};

/// What is put behind the target, and the row that it counts for.
pub(super) const KINDS: [(&str, Action); 5] = [
    ("tls", Action::Tls),
    ("mtls", Action::MutualTls),
    ("sasl-plain", Action::SaslPlain),
    ("scram-sha-256", Action::SaslScram),
    ("scram-sha-512+tls", Action::SaslScramTls),
];

const JAVA_TOPIC: &str = "interop-secured";
const KCAT_TOPIC: &str = "interop-secured-kcat";
const GROUP: &str = "interop-secured-group";
const RECORDS: u64 = 5_000;
const LINES: usize = 2_000;

const TIME_MAX: Duration = Duration::from_secs(120);

/// `properties` is the client.properties of the cluster.
pub(super) fn run(
    checks: &mut Checks,
    tools: &Tools<'_>,
    properties: &Path,
    action: Action,
    wants: &dyn Fn(InteropClient) -> bool,
) -> Result<()> {
    if wants(InteropClient::Kafka) {
        let name = Name::of(InteropClient::Kafka, action);
        checks.check(name, |log| java(log, tools, properties))?;
    }
    if !wants(InteropClient::Kcat) {
        return Ok(());
    }
    let name = Name::of(InteropClient::Kcat, action);
    if !kcat::is_installed() {
        checks.missing(name, "no kcat in PATH");
        return Ok(());
    }
    let properties = properties.with_file_name("librdkafka.properties");
    checks.check(name, |log| send_and_read(log, tools, &properties))?;
    if matches!(
        action,
        Action::SaslPlain | Action::SaslScram | Action::SaslScramTls
    ) {
        checks.check(("kcat", "a wrong password is refused"), |log| {
            let wrong = ["-L", "-m", "5", "-X", "sasl.password=wrong"];
            let finished = log.run_any(call(tools, &properties, &wrong)?)?;
            ensure!(finished.success().is_err(), "it was let in");
            Ok("not let in".to_owned())
        })?;
    }
    Ok(())
}

fn java(log: &mut Transcript, tools: &Tools<'_>, properties: &Path) -> Result<String> {
    let properties = properties.to_str().context("the path is not UTF-8")?;
    let by = ["--command-config", properties];
    let topic = ["--create", "--topic", JAVA_TOPIC, "--partitions", "3"];
    let topic = [&topic[..], &["--replication-factor", "3"], &by].concat();
    log.run_tool(tools, KafkaScript::TOPICS, &topic)?;

    let records = RECORDS.to_string();
    let what = ["--topic", JAVA_TOPIC, "--num-records", &records];
    let how = ["--record-size", "100", "--throughput", "-1"];
    let produce = [&what[..], &how, &by].concat();
    let stdout = log.run_tool(tools, KafkaScript::PRODUCER_PERF, &produce)?;
    let sent = output::sent(&stdout)?.records;
    ensure!(sent == RECORDS, "{sent} of {RECORDS} sent");

    let consume = [&what[..], &by].concat();
    let stdout = log.run_tool(tools, KafkaScript::CONSUMER_PERF, &consume)?;
    let read = output::consumed(&stdout)?;
    ensure!(read == RECORDS, "{read} of {RECORDS} read");
    Ok(format!("{sent} sent, {read} read"))
}

fn call(tools: &Tools<'_>, properties: &Path, arguments: &[&str]) -> Result<Job> {
    (tools.alive)()?;
    let mut command = Command::new("kcat");
    command.arg("-F").arg(properties).args(arguments);
    Ok(Job::new(
        format!("kcat -F {} {}", properties.display(), arguments.join(" ")),
        command,
        TIME_MAX,
    ))
}

/// By kcat, which reads once without a group and once with one.
fn send_and_read(log: &mut Transcript, tools: &Tools<'_>, properties: &Path) -> Result<String> {
    let input = lines("secured", LINES);
    let what = ["-P", "-t", KCAT_TOPIC, "-K", "\\t"];
    let how = ["-X", "enable.idempotence=true", "-X", "acks=all"];
    let produce = call(tools, properties, &[&what[..], &how].concat())?;
    log.run(produce.with_input(&input)?)?;
    let what = ["-C", "-q", "-t", KCAT_TOPIC, "-o", "beginning", "-e"];
    let format = ["-f", "%k\\t%s\\n"];
    let consume = call(tools, properties, &[&what[..], &format].concat())?;
    let seen = same(&input, &log.run(consume)?.stdout)?;
    let count = LINES.to_string();
    let what = ["-G", GROUP, "-q", "-c", &count];
    let how = ["-X", "auto.offset.reset=earliest", KCAT_TOPIC];
    let group = call(tools, properties, &[&what[..], &format, &how].concat())?;
    same(&input, &log.run(group)?.stdout)?;
    Ok(format!("{seen}; the same by group"))
}
