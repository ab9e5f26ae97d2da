//! Agents that the lead starts: processes of this machine.

use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::error::AgentsError;
use crate::token::AgentToken;

/// How long agents may take to end after the run.
const END_MAX: Duration = Duration::from_secs(1);

/// How often its end is checked.
const END_POLL: Duration = Duration::from_millis(10);

/// Processes that were started as agents. Dropping them waits for a moment for all of them together: they end when
/// their connections do.
#[derive(Debug, Default)]
pub(super) struct LaunchedAgents(pub(super) Vec<LaunchedAgent>);

impl Drop for LaunchedAgents {
    fn drop(&mut self) {
        let deadline = Instant::now() + END_MAX;
        let is_running = |agent: &mut LaunchedAgent| agent.ended().is_none();
        while self.0.iter_mut().any(is_running) && Instant::now() < deadline {
            std::thread::sleep(END_POLL);
        }
    }
}

/// A process that was started as an agent; it ends with this value.
#[derive(Debug)]
pub(super) struct LaunchedAgent {
    pub(super) name: String,
    child: Child,
}

impl LaunchedAgent {
    /// Starts `kgauge agent --join` on this machine. The token goes through a pipe: arguments are public.
    pub(super) fn local(
        program: &Path,
        lead: SocketAddr,
        token: &AgentToken,
        number: u32,
    ) -> Result<Self, AgentsError> {
        let mut command = Command::new(program);
        let lead = lead.to_string();
        command.args(["agent", "--quiet", "--join", &lead, "--token-file", "-"]);
        Self::start(command, token, format!("agent {number}"))
    }

    /// Starts a command that reads the token from its standard input.
    pub(super) fn start(
        mut command: Command,
        token: &AgentToken,
        name: String,
    ) -> Result<Self, AgentsError> {
        // Ctrl-C in a terminal goes to the lead, which ends its agents.
        command.process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let program = command.get_program().to_string_lossy().into_owned();
        let failed = |source| AgentsError::Launch { program, source };
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(source) => return Err(failed(source)),
        };
        let sent = match &mut child.stdin {
            Some(input) => writeln!(input, "{}", token.expose()),
            None => Ok(()),
        };
        let launched = Self { name, child };
        match sent {
            Ok(()) => Ok(launched),
            Err(source) => Err(failed(source)),
        }
    }

    /// The process.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, if it has.
    pub(super) fn ended(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok().flatten()?;
        Some(status.to_string())
    }
}

impl Drop for LaunchedAgent {
    fn drop(&mut self) {
        if self.ended().is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
