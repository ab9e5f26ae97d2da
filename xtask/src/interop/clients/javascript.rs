//! @platformatic/kafka: installed by npm from its lock file, without running scripts of packages.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::{Client, copy, job, source, version};
use crate::folders::{is_installed, mark_installed};
use crate::interop::checks::Transcript;

/// The oldest release of Node.js that the client supports: see `engines` in its package.json.
const NODE_MIN: [u32; 3] = [20, 19, 4];

const FILES: [&str; 3] = ["package.json", "package-lock.json", ".npmrc"];

pub(super) fn install(log: &mut Transcript, folder: &Path) -> Result<Client> {
    let Some(node) = version("node", "--version") else {
        return Ok(Client::Missing("no node in PATH".to_owned()));
    };
    if numbers(&node) < Some(NODE_MIN) {
        let [major, minor, patch] = NODE_MIN;
        let why =
            format!("node {major}.{minor}.{patch} or newer is needed, but {node} is installed");
        return Ok(Client::Missing(why));
    }
    if version("npm", "--version").is_none() {
        return Ok(Client::Missing("no npm in PATH".to_owned()));
    }
    let from = source("javascript");
    let list = from.join("package-lock.json");
    if !is_installed(folder, &list)? {
        for name in FILES {
            copy(name, &from, folder)?;
        }
        let mut fetch = Command::new("npm");
        fetch
            .args(["ci", "--ignore-scripts", "--omit=optional"])
            .args(["--no-audit", "--no-fund"])
            .current_dir(folder);
        log.run(job("npm ci", fetch))?;
        mark_installed(folder, &list)?;
    }
    // Node resolves modules from the folder of the program, so the program is copied to theirs.
    for name in PROGRAM {
        copy(name, &from, folder)?;
    }
    let mut command = Command::new("node");
    command
        .arg(folder.join("main.mjs"))
        .env_remove("NODE_OPTIONS");
    Ok(Client::Ready(command))
}

/// Our own files.
const PROGRAM: [&str; 5] = [
    "admin.mjs",
    "group.mjs",
    "main.mjs",
    "records.mjs",
    "suite.mjs",
];

/// `v20.19.4` as numbers.
fn numbers(version: &str) -> Option<[u32; 3]> {
    let mut parts = version.trim_start_matches('v').split(['.', '-']);
    let mut next = || parts.next()?.parse().ok();
    Some([next()?, next()?, next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_their_numbers() {
        assert_eq!(numbers("v20.19.4"), Some([20, 19, 4]));
        assert_eq!(numbers("v24.0.0-nightly"), Some([24, 0, 0]));
        assert!(numbers("v20.9.0") < Some(NODE_MIN) && numbers("v22.0.0") > Some(NODE_MIN));
        assert!(numbers("unknown") < Some(NODE_MIN));
    }
}
