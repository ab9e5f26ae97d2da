//! `kgauge audit`: checks the output of other tools.

use std::fmt::Write as _;
use std::io::Read;

use anyhow::Context;
use kgauge_audit::{
    Audit, AuditInput, Finding, FindingSeverity, Options, parse_bits, parse_release,
    parse_with_unit,
};
use kgauge_results::run::BuildRecord;
use serde::Serialize;

use crate::args;
use crate::exit::{ExitStatus, OrStop, stop};
use crate::print;

/// The maximum size of a file. Logs are smaller, and a device has no end.
const FILE_BYTES_MAX: u64 = 256 << 20;
/// The maximum number of positions that are shown per finding.
const PLACES_MAX: usize = 6;
/// Columns of a terminal.
const WIDTH: usize = 80;

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
pub(crate) fn audit(arguments: &args::AuditArgs) -> anyhow::Result<ExitStatus> {
    let options = options(arguments)?;
    let sources: anyhow::Result<Vec<AuditInput>> =
        arguments.files.iter().map(|name| read(name)).collect();
    let sources = sources.or_bad_input()?;
    let audit = kgauge_audit::audit(&sources, &options);
    if audit.lines.is_empty() {
        let words = format!(
            "there is nothing to audit\n  {}\n  pass the output of Kafka's perf tools, rdkafka_performance or \
             OpenMessaging Benchmark",
            audit.remarks.join("\n  ")
        );
        return Err(stop(ExitStatus::BadInput, words));
    }
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
        print::result(&words(&audit));
    }
    Ok(match audit.contradictions() {
        0 => ExitStatus::Good,
        _ => ExitStatus::Failed,
    })
}

fn read(name: &str) -> anyhow::Result<AuditInput> {
    let mut bytes = Vec::new();
    let limit = FILE_BYTES_MAX + 1;
    let got = if name == "-" {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        let file = std::fs::File::open(name).with_context(|| format!("cannot open {name}"))?;
        file.take(limit).read_to_end(&mut bytes)
    };
    got.with_context(|| format!("cannot read {name}"))?;
    anyhow::ensure!(
        bytes.len() as u64 <= FILE_BYTES_MAX,
        "{name} is larger than 256 MiB\n  cut out the part that the tool has printed"
    );
    Ok((name.to_owned(), bytes))
}

fn options(arguments: &args::AuditArgs) -> anyhow::Result<Options> {
    let buffer = arguments.buffer_memory.as_deref();
    let buffer_bytes = value(
        "--buffer-memory",
        buffer,
        bytes,
        "give bytes, as in 33554432 or 32MiB",
    )?;
    let nic = arguments.nic.as_deref();
    let nic_bits_per_s = value(
        "--nic",
        nic,
        parse_bits,
        "give bits per second, such as 1G or 10G",
    )?;
    let as_of = arguments.as_of.as_deref();
    let as_of = value(
        "--as-of",
        as_of,
        parse_release,
        "give a release of Kafka, as in 1.0.2",
    )?;
    if nic_bits_per_s.is_some() && arguments.brokers.is_none() {
        let words = "--nic needs --brokers, the number of network cards that share the load";
        return Err(stop(ExitStatus::BadInput, words));
    }
    Ok(Options {
        buffer_bytes,
        nic_bits_per_s,
        brokers: arguments.brokers,
        replication: arguments.replication,
        partitions: arguments.partitions,
        as_of,
    })
}

/// The value of an option, or an error that shows the `expected` form.
fn value<T>(
    option: &str,
    text: Option<&str>,
    parse: impl Fn(&str) -> Option<T>,
    expected: &str,
) -> anyhow::Result<Option<T>> {
    let Some(text) = text else { return Ok(None) };
    let wrong = || stop(ExitStatus::BadInput, format!("{option} {text}: {expected}"));
    parse(text).map(Some).ok_or_else(wrong)
}

fn bytes(text: &str) -> Option<u64> {
    let (value, unit) = parse_with_unit(text)?;
    let factor = match unit {
        "" | "B" => 1.0,
        "KiB" => 1_024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        "kB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        _ => return None,
    };
    Some((value * factor) as u64)
}

/// The findings as text.
fn words(audit: &Audit) -> String {
    let mut text = String::new();
    let count = |level| {
        audit
            .findings
            .iter()
            .filter(|one| one.level == level)
            .count()
    };
    let _ = writeln!(
        text,
        "lines read {}, of them summaries with percentiles {}",
        audit.lines.len(),
        audit.summaries(),
    );
    let _ = writeln!(
        text,
        "contradictions {}, artefacts {}, cautions {}",
        count(FindingSeverity::Contradiction),
        count(FindingSeverity::Artefact),
        count(FindingSeverity::Caution),
    );
    for finding in &audit.findings {
        let _ = writeln!(text, "\n{}  {}", finding.level, places(finding));
        wrap(&mut text, &finding.text);
    }
    if !audit.remarks.is_empty() {
        text.push('\n');
    }
    for remark in &audit.remarks {
        wrap(&mut text, remark);
    }
    text
}

fn places(finding: &Finding) -> String {
    let shown = finding
        .places
        .iter()
        .take(PLACES_MAX)
        .map(ToString::to_string);
    let shown = shown.collect::<Vec<_>>().join(", ");
    match finding.places.len().saturating_sub(PLACES_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Appends words as indented lines.
fn wrap(to: &mut String, words: &str) {
    let mut length = WIDTH;
    for word in words.split_whitespace() {
        let wide = word.chars().count() + 1;
        if length + wide > WIDTH {
            to.push_str(if to.ends_with('\n') || to.is_empty() {
                "  "
            } else {
                "\n  "
            });
            length = 2;
        } else {
            to.push(' ');
        }
        to.push_str(word);
        length += wide;
    }
    to.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_rates_and_releases_are_read() {
        assert_eq!(
            [bytes("33554432"), bytes("32MiB"), bytes("64 MB")],
            [Some(33_554_432), Some(33_554_432), Some(64_000_000)]
        );
        assert_eq!([bytes("much"), bytes("-1"), bytes("3 parsec")], [None; 3]);
        assert_eq!(
            [
                parse_bits("1G"),
                parse_bits("10 Gbit/s"),
                parse_bits("100Mbps")
            ],
            [Some(1e9), Some(1e10), Some(1e8)]
        );
        assert_eq!(
            [
                parse_release("1.0.2"),
                parse_release("4"),
                parse_release("0.8.2.2")
            ],
            [Some((1, 0)), Some((4, 0)), Some((0, 8))]
        );
        assert_eq!([parse_release("new"), parse_release("1.x")], [None; 2]);
    }

    #[test]
    fn words_fit_a_terminal() {
        let mut text = String::new();
        wrap(&mut text, &"arithmetic ".repeat(30));
        assert!(
            text.lines().all(|line| line.chars().count() <= WIDTH),
            "{text}"
        );
        assert!(
            text.lines().all(|line| line.starts_with("  arithmetic")),
            "{text}"
        );
    }
}
