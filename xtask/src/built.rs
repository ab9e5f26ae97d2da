//! Has cargo build a program, and finds where cargo put it.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::folders::root;
use crate::kafka;
use crate::say::remark;

/// The program that a command uses.
#[derive(Debug, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct ProgramOption {
    /// A program that is built already; without it cargo builds one
    #[arg(long = "binary", value_name = "PATH")]
    path: Option<PathBuf>,
}

impl ProgramOption {
    /// kgauge itself.
    pub(crate) fn kgauge(&self) -> Result<PathBuf> {
        self.or_build(kgauge)
    }

    /// An example of a package.
    pub(crate) fn example(&self, package: &str, name: &str) -> Result<PathBuf> {
        self.or_build(|| example(package, name))
    }

    fn or_build(&self, build: impl FnOnce() -> Result<PathBuf>) -> Result<PathBuf> {
        match &self.path {
            Some(path) => {
                fs::canonicalize(path).with_context(|| format!("there is no {}", path.display()))
            }
            None => build(),
        }
    }
}

/// What tells a build from others: results of several builds can be told apart by it.
pub(crate) fn fingerprint(program: &Path) -> Result<String> {
    let bytes = fs::read(program).with_context(|| format!("cannot read {}", program.display()))?;
    let mut hasher = DefaultHasher::new();
    hasher.write(&bytes);
    Ok(format!("{:016x}", hasher.finish()))
}

/// kgauge itself, from the same packages as with `cargo run --release`.
pub(crate) fn kgauge() -> Result<PathBuf> {
    release("kgauge", &["--bin", "kgauge"])
}

/// An example that need not be fast: it has the profile of the tests. All packages are selected, as `cargo test
/// --workspace` does, which has then built it already: with one package, dependencies could have other features.
pub(crate) fn test_example(name: &str) -> Result<PathBuf> {
    build(name, &["--workspace", "--example", name])
}

/// An example of a package.
pub(crate) fn example(package: &str, name: &str) -> Result<PathBuf> {
    release(name, &["--package", package, "--example", name])
}

fn release(name: &str, selection: &[&str]) -> Result<PathBuf> {
    build(name, &[&["--release"], selection].concat())
}

fn build(name: &str, selection: &[&str]) -> Result<PathBuf> {
    remark(&format!("cargo: building {name}"));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    // Without cargo's variables about this package: build scripts of dependencies that read them would run again, and
    // all dependent packages would be rebuilt.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&*name);
        }
    }
    command
        .args(["build", "--locked"])
        .args(selection)
        .arg("--message-format=json-render-diagnostics")
        .current_dir(root());
    let (status, messages) = kafka::printed(&mut command)?;
    ensure!(status.success(), "{name} could not be built");
    executable(&messages).with_context(|| format!("cargo names no program of {name}"))
}

/// The program in cargo's messages, one JSON object a line. Dependencies make none.
fn executable(messages: &str) -> Option<PathBuf> {
    let mut programs = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    });
    programs.next_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_have_different_fingerprints() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| {
            let path = folder.path().join(name);
            fs::write(&path, &name[..1]).unwrap();
            path
        };
        let of = |name: &str| fingerprint(&path(name)).unwrap();
        assert_eq!(of("a"), of("a2"));
        assert_ne!(of("a"), of("b"));
        assert!(fingerprint(&folder.path().join("none")).is_err());
    }

    #[test]
    fn the_program_is_found_among_cargos_messages() {
        let messages = r#"{"reason":"compiler-artifact","executable":null}
{"reason":"compiler-artifact","executable":"/t/release/kgauge"}
{"reason":"build-finished","success":true}"#;
        assert_eq!(executable(messages), Some("/t/release/kgauge".into()));
        assert_eq!(executable(r#"{"executable":null}"#), None);
    }
}
