//! What the generators need of Kafka releases: message definitions and Java classes.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use kgauge_target::kafka::{MavenRequest, fetch_jars};

use crate::{kafka, stop};

/// Reads the messages of `kafka-clients` as JSON, for Kafka's converters.
const JACKSON: &str = "2.21.2";

/// The folder with the JSON definitions of `release`; fetched once, then kept under `target/`.
pub(super) fn definitions(release: &str) -> Result<PathBuf> {
    let jars = jars(release)?;
    let definitions = jars.join("common/message");
    if !definitions.is_dir() {
        let status = Command::new("jar")
            .args(["--extract", "--file"])
            .arg(jars.join(format!("kafka-clients-{release}.jar")))
            .arg("common/message")
            .current_dir(&jars)
            .status()
            .context("the JDK's program jar could not be started")?;
        ensure!(status.success(), "the definitions could not be unpacked");
    }
    Ok(definitions)
}

/// A program of `xtask/java`, compiled against `kafka-clients` of `release` and ready to be started.
pub(crate) fn java(release: &str, class: &str) -> Result<Command> {
    let jars = format!("{}/*", jars(release)?.display());
    let classes = empty_folder(&format!("{release}/classes-{class}"))?;
    let compiled = Command::new("javac")
        .args(["-cp", &jars, "-d"])
        .arg(&classes)
        .arg(super::root().join(format!("xtask/java/{class}.java")))
        .status()
        .context("the Java compiler (javac) could not be started")?;
    ensure!(
        compiled.success(),
        "{class}.java does not compile with {release}"
    );
    let mut command = Command::new("java");
    command.args(["-cp", &format!("{jars}:{}", classes.display()), class]);
    Ok(command)
}

/// A folder below `target/codegen` without what an earlier run left in it.
pub(crate) fn empty_folder(name: &str) -> Result<PathBuf> {
    let folder = super::root().join("target/codegen").join(name);
    if folder.is_dir() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn jars(release: &str) -> Result<PathBuf> {
    let folder = super::root().join("target/codegen").join(release);
    let artifact = |group, name: &str, version: &str| (group, name.to_owned(), version.to_owned());
    let request = MavenRequest {
        version: &release.parse()?,
        artifacts: vec![
            artifact("org.apache.kafka", "kafka-clients", release),
            artifact("com.fasterxml.jackson.core", "jackson-databind", JACKSON),
        ],
        proof: format!("kafka-clients-{release}.jar"),
        remark: format!("downloading kafka-clients {release} with Maven, once"),
        dir: folder.clone(),
    };
    let jars = fetch_jars(&request, &kafka::setup(&folder), &stop::interrupt())?;
    Ok(jars)
}
