//! The load: kgauge's engine in a separate process, which waits at gates while the CPU time of the brokers
//! is read.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::super::contender::{BATCH_BYTES, VALUE_BYTES};
use super::served::ServedCluster;
use crate::stop;

/// The example `cost` of the crate `load`.
#[derive(Debug, Clone)]
pub(super) struct Loader {
    pub(super) program: PathBuf,
    pub(super) records: u64,
}

/// What a part of a run cost the brokers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cost {
    /// CPU of all brokers together.
    pub(super) cpu_ns_per_record: f64,
    pub(super) records_per_s: f64,
}

/// The program while it runs; dropping it ends it.
struct LoadProcess(Child);

impl Drop for LoadProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Loader {
    /// Writes the records with acks=all, and reads them: what each part cost.
    pub(super) fn run(&self, served: &ServedCluster, replication: u32) -> Result<[Cost; 2]> {
        let mut command = Command::new(&self.program);
        command.arg(&served.servers);
        for number in [
            self.records,
            VALUE_BYTES,
            BATCH_BYTES,
            u64::from(replication),
        ] {
            command.arg(number.to_string());
        }
        let child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("the load could not be started")?;
        let mut started = LoadProcess(child);
        let mut gates = started.0.stdin.take().context("it has no stdin")?;
        let stdout = started.0.stdout.take().context("it has no stdout")?;
        let mut lines = BufReader::new(stdout);
        let mut costs = Vec::new();
        for part in ["produce", "consume"] {
            let words = line(&mut lines)?;
            ensure!(words == format!("before {part}"), "the load says {words:?}");
            let before = served.cpu()?;
            writeln!(gates)?;
            let words = line(&mut lines)?;
            let spent = served.cpu()?.saturating_sub(before);
            let seconds = words.strip_prefix(&format!("after {part} "));
            let seconds = seconds.with_context(|| format!("the load says {words:?}"))?;
            let took = Duration::from_secs_f64(seconds.parse()?);
            costs.push(Cost {
                cpu_ns_per_record: spent.as_nanos() as f64 / self.records as f64,
                records_per_s: self.records as f64 / took.as_secs_f64(),
            });
            writeln!(gates)?;
        }
        let status = started.0.wait()?;
        ensure!(status.success(), "the load ended with {status}");
        match costs[..] {
            [produced, consumed] => Ok([produced, consumed]),
            _ => bail!("the load has two parts"),
        }
    }
}

fn line(from: &mut impl BufRead) -> Result<String> {
    stop::check()?;
    let mut line = String::new();
    from.read_line(&mut line)?;
    stop::check()?;
    ensure!(!line.is_empty(), "the load has ended too early");
    Ok(line.trim_end().to_owned())
}
