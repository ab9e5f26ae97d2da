//! Facts about this machine from the user's environment: folders, Java, this program.

use std::path::PathBuf;

use kgauge_runner::{HostSetup, OrRunError};
use kgauge_target::EmbeddedCommand;

use crate::print;

/// What runs and clusters are started with.
pub(crate) fn host_setup() -> anyhow::Result<HostSetup> {
    let java_home = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty());
    Ok(HostSetup {
        embedded: EmbeddedCommand::this_program(["embedded-cluster"]).or_unwritable()?,
        // Of fetched releases of Apache Kafka.
        cache_dir: user_dir("XDG_CACHE_HOME", ".cache"),
        state_dir: state_dir(),
        java_home: java_home.map(Into::into),
        path: std::env::var_os("PATH"),
        remark: print::message,
    })
}

/// The command line as typed, but for credentials in addresses of metrics: no other argument of kgauge is a secret.
pub(crate) fn command_line() -> Vec<String> {
    std::env::args_os()
        .map(|argument| kgauge_runner::without_secrets(&argument.to_string_lossy()))
        .collect()
}

/// The target of `KGAUGE_TARGET`, for runs that name none.
pub(crate) fn env_target() -> Option<String> {
    let target = std::env::var("KGAUGE_TARGET").ok();
    target.filter(|target| !target.trim().is_empty())
}

/// Where the records of started clusters lie: `XDG_STATE_HOME` or `~/.local/state`, and
/// `kgauge/clusters` in it.
pub(crate) fn state_dir() -> PathBuf {
    user_dir("XDG_STATE_HOME", ".local/state").join("clusters")
}

/// The folder `kgauge` in that of a variable, or in one below the home.
fn user_dir(variable: &str, below_home: &str) -> PathBuf {
    let absolute = |path: std::ffi::OsString| Some(PathBuf::from(path)).filter(|p| p.is_absolute());
    let base = std::env::var_os(variable).and_then(absolute).or_else(|| {
        let home = std::env::var_os("HOME").and_then(absolute)?;
        Some(home.join(below_home))
    });
    base.unwrap_or_else(std::env::temp_dir).join("kgauge")
}
