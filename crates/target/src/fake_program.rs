//! Programs that tests write.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::process::Command;

/// Makes a shell script that can be started. A shell writes it: a file that this process has just written may be busy,
/// because a process that another test starts inherits the open file for a moment.
pub(crate) fn write_script(path: &Path, script: &str) {
    let mut shell = Command::new("sh");
    shell.args([
        "-c",
        "printf '#!/bin/sh\n%s\n' \"$2\" > \"$1\" && chmod 755 \"$1\"",
        "sh",
    ]);
    let written = shell.arg(path).arg(script).status().unwrap();
    assert!(written.success(), "{}", path.display());
}
