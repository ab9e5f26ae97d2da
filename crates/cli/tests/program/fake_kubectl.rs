//! A program that answers as `kubectl` does, first in the PATH of commands.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::Value;

use crate::site::Site;

const PROGRAM: &str = include_str!("kubectl.sh");

/// Puts the program into the site.
pub(crate) fn install(site: &Site) {
    fs::create_dir(site.path("bin")).unwrap();
    site.write("bin/kubectl", PROGRAM);
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(site.path("bin/kubectl"), mode).unwrap();
}

/// An object, or a list of all objects of a kind if it has no name.
pub(crate) fn object(site: &Site, kind: &str, name: Option<&str>, object: &Value) {
    let name = name.map_or_else(String::new, |name| format!("-{name}"));
    site.write(&format!("bin/get-{kind}{name}.json"), &object.to_string());
}

/// A command that finds the program.
pub(crate) fn command(site: &Site, arguments: &[&str]) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = site.command(arguments);
    command.env("PATH", format!("{}:{path}", site.path("bin").display()));
    command
}
