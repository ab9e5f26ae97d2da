//! An agent in a network of its own, which one cable connects with this machine. Pulling it cuts the agent off from the
//! lead and from the brokers, and nobody is told: no connection is closed, and no byte is accepted any more.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::process::{TOKEN_FILE, listening_address};
use crate::kgauge::{Background, Kgauge};

/// The address of this machine's end: of the network that RFC 2544 keeps for benchmarks.
pub(super) const HERE: &str = "198.18.77.1";

/// The address of the agent's end.
const THERE: &str = "198.18.77.2";

/// Both ends are alone in their network.
const PREFIX: &str = "/30";

/// The name of both ends.
const LINK: &str = "kgauge-cable";

/// An agent behind a cable. Dropping it ends the agent and removes the cable.
pub(super) struct CabledAgent {
    pub(super) process: Background,
    pub(super) address: String,
}

impl CabledAgent {
    /// Starts an agent in a new network; needs root.
    pub(super) fn start(kgauge: &Kgauge<'_>, name: &str) -> Result<Self> {
        let arguments = ["agent", "--listen", "0.0.0.0:0", "--token-file", TOKEN_FILE];
        let process = kgauge.start_within(name, &arguments, |agent| {
            let mut command = Command::new("unshare");
            command.arg("--net");
            command.arg(agent.get_program()).args(agent.get_args());
            if let Some(dir) = agent.get_current_dir() {
                command.current_dir(dir);
            }
            command
        })?;
        let bound = listening_address(&process)?;
        let (_, port) = bound.rsplit_once(':').context("an address has a port")?;
        let agent = Self {
            address: format!("{THERE}:{port}"),
            process,
        };
        agent.plug()?;
        Ok(agent)
    }

    fn plug(&self) -> Result<()> {
        // `unshare` has become the agent.
        let pid = self.process.running.id().to_string();
        let (here, there) = (format!("{HERE}{PREFIX}"), format!("{THERE}{PREFIX}"));
        // What an earlier call left, if it was killed.
        let _ = ip(&["link", "delete", LINK]);
        ip(&[
            "link", "add", LINK, "type", "veth", "peer", "name", LINK, "netns", &pid,
        ])?;
        ip(&["address", "add", &here, "dev", LINK])?;
        ip(&["link", "set", LINK, "up"])?;
        self.ip_there(&["address", "add", &there, "dev", LINK])?;
        self.ip_there(&["link", "set", LINK, "up"])
    }

    /// Pulls the cable at the agent's end: this machine keeps its address, which the brokers advertise.
    pub(super) fn pull(&self) -> Result<()> {
        self.ip_there(&["link", "set", LINK, "down"])
    }

    /// `ip` in the agent's network.
    fn ip_there(&self, arguments: &[&str]) -> Result<()> {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/proc/{}/ns/net", self.process.running.id()));
        command.arg("ip");
        run(command, arguments)
    }
}

impl Drop for CabledAgent {
    fn drop(&mut self) {
        // Else the kernel removes it some time after the agent's end, when the next one has its own.
        let _ = ip(&["link", "delete", LINK]);
    }
}

fn ip(arguments: &[&str]) -> Result<()> {
    run(Command::new("ip"), arguments)
}

fn run(mut command: Command, arguments: &[&str]) -> Result<()> {
    let output = command.args(arguments).output();
    let output = output.context("ip of iproute2 could not be started")?;
    ensure!(
        output.status.success(),
        "ip {}: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(())
}
