//! Brings files with the ordinary Maven client, so that mirrors, proxies and settings work as they
//! do for everything else.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::say::remark;

/// The plugin's version is fixed, so that Maven need not ask for the newest.
const PLUGIN: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1";

/// Group, artifact and version.
pub(crate) type MavenArtifact<'a> = (&'a str, &'a str, &'a str);

/// Runs one goal of the dependency plugin inside a project, written to `folder`, that depends on
/// these artifacts. `goal` is its name, and then its properties.
pub(crate) fn run(folder: &Path, artifacts: &[MavenArtifact<'_>], goal: &[String]) -> Result<()> {
    let names = artifacts
        .iter()
        .map(|(_, artifact, version)| format!("{artifact} {version}"));
    let names = names.collect::<Vec<_>>().join(", ");
    remark(&format!("Maven: {} for {names}", goal[0]));
    let pom = folder.join("pom.xml");
    fs::write(&pom, project(artifacts))?;
    let status = Command::new("mvn")
        .args(["-q", "-B", "-Dstyle.color=never", "-f"])
        .arg(&pom)
        .arg(format!("{PLUGIN}:{}", goal[0]))
        .args(&goal[1..])
        .status()
        .context("Maven (mvn) could not be started")?;
    if !status.success() {
        bail!("Maven could not do {} for {names}", goal[0]);
    }
    Ok(())
}

fn project(artifacts: &[MavenArtifact<'_>]) -> String {
    let dependency = |(group, artifact, version): &MavenArtifact<'_>| {
        format!(
            "    <dependency>
      <groupId>{group}</groupId>
      <artifactId>{artifact}</artifactId>
      <version>{version}</version>
    </dependency>\n"
        )
    };
    let dependencies: String = artifacts.iter().map(dependency).collect();
    format!(
        "<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>kgauge</groupId>
  <artifactId>fetched</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
{dependencies}  </dependencies>
</project>\n"
    )
}
