//! franz-go: a Go program that is built with the ordinary `go` command.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::{Client, job, source, version};
use crate::interop::checks::Transcript;

pub(super) fn install(log: &mut Transcript, folder: &Path) -> Result<Client> {
    if version("go", "version").is_none() {
        return Ok(Client::Missing("no go in PATH".to_owned()));
    }
    fs::create_dir_all(folder)?;
    let program = folder.join("interop-client");
    let mut build = Command::new("go");
    build
        .args(["build", "-trimpath", "-o"])
        .arg(&program)
        .arg(".")
        // The client is pure Go: without cgo, no C is compiled.
        .env("CGO_ENABLED", "0")
        .current_dir(source("go"));
    let built = log.run_any(job("go build", build))?;
    if is_too_old(&built.stderr) {
        let why = format!("a newer go is needed: {}", first_line(&built.stderr));
        return Ok(Client::Missing(why));
    }
    built.success()?;
    Ok(Client::Ready(Command::new(program)))
}

/// What `go` says when the module wants a newer one; the second is from before Go 1.21.
fn is_too_old(stderr: &str) -> bool {
    stderr.contains("requires go >=") || stderr.contains("invalid go version")
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_go_is_told_from_a_program_that_does_not_build() {
        let old = "go: go.mod requires go >= 1.26.0 (running go 1.24.1; GOTOOLCHAIN=local)\n";
        let very_old = "go: errors parsing go.mod:\ngo.mod:3: invalid go version '1.26.0': ...\n";
        assert!(is_too_old(old) && is_too_old(very_old));
        assert!(!is_too_old("./main.go:7:2: undefined: kgo\n"));
    }
}
