//! A program that answers as `kubectl` does, first in the PATH of commands.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::Value;

use crate::site::Site;

/// A link leads to it: a program that a test has just written may be busy, because a process that another test starts
/// inherits the open file for a moment.
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program/kubectl.sh");

/// Puts the program into the site.
pub(crate) fn install(site: &Site) {
    fs::create_dir(site.path("bin")).unwrap();
    symlink(PROGRAM, site.path("bin/kubectl")).unwrap();
}

/// An object, or a list of all objects of a kind if it has no name.
pub(crate) fn object(site: &Site, kind: &str, name: Option<&str>, object: &Value) {
    let name = name.map_or_else(String::new, |name| format!("-{name}"));
    site.write(&format!("bin/get-{kind}{name}.json"), &object.to_string());
}

/// Words that print the manifest of a run.
pub(crate) fn manifest<'a>(what: &'a str, target: &'a str) -> [&'a str; 6] {
    let agents = "k8s:replicas=2,namespace=perf";
    ["agents", "manifest", agents, what, "--target", target]
}

/// A command that finds the program.
pub(crate) fn command(site: &Site, arguments: &[&str]) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = site.command(arguments);
    command.env("PATH", format!("{}:{path}", site.path("bin").display()));
    command
}
