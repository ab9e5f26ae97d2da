//! Agents as separate processes, and a lead that uses them.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::kafka::poll;
use crate::kgauge::{Background, Kgauge};

/// The token of the check; it protects nothing.
const TOKEN: &str = "00112233445566778899aabbccddeeff";

/// The file with it.
pub(super) const TOKEN_FILE: &str = "token";

/// No agent takes longer to listen, even when the machine is busy.
const LISTEN_MAX: Duration = Duration::from_secs(20);

/// Writes the token.
pub(super) fn write_token(folder: &Path) -> Result<()> {
    Ok(fs::write(folder.join(TOKEN_FILE), TOKEN)?)
}

/// An agent that listens, and where.
pub(super) struct AgentServer {
    pub(super) process: Background,
    pub(super) address: String,
}

impl AgentServer {
    pub(super) fn start(kgauge: &Kgauge<'_>, name: &str) -> Result<Self> {
        let arguments = [
            "agent",
            "--listen",
            "127.0.0.1:0",
            "--token-file",
            TOKEN_FILE,
        ];
        let process = kgauge.start(name, &arguments)?;
        let address = listening_address(&process)?;
        Ok(Self { process, address })
    }
}

/// The address that an agent prints when it listens.
pub(super) fn listening_address(process: &Background) -> Result<String> {
    let address = poll(LISTEN_MAX, || {
        let text = fs::read_to_string(&process.stderr)?;
        let line = text
            .lines()
            .find_map(|line| line.split_once("listening on "));
        Ok(line.map(|(_, address)| address.trim().to_owned()))
    })?;
    address.context("the agent does not listen")
}

/// An agent that joins, with a clock that is ahead of this machine's by whole seconds.
pub(super) fn join_shifted(
    kgauge: &Kgauge<'_>,
    (name, lead): (&str, &str),
    shift_s: i64,
) -> Result<Background> {
    let arguments = ["agent", "--join", lead, "--token-file", TOKEN_FILE];
    let shift = shift_s.to_string();
    kgauge.start_within(name, &arguments, |agent| {
        let mut command = Command::new("unshare");
        command.args(["--time", "--fork", "--kill-child", "--monotonic", &shift]);
        command.arg(agent.get_program()).args(agent.get_args());
        if let Some(dir) = agent.get_current_dir() {
            command.current_dir(dir);
        }
        command
    })
}

/// A port that was free a moment ago.
pub(super) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
