//! Brings files of Kafka releases with the ordinary Maven client, so that mirrors, proxies and
//! settings work as they do for everything else.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The plugin's version is fixed, so that Maven need not ask for the newest.
const PLUGIN: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1";

/// Reads the messages of `kafka-clients` as JSON, which Kafka's converters want.
const JACKSON: &str = "2.21.2";

/// The folder with the JSON definitions of `release`; fetched once, then kept under `target/`.
pub(super) fn definitions(release: &str) -> Result<PathBuf> {
    let folder = folder(release)?;
    let definitions = folder.join("common/message");
    if !definitions.is_dir() {
        let goal = [
            "unpack".to_owned(),
            format!("-Dartifact=org.apache.kafka:kafka-clients:{release}"),
            format!("-DoutputDirectory={}", folder.display()),
            "-Dmdep.unpack.includes=common/message/*.json".to_owned(),
        ];
        run(&folder, release, &goal)?;
    }
    Ok(definitions)
}

/// The Java class path with `kafka-clients` of `release` and what its JSON converters need.
pub(crate) fn class_path(release: &str) -> Result<String> {
    let folder = folder(release)?;
    let jars = folder.join("jars");
    if !jars.is_dir() {
        let goal = [
            "copy-dependencies".to_owned(),
            format!("-DoutputDirectory={}", jars.display()),
        ];
        run(&folder, release, &goal)?;
    }
    Ok(format!("{}/*", jars.display()))
}

fn folder(release: &str) -> Result<PathBuf> {
    let folder = super::root().join("target/codegen").join(release);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Runs one goal of the dependency plugin inside a generated project.
fn run(folder: &Path, release: &str, goal: &[String]) -> Result<()> {
    announce(release, &goal[0]);
    let pom = folder.join("pom.xml");
    fs::write(&pom, project(release))?;
    let status = Command::new("mvn")
        .args(["-q", "-B", "-f"])
        .arg(&pom)
        .arg(format!("{PLUGIN}:{}", goal[0]))
        .args(&goal[1..])
        .status()
        .context("Maven (mvn) could not be started")?;
    if !status.success() {
        bail!("Maven could not do {} for kafka-clients {release}", goal[0]);
    }
    Ok(())
}

fn project(release: &str) -> String {
    let dependency = |group: &str, artifact: &str, version: &str| {
        format!(
            "    <dependency>
      <groupId>{group}</groupId>
      <artifactId>{artifact}</artifactId>
      <version>{version}</version>
    </dependency>\n"
        )
    };
    format!(
        "<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>kgauge</groupId>
  <artifactId>codegen</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
{}{}  </dependencies>
</project>\n",
        dependency("org.apache.kafka", "kafka-clients", release),
        dependency("com.fasterxml.jackson.core", "jackson-databind", JACKSON),
    )
}

#[expect(clippy::print_stderr, reason = "a script says what it waits for")]
fn announce(release: &str, goal: &str) {
    eprintln!("Maven: {goal} for kafka-clients {release}");
}
