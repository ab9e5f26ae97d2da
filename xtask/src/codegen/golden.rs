//! `cargo xtask golden`: remakes `crates/wire/tests/golden`, the bytes that Kafka's own Java
//! classes write. `xtask/java/Golden.java` says which values the messages hold.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::{Context, Result, bail, ensure};

use super::model::{MessageModel, MessageModule};
use super::versions::Versions;
use super::{RELEASE_NEW, RELEASE_OLD, maven, write};
use crate::folders::root;

/// Stands in the head of every golden file; a stale one is known by it.
const MARK: &str = "Remade by `cargo xtask golden`.";

/// The headers, which are no messages of the model, with the release for each range of versions.
const HEADERS: &[(&str, &str)] = &[
    (RELEASE_OLD, "RequestHeader:0-0"),
    (RELEASE_NEW, "RequestHeader:1-2"),
    (RELEASE_NEW, "ResponseHeader:0-1"),
];

/// Runs the command.
pub(crate) fn run(options: &super::CheckOptions) -> Result<()> {
    let groups = super::load_groups()?;
    let messages = || groups.iter().flat_map(|group| &group.messages);
    let old = messages().filter_map(old_versions);
    let new = messages().filter_map(new_versions);
    let headers = |release| {
        let of_release = HEADERS.iter().filter(move |header| header.0 == release);
        of_release.map(|header| header.1.to_owned())
    };
    let mut lines = java(RELEASE_OLD, old.chain(headers(RELEASE_OLD)))?;
    lines.extend(java(RELEASE_NEW, new.chain(headers(RELEASE_NEW)))?);
    let errors = java(RELEASE_NEW, ["errors".to_owned()].into_iter())?;

    let mut files = BTreeMap::new();
    for group in &groups {
        files.insert(
            format!("tests/golden/{}.txt", group.module()),
            group_file(group, &lines)?,
        );
    }
    let of_headers = |line: &&String| line.contains("Header ");
    let headers = lines.iter().filter(of_headers).cloned().collect::<Vec<_>>();
    files.insert(
        "tests/golden/headers.txt".to_owned(),
        head("bytes") + &headers.join("\n") + "\n",
    );
    let errors = head("the table of error codes") + &errors.join("\n") + "\n";
    files.insert("tests/golden/error_codes.txt".to_owned(), errors);
    write::write_or_compare(&root().join("crates/wire"), files, MARK, options.check)
}

fn head(content: &str) -> String {
    format!("# What kafka-clients {RELEASE_OLD} and {RELEASE_NEW} write: {content}. {MARK}\n")
}

fn old_versions(message: &MessageModel) -> Option<String> {
    let Versions { low, .. } = message.versions;
    let dropped = low < message.release_new_from;
    dropped.then(|| format!("{}:{low}-{}", message.name, message.release_new_from - 1))
}

fn new_versions(message: &MessageModel) -> Option<String> {
    let high = message.versions.high;
    Some(format!(
        "{}:{}-{high}",
        message.name, message.release_new_from
    ))
}

/// The group's lines, by message and version; every version must be there.
fn group_file(group: &MessageModule, lines: &[String]) -> Result<String> {
    let mut out = head("message, version, variant, bytes");
    for message in &group.messages {
        for version in message.versions.iter() {
            let prefix = format!("{} {version} ", message.name);
            let found: Vec<_> = lines
                .iter()
                .filter(|line| line.starts_with(&prefix))
                .collect();
            ensure!(!found.is_empty(), "Java wrote nothing for {prefix}");
            for line in found {
                let _ = writeln!(out, "{line}");
            }
        }
    }
    Ok(out)
}

/// What the Java program prints for these arguments, on a release's class path.
fn java(release: &str, arguments: impl Iterator<Item = String>) -> Result<Vec<String>> {
    let output = maven::java(release, "Golden")?
        .args(arguments)
        .output()
        .context("java could not be started")?;
    if !output.status.success() {
        bail!(
            "Golden.java failed:\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(String::from_utf8(output.stdout)?
        .lines()
        .map(str::to_owned)
        .collect())
}
