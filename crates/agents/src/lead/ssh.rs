//! Agents on hosts that `ssh` reaches: copies this program there once per build, and starts it.
//!
//! The agent joins through a port that ssh forwards from the host to the lead, so neither side needs an open port. Only
//! control traffic takes this way; the load goes from the host to the brokers.

use std::fs::File;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use kgauge_client::Interrupt;
use ring::digest;

use super::error::AgentsError;
use super::launch::LaunchedAgent;
use crate::token::AgentToken;

/// Never ask for a password: nobody can answer. Give up on hosts that are not there.
const OPTIONS: [&str; 6] = [
    "-o",
    "BatchMode=yes",
    "-o",
    "ConnectTimeout=10",
    "-o",
    "ServerAliveInterval=2",
];

/// What the first command prints if the program is there.
const PRESENT: &str = "present";

/// The program to start on hosts.
#[derive(Clone)]
pub(super) struct RemoteProgram {
    path: PathBuf,
    /// Names it on the host, so that another build is another file.
    name: String,
}

impl RemoteProgram {
    pub(super) fn of(path: &Path) -> Result<Self, AgentsError> {
        let name = name(path).map_err(|source| AgentsError::Launch {
            program: path.display().to_string(),
            source,
        })?;
        Ok(Self {
            path: path.to_owned(),
            name,
        })
    }

    /// Starts the agent with this number on a host, unless the run is interrupted before.
    pub(super) fn start(
        &self,
        (number, host): (usize, &str),
        lead: SocketAddr,
        token: &AgentToken,
        interrupt: &Interrupt,
    ) -> Result<LaunchedAgent, AgentsError> {
        self.copy(host)?;
        if interrupt.is_raised() {
            return Err(AgentsError::Interrupted);
        }
        let forwarded = forwarded_port(lead, number);
        let mut command = ssh();
        command.args(["-o", "ExitOnForwardFailure=yes", "-R"]);
        command.arg(format!("{forwarded}:127.0.0.1:{}", lead.port()));
        command.arg(host).arg(format!(
            "exec {} agent --quiet --join 127.0.0.1:{forwarded} --token-file -",
            self.remote_path()
        ));
        LaunchedAgent::start(command, token, format!("the agent on {host}"))
    }

    /// Copies the program, unless the host has it.
    fn copy(&self, host: &str) -> Result<(), AgentsError> {
        let path = self.remote_path();
        let failed = |why: String| AgentsError::Ssh {
            host: host.to_owned(),
            why,
        };
        let mut ask = ssh();
        ask.arg(host).arg(format!(
            "uname -sm; if test -x {path}; then echo {PRESENT}; fi"
        ));
        let output = ask.stdin(Stdio::null()).output();
        let answer = checked(output).map_err(failed)?;
        let mut lines = answer.lines();
        let system = lines.next().unwrap_or_default().trim().to_owned();
        let own = own_system();
        if system != own {
            return Err(failed(format!(
                "it runs {system:.40}, this kgauge is for {own}\n  start kgauge agent there by hand"
            )));
        }
        if lines.any(|line| line.trim() == PRESENT) {
            return Ok(());
        }
        let program = File::open(&self.path).map_err(|error| failed(error.to_string()))?;
        let mut copy = ssh();
        copy.arg(host).arg(format!(
            "mkdir -p \"$(dirname {path})\" && cat > {path}.$$ && chmod 700 {path}.$$ && mv {path}.$$ {path}"
        ));
        let copied = copy.stdin(Stdio::from(program)).output();
        checked(copied).map_err(failed)?;
        Ok(())
    }

    /// For a shell on the host.
    fn remote_path(&self) -> String {
        format!("\"$HOME\"/.cache/kgauge/agents/{}", self.name)
    }
}

/// The port on the host that leads to the lead. Several hosts may be one machine, even the lead's own, so each has
/// another one. All are below the ports that systems give to connections (Linux: from 32,768).
fn forwarded_port(lead: SocketAddr, number: usize) -> u16 {
    const FIRST: usize = 10_000;
    const COUNT: usize = 20_000;
    // Below 30,000, so it is a port.
    (FIRST + (usize::from(lead.port()) + number) % COUNT) as u16
}

fn ssh() -> Command {
    let mut command = Command::new("ssh");
    command.args(OPTIONS);
    command
}

/// What a command printed; its last line on stderr if it failed.
fn checked(output: io::Result<Output>) -> Result<String, String> {
    let output = output.map_err(|error| format!("cannot start ssh: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let last = words.lines().last().unwrap_or_default();
    let shown = last.chars().filter(|letter| !letter.is_control());
    let shown: String = shown.take(200).collect();
    match shown.is_empty() {
        true => Err(format!("ssh ended with {}", output.status)),
        false => Err(shown),
    }
}

/// As `uname -sm` prints it.
fn own_system() -> String {
    let name = rustix::system::uname();
    let (system, machine) = (name.sysname(), name.machine());
    format!("{} {}", system.to_string_lossy(), machine.to_string_lossy())
}

/// A name that contains the digest of the file.
fn name(path: &Path) -> io::Result<String> {
    let mut context = digest::Context::new(&digest::SHA256);
    let mut file = File::open(path)?;
    let mut bytes = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut bytes)?;
        if read == 0 {
            break;
        }
        context.update(bytes.get(..read).unwrap_or_default());
    }
    let digest = context.finish();
    let start = digest.as_ref().iter().take(8);
    let hex: String = start.map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("kgauge-{hex}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn hosts_that_are_one_machine_have_different_ports() {
        for port in [1, 7_700, 32_768, u16::MAX] {
            let lead = SocketAddr::from(([127, 0, 0, 1], port));
            let ports: HashSet<u16> = (0..500)
                .map(|number| forwarded_port(lead, number))
                .collect();
            assert_eq!(ports.len(), 500);
            assert!(ports.iter().all(|port| (10_000..30_000).contains(port)));
        }
    }

    #[test]
    fn each_build_has_a_name_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("kgauge");
        std::fs::write(&path, "abc").unwrap();
        // SHA-256 of "abc", FIPS 180-4.
        assert_eq!(name(&path).unwrap(), "kgauge-ba7816bf8f01cfea");
        let program = RemoteProgram::of(&path).unwrap();
        assert!(
            program
                .remote_path()
                .starts_with("\"$HOME\"/.cache/kgauge/")
        );
        assert!(RemoteProgram::of(&dir.path().join("missing")).is_err());
    }
}
