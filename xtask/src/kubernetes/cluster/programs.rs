//! The Go programs: Kubernetes and etcd from their modules, and the kubelet of this project.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::folders::root;
use crate::kafka::ChildProcess;
use crate::kubernetes::RELEASE;
use crate::say::{print_line, remark};

/// Building everything on a small machine.
const BUILD_MAX: Duration = Duration::from_secs(3_600);

/// The module of this project, as its go.mod names it: the name of the program.
const KUBELET: &str = "process-kubelet";

const ETCD: &str = "go.etcd.io/etcd/server/v3";

const PACKAGES: [&str; 5] = [
    ".",
    "k8s.io/kubernetes/cmd/kube-apiserver",
    "k8s.io/kubernetes/cmd/kube-controller-manager",
    "k8s.io/kubernetes/cmd/kube-scheduler",
    "k8s.io/kubernetes/cmd/kubectl",
];

/// The kubelet whose pods are processes.
pub(super) fn kubelet(tools: &Path) -> PathBuf {
    tools.join(KUBELET)
}

/// The output of all programs of the last time.
pub(super) fn logs(tools: &Path) -> PathBuf {
    tools.join("logs")
}

/// Builds all programs into a folder, unless they are there already, and prints how long it took.
pub(super) fn build(tools: &Path) -> Result<()> {
    fs::create_dir_all(tools)?;
    remark("go: building Kubernetes and etcd; this takes minutes the first time");
    let start = Instant::now();
    go_build(&tools.join("etcd"), &[ETCD])?;
    go_build(&tools.join(""), &PACKAGES)?;
    print_line(&format!(
        "build: Kubernetes {RELEASE} and etcd took {} s",
        start.elapsed().as_secs()
    ));
    Ok(())
}

fn go_build(output: &Path, packages: &[&str]) -> Result<()> {
    let mut build = Command::new("go");
    build
        // Git may refuse to describe the source, and nobody reads its answer.
        .args(["build", "-trimpath", "-buildvcs=false"])
        .args(["-ldflags", &linker_flags(), "-o"])
        .arg(output)
        .args(packages)
        .current_dir(root().join("xtask/kubernetes"))
        .env("CGO_ENABLED", "0");
    let building = ChildProcess::start("go build", &mut build).context("this check needs Go")?;
    let status = building.wait(BUILD_MAX)?;
    let status = status.with_context(|| format!("go build took longer than {BUILD_MAX:?}"))?;
    ensure!(status.success(), "go build {} failed", packages.join(" "));
    Ok(())
}

/// The release, as Kubernetes' own build sets it: without it, the programs are of a version 0.0.0. No debug
/// information: linking is faster.
fn linker_flags() -> String {
    let mut parts = RELEASE.trim_start_matches('v').split('.');
    let (major, minor) = (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    );
    let settings = [
        ("gitVersion", RELEASE),
        ("gitMajor", major),
        ("gitMinor", minor),
    ];
    let mut flags = "-s -w".to_owned();
    for (name, value) in settings {
        flags.push_str(&format!(" -X k8s.io/component-base/version.{name}={value}"));
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_go_module_has_the_release_of_the_api_definitions() {
        let text = fs::read_to_string(root().join("xtask/kubernetes/go.mod")).unwrap();
        assert!(text.starts_with(&format!("module {KUBELET}\n")));
        assert!(text.contains(&format!("\tk8s.io/kubernetes {RELEASE}\n")));
        let staged = RELEASE.replacen("v1", "v0", 1);
        assert!(text.contains(&format!("\tk8s.io/api => k8s.io/api {staged}\n")));
    }

    #[test]
    fn the_programs_know_their_release() {
        let flags = linker_flags();
        assert!(flags.contains("version.gitVersion=v1."), "{flags}");
        assert!(flags.contains("version.gitMajor=1 "), "{flags}");
    }
}
