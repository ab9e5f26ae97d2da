//! Calls `kubectl`.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use kgauge_client::Interrupt;
use serde::de::DeserializeOwned;

use crate::child_output::{ChildFailure, ChildLimits, collect_output};
use crate::kubectl_error::KubectlError;

/// The program's name; the system looks for it in PATH.
const PROGRAM: &str = "kubectl";

/// One command; `kubectl` retries connections itself.
const DURATION_MAX: Duration = Duration::from_secs(30);

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
        let spoken = || format!("{PROGRAM} {}", arguments.join(" "));
        let output = collect_output(&mut command, input, limits, &self.interrupt);
        let output = output.map_err(|failure| match failure {
            ChildFailure::Io(error) if error.kind() == io::ErrorKind::NotFound => {
                KubectlError::NoProgram
            }
            ChildFailure::Io(error) => KubectlError::Io(error),
            ChildFailure::TimedOut => KubectlError::TimedOut {
                command: spoken(),
                seconds: DURATION_MAX.as_secs(),
            },
            ChildFailure::TooLong => KubectlError::Unreadable {
                command: spoken(),
                why: format!("it printed more than {OUTPUT_BYTES_MAX} bytes"),
            },
            ChildFailure::Interrupted => KubectlError::Interrupted,
        })?;
        match output.status.success() {
            true => Ok(output.stdout),
            false => Err(KubectlError::classify(
                &spoken(),
                &String::from_utf8_lossy(&output.stderr),
            )),
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
            command: format!("{PROGRAM} {}", arguments.join(" ")),
            // The text around the mistake may be a secret.
            why: format!("line {}, column {}", error.line(), error.column()),
        })
    }
}
