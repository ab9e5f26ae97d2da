//! A program that answers as `kubectl` does, from files that are named after its arguments.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use kgauge_client::Interrupt;
use kgauge_kubernetes::Kubectl;
use serde_json::Value;
use tempfile::TempDir;

/// Prints the file of its arguments, or fails as Kubernetes does without such an object. A file `.error` has the
/// message of a failure, and a file `.once` that of a single one.
const PROGRAM: &str = "#!/bin/sh
while [ \"${1#--request-timeout}\" != \"$1\" ]; do shift; done
home=$(dirname \"$0\")
echo \"$*\" >> \"$home/calls\"
file=\"$home/$(printf %s \"$*\" | tr ' /' '+%')\"
if [ -f \"$file.once\" ]; then cat \"$file.once\" >&2; rm \"$file.once\"; exit 1; fi
if [ -f \"$file.error\" ]; then cat \"$file.error\" >&2; exit 1; fi
if [ -f \"$file\" ]; then cat \"$file\"; exit 0; fi
case $1 in create|delete) exit 0 ;; esac
echo \"Error from server (NotFound): $2 \\\"$3\\\" not found\" >&2; exit 1
";

/// The program and its answers.
pub(crate) struct FakeKubectl(TempDir);

impl FakeKubectl {
    pub(crate) fn new() -> Self {
        let fake = Self(tempfile::tempdir().unwrap());
        fs::write(fake.program(), PROGRAM).unwrap();
        fs::set_permissions(fake.program(), fs::Permissions::from_mode(0o755)).unwrap();
        fake
    }

    pub(crate) fn program(&self) -> PathBuf {
        self.dir().join("kubectl")
    }

    pub(crate) fn dir(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn kubectl(&self) -> Kubectl {
        Kubectl::at(self.program().into(), Interrupt::new())
    }

    pub(crate) fn answer(&self, arguments: &str, object: &Value) {
        self.print(arguments, object.to_string().as_bytes());
    }

    pub(crate) fn print(&self, arguments: &str, bytes: &[u8]) {
        fs::write(self.file(arguments), bytes).unwrap();
    }

    pub(crate) fn fail(&self, arguments: &str, stderr: &str) {
        self.print(&format!("{arguments}.error"), stderr.as_bytes());
    }

    /// Where the answer to these arguments is.
    pub(crate) fn file(&self, arguments: &str) -> PathBuf {
        self.dir()
            .join(arguments.replace(' ', "+").replace('/', "%"))
    }
}
