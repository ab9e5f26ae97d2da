//! Calls `kubectl`.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use kgauge_client::Interrupt;
use serde::de::DeserializeOwned;

use crate::child_output::{ChildFailure, ChildLimits, collect_output, stream_output};
use crate::kubectl_error::KubectlError;

/// The program's name; the system looks for it in PATH.
const PROGRAM: &str = "kubectl";

/// One command; `kubectl` retries connections itself.
const DURATION_MAX: Duration = Duration::from_secs(30);

/// How long a stream may bring nothing.
const STALL_MAX: Duration = Duration::from_secs(60);

/// More than the largest object of Kubernetes (1.5 MiB in etcd), and enough for a thousand pods.
const OUTPUT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The user's `kubectl`, with its own context and login.
#[derive(Debug, Clone)]
pub struct Kubectl {
    program: OsString,
    interrupt: Interrupt,
}

impl Kubectl {
    /// The one in PATH. Raising `interrupt` ends its commands.
    pub fn new(interrupt: Interrupt) -> Kubectl {
        Kubectl::at(PROGRAM.into(), interrupt)
    }

    /// The program at this path.
    pub fn at(program: OsString, interrupt: Interrupt) -> Kubectl {
        Kubectl { program, interrupt }
    }

    /// Runs a command and returns what it printed.
    ///
    /// # Errors
    /// Its error as a typed one, or that it did not end in time.
    pub fn run(&self, arguments: &[&str], input: Option<Vec<u8>>) -> Result<Vec<u8>, KubectlError> {
        let mut command = self.command(&["--request-timeout=20s"]);
        command.args(arguments);
        let limits = ChildLimits {
            duration: DURATION_MAX,
            bytes: OUTPUT_BYTES_MAX,
        };
        let output = collect_output(&mut command, input, limits, &self.interrupt);
        let output = output.map_err(|failure| failed(failure, arguments, DURATION_MAX))?;
        match output.status.success() {
            true => Ok(output.stdout),
            false => Err(KubectlError::classify(&spoken(arguments), &output.stderr)),
        }
    }

    /// Runs a command whose output `read` takes as it comes. The inner error is that of `read`, if `kubectl` has none.
    pub(crate) fn stream<T: Send, E: Send>(
        &self,
        arguments: &[&str],
        read: impl FnOnce(&mut dyn Read) -> Result<T, E> + Send,
    ) -> Result<Result<T, E>, KubectlError> {
        let mut command = self.command(arguments);
        let ended = stream_output(&mut command, STALL_MAX, &self.interrupt, read);
        let (read, end) = ended.map_err(|failure| failed(failure, arguments, STALL_MAX))?;
        let has_failed = end.status.is_some_and(|status| !status.success());
        match read.is_err() && has_failed {
            true => Err(KubectlError::classify(&spoken(arguments), &end.stderr)),
            false => Ok(read),
        }
    }

    /// The same program, whose commands another flag ends.
    pub(crate) fn uninterrupted(&self, interrupt: Interrupt) -> Kubectl {
        Kubectl {
            program: self.program.clone(),
            interrupt,
        }
    }

    /// A command that the caller starts. Ctrl-C in a terminal does not reach it: kgauge decides when it ends.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.process_group(0).args(arguments);
        command
    }

    /// Runs a command that prints JSON.
    pub fn json<T: DeserializeOwned>(&self, arguments: &[&str]) -> Result<T, KubectlError> {
        let arguments = [arguments, &["-o", "json"]].concat();
        let printed = self.run(&arguments, None)?;
        serde_json::from_slice(&printed).map_err(|error| KubectlError::Unreadable {
            command: spoken(&arguments),
            // The text around the mistake may be a secret.
            why: format!("line {}, column {}", error.line(), error.column()),
        })
    }
}

/// A command for messages.
pub(crate) fn spoken(arguments: &[&str]) -> String {
    format!("{PROGRAM} {}", arguments.join(" "))
}

fn failed(failure: ChildFailure, arguments: &[&str], limit: Duration) -> KubectlError {
    match failure {
        ChildFailure::Io(error) if error.kind() == io::ErrorKind::NotFound => {
            KubectlError::NoProgram
        }
        ChildFailure::Io(error) => KubectlError::Io(error),
        ChildFailure::TimedOut => KubectlError::TimedOut {
            command: spoken(arguments),
            seconds: limit.as_secs(),
        },
        ChildFailure::TooLong => KubectlError::Unreadable {
            command: spoken(arguments),
            why: format!("it printed more than {OUTPUT_BYTES_MAX} bytes"),
        },
        ChildFailure::Interrupted => KubectlError::Interrupted,
    }
}
