//! What the generators need of Kafka releases: message definitions and Java classes.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use kgauge_target::kafka::{MavenRequest, fetch_jars};

use crate::folders::{make_empty, root};
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
    let classes = folder_of(release).join(format!("classes-{class}"));
    make_empty(&classes)?;
    let compiled = Command::new("javac")
        .args(["-cp", &jars, "-d"])
        .arg(&classes)
        .arg(root().join(format!("xtask/java/{class}.java")))
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

/// What of a release is kept.
fn folder_of(release: &str) -> PathBuf {
    root().join("target/codegen").join(release)
}

fn jars(release: &str) -> Result<PathBuf> {
    let folder = folder_of(release);
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
    Ok(fetch_jars(
        &request,
        &kafka::setup(&folder),
        &stop::interrupt(),
    )?)
}
