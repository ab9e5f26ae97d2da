//! What the generators need of Kafka releases: message definitions and Java classes.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;

use crate::maven;

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
        maven::run(&folder, &artifacts(release), &goal)?;
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
        maven::run(&folder, &artifacts(release), &goal)?;
    }
    Ok(format!("{}/*", jars.display()))
}

fn folder(release: &str) -> Result<PathBuf> {
    let folder = super::root().join("target/codegen").join(release);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn artifacts(release: &str) -> [maven::MavenArtifact<'_>; 2] {
    [
        ("org.apache.kafka", "kafka-clients", release),
        ("com.fasterxml.jackson.core", "jackson-databind", JACKSON),
    ]
}
