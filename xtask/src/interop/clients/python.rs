//! confluent-kafka-python, and with it librdkafka: installed by pip into a virtual environment.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::{Client, job, source, version};
use crate::folders::{is_installed, mark_installed};
use crate::interop::checks::Transcript;

pub(super) fn install(log: &mut Transcript, folder: &Path) -> Result<Client> {
    if version("python3", "--version").is_none() {
        return Ok(Client::Missing("no python3 in PATH".to_owned()));
    }
    let python = folder.join("bin/python");
    let list = source("python").join("requirements.txt");
    if !is_installed(folder, &list)? {
        let mut make = Command::new("python3");
        make.args(["-m", "venv", "--clear"]).arg(folder);
        let made = log.run_any(job("python3 -m venv", make))?;
        if !made.status.is_some_and(|status| status.success()) {
            let why = "python3 makes no virtual environment (Debian: python3-venv)";
            return Ok(Client::Missing(why.to_owned()));
        }
        let mut fetch = Command::new(&python);
        fetch.args(["-m", "pip", "install", "--disable-pip-version-check"]);
        fetch.args(["--quiet", "--only-binary", ":all:", "--requirement"]);
        fetch.arg(&list);
        log.run(job("pip install", fetch))?;
        mark_installed(folder, &list)?;
    }
    let mut command = Command::new(python);
    // What a user has set for Python would change what is checked.
    command
        .args(["-E", "-s", "-B"])
        .arg(source("python").join("main.py"));
    Ok(Client::Ready(command))
}
