//! The command-line tools of a release, for any cluster.

use std::ffi::OsString;
use std::process::Command;

use kgauge_client::Interrupt;

use super::error::KafkaError;
use super::fetch;
use super::java;
use super::launch;
use super::release::{KafkaDistribution, Logger};
use super::setup::KafkaSetup;
use super::version::Version;

/// Java flags for short calls, without Java's second compiler and a collector with threads of its own: they take more
/// time than such a call gains by them.
const QUICK: &[&str] = &[
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-Djava.awt.headless=true",
];

/// The tools of a release, ready to start.
#[derive(Debug, Clone)]
pub struct ReleaseTools {
    java: std::path::PathBuf,
    class_path: OsString,
    logger: Logger,
    /// Java flags of every call.
    jvm: &'static [&'static str],
}

impl ReleaseTools {
    /// Finds Java, and downloads the tools unless they are cached.
    pub fn find(
        version: &Version,
        setup: &KafkaSetup,
        interrupt: &Interrupt,
    ) -> Result<ReleaseTools, KafkaError> {
        let release = KafkaDistribution::of(version);
        let java = java::find(setup)?;
        java::check(&java, &release)?;
        let jars = fetch::tool_jars(&release, setup, interrupt)?;
        Ok(ReleaseTools {
            java: java.path,
            class_path: jars.class_path(),
            logger: release.logger,
            jvm: launch::JVM,
        })
    }

    /// The same tools with a quicker start, and less speed later: for checks of what they do, not for measurements.
    pub fn with_quick_start(self) -> ReleaseTools {
        ReleaseTools { jvm: QUICK, ..self }
    }

    /// Java with a class of the release, as the scripts of the performance tools start it.
    pub fn command(&self, class: &str) -> Command {
        self.command_with_heap("-Xmx512M", class)
    }

    /// Java with a class of the release and a script's flag for the heap, such as `-Xmx512M`.
    pub fn command_with_heap(&self, heap: &str, class: &str) -> Command {
        let mut command = Command::new(&self.java);
        command.arg(heap).args(self.jvm);
        if self.logger == Logger::Simple {
            command.arg("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
        }
        command.arg("-cp").arg(&self.class_path).arg(class);
        command
    }
}
