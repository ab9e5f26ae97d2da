//! `kgauge audit`: checks the output of other tools.

use std::io::{self, Read};

use anyhow::{anyhow, ensure};
use kgauge_audit::{AuditInput, Finding, OptionTexts, Options};
use kgauge_results::run::BuildRecord;
use kgauge_runner::OrRunError;
use serde::Serialize;

use crate::args::AuditArgs;
use crate::exit::ExitStatus;
use crate::print;

/// The maximum size of a file. Logs are smaller, and a device has no end.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// The output of `--json`.
#[derive(Debug, Serialize)]
struct AuditJson<'a> {
    format: u32,
    kgauge: BuildRecord,
    lines: usize,
    summaries: usize,
    contradictions: usize,
    findings: &'a [Finding],
    remarks: &'a [String],
}

/// Audits files and prints the findings.
pub(crate) fn audit(arguments: &AuditArgs) -> anyhow::Result<ExitStatus> {
    let options = options(arguments)?;
    let sources: anyhow::Result<Vec<AuditInput>> =
        arguments.files.iter().map(|name| read(name)).collect();
    let audit = kgauge_audit::audit(&sources?, &options);
    ensure!(
        !audit.lines.is_empty(),
        "there is nothing to audit\n  {}\n  pass the output of Kafka's perf tools, rdkafka_performance or \
         OpenMessaging Benchmark",
        audit.remarks.join("\n  ")
    );
    if arguments.json {
        print::json(&AuditJson {
            format: 1,
            kgauge: BuildRecord::this(),
            lines: audit.lines.len(),
            summaries: audit.summaries(),
            contradictions: audit.contradictions(),
            findings: &audit.findings,
            remarks: &audit.remarks,
        })?;
    } else {
        print::result(&audit.to_string());
    }
    Ok(match audit.contradictions() {
        0 => ExitStatus::Good,
        _ => ExitStatus::Failed,
    })
}

fn read(name: &str) -> anyhow::Result<AuditInput> {
    let mut bytes = Vec::new();
    let limit = FILE_BYTES_MAX + 1;
    let refused = |what: &str, error: io::Error| anyhow!("cannot {what} {name}: {error}");
    let got = if name == "-" {
        io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        let file = std::fs::File::open(name).map_err(|error| refused("open", error))?;
        file.take(limit).read_to_end(&mut bytes)
    };
    got.map_err(|error| refused("read", error))?;
    ensure!(
        bytes.len() as u64 <= FILE_BYTES_MAX,
        "{name} is larger than 256 MiB\n  pass only the output of the tool"
    );
    Ok((name.to_owned(), bytes))
}

fn options(arguments: &AuditArgs) -> anyhow::Result<Options> {
    let options = Options::read(&OptionTexts {
        buffer_memory: arguments.buffer_memory.as_deref(),
        nic: arguments.nic.as_deref(),
        brokers: arguments.brokers,
        replication: arguments.replication,
        partitions: arguments.partitions,
        as_of: arguments.as_of.as_deref(),
    });
    Ok(options.or_bad_input()?)
}
