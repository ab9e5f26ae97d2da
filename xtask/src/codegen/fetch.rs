//! Gets the definitions out of a release's `kafka-clients` jar, with the ordinary Maven client.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The plugin's version is fixed, so that Maven need not ask for the newest.
const PLUGIN: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:unpack";

/// An empty project: without one, the plugin leaves its marks in the current folder.
const POM: &str = "\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>kgauge</groupId>
  <artifactId>definitions</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
</project>
";

/// The folder with the JSON definitions of `release`; fetched once, then kept under `target/`.
pub(super) fn definitions(release: &str) -> Result<PathBuf> {
    let folder = super::root().join("target/codegen").join(release);
    let definitions = folder.join("common/message");
    if definitions.is_dir() {
        return Ok(definitions);
    }
    announce(release);
    fs::create_dir_all(&folder)?;
    let pom = folder.join("pom.xml");
    fs::write(&pom, POM)?;
    let status = Command::new("mvn")
        .args(["-q", "-B", PLUGIN, "-f"])
        .arg(&pom)
        .arg(format!(
            "-Dartifact=org.apache.kafka:kafka-clients:{release}"
        ))
        .arg(format!("-DoutputDirectory={}", folder.display()))
        .arg("-Dmdep.unpack.includes=common/message/*.json")
        .status()
        .context("Maven (mvn) could not be started")?;
    if !status.success() || !definitions.is_dir() {
        bail!("Maven did not bring the definitions of kafka-clients {release}");
    }
    Ok(definitions)
}

#[expect(clippy::print_stderr, reason = "a script says what it waits for")]
fn announce(release: &str) {
    eprintln!("fetching the message definitions of kafka-clients {release}");
}
