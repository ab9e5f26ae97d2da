//! A program that answers as `kubectl` does, from files that are named after its arguments.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use kgauge_client::Interrupt;
use kgauge_kubernetes::Kubectl;
use serde_json::Value;
use tempfile::TempDir;

/// A link leads to it: a program that a test has just written may be busy, because a process that another test starts
/// inherits the open file for a moment.
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake_kubectl/kubectl.sh");

/// The program and its answers.
pub(crate) struct FakeKubectl(TempDir);

impl FakeKubectl {
    pub(crate) fn new() -> Self {
        let fake = Self(tempfile::tempdir().unwrap());
        symlink(PROGRAM, fake.program()).unwrap();
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
