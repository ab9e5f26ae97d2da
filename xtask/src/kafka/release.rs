//! A Kafka release: its jars, fetched once into a cache, and the way its own scripts start Java.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::codegen::root;
use crate::maven;

/// The release that is compared with, and whose tools are used.
pub(crate) const RELEASE: &str = "4.3.1";

/// Kafka's jars bring no logger along. This one writes to stderr and needs no file; its version is
/// that of the `slf4j-api` which Kafka uses.
const LOGGER: maven::MavenArtifact<'_> = ("org.slf4j", "slf4j-simple", "1.7.36");

/// What `kafka-run-class.sh` gives to every Java process.
const JVM: &[&str] = &[
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-Djava.awt.headless=true",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
];

/// The jars of Kafka's server and tools.
#[derive(Debug)]
pub(crate) struct ReleaseJars {
    jars: PathBuf,
}

impl ReleaseJars {
    /// Fetches it with Maven, unless an earlier run has.
    pub(crate) fn fetch() -> Result<ReleaseJars> {
        let artifacts = [
            ("org.apache.kafka", "kafka_2.13", RELEASE),
            ("org.apache.kafka", "kafka-tools", RELEASE),
            LOGGER,
        ];
        let jars = fetch(RELEASE, &artifacts)?;
        Ok(ReleaseJars { jars })
    }

    /// Java with this class of the release; `heap` as the release's scripts give it, such as
    /// `["-Xmx512M"]`.
    pub(crate) fn java(&self, heap: &[&str], class: &str) -> Command {
        let mut command = Command::new("java");
        command
            .args(heap)
            .args(JVM)
            .arg("-cp")
            .arg(self.jars.join("*"))
            .arg(class);
        command
    }
}

/// The folder with the jars of a release, the first artifact among them: fetched with Maven, unless an
/// earlier run has.
pub(crate) fn fetch(release: &str, artifacts: &[maven::MavenArtifact<'_>]) -> Result<PathBuf> {
    let folder = root().join("target/kafka").join(release);
    let jars = folder.join("jars");
    if !jars.is_dir() {
        fs::create_dir_all(&folder)?;
        // Under another name until all of it is there: an aborted fetch must not look whole.
        let partial = folder.join("jars.partial");
        if partial.is_dir() {
            fs::remove_dir_all(&partial)?;
        }
        fetch_into(&folder, &partial, artifacts)?;
        fs::rename(&partial, &jars)?;
    }
    Ok(jars)
}

fn fetch_into(folder: &Path, jars: &Path, artifacts: &[maven::MavenArtifact<'_>]) -> Result<()> {
    let goal = [
        "copy-dependencies".to_owned(),
        format!("-DoutputDirectory={}", jars.display()),
    ];
    maven::run(folder, artifacts, &goal)?;
    let Some((_, artifact, version)) = artifacts.first() else {
        return Ok(());
    };
    let server = jars.join(format!("{artifact}-{version}.jar"));
    let is_there = server.try_exists().context("the cache cannot be read")?;
    ensure!(is_there, "Maven has not brought {}", server.display());
    Ok(())
}
