//! `cargo xtask k8s`: kgauge's Kubernetes objects against Kubernetes' own API definitions, and the Helm chart against
//! the manifest. Both tools come through Go's module proxy.

mod cluster;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::kafka;
use crate::say::remark;
pub(crate) use cluster::{ClusterCheckOptions, InsideOptions};

/// The release whose API definitions and programs are used; `xtask/kubernetes/go.mod` has the same.
const RELEASE: &str = "v1.37.2";

/// Where the OpenAPI files are in the module.
const OPENAPI_DIR: &str = "api/openapi-spec/v3";

/// What is checked.
#[derive(Debug, clap::Args)]
pub(crate) struct KubernetesOptions {
    /// Release of Kubernetes whose API definitions are used
    #[arg(long, value_name = "VERSION", default_value = RELEASE)]
    kubernetes: String,
    /// Release of Helm to build if there is none in PATH; this takes some minutes
    #[arg(long, value_name = "VERSION", default_value = "v3.18.4")]
    helm: String,
    /// Folder for the built program
    #[arg(long, value_name = "DIR", default_value = "target/kubernetes")]
    tools: PathBuf,
}

/// Runs `cargo xtask k8s-cluster`. Returns false when a check failed.
pub(crate) fn check_cluster(options: &ClusterCheckOptions) -> Result<bool> {
    cluster::run(options)
}

/// The part of it that runs in its own namespaces.
pub(crate) fn check_inside(options: &InsideOptions) -> Result<bool> {
    cluster::run_inside(options)
}

/// What `go mod download -json` prints.
#[derive(Deserialize)]
struct Module {
    #[serde(rename = "Dir")]
    dir: PathBuf,
}

/// Returns false when something differs.
pub(crate) fn run(options: &KubernetesOptions) -> Result<bool> {
    let module = download(&format!("k8s.io/kubernetes@{}", options.kubernetes))?;
    let openapi = module.dir.join(OPENAPI_DIR);
    let path = helm_path(options)?;
    let mut test = Command::new(env!("CARGO"));
    test.args([
        "test",
        "--package",
        "kgauge-kubernetes",
        "--",
        "--include-ignored",
    ])
    .env("KGAUGE_OPENAPI_DIR", &openapi)
    .env("PATH", path);
    Ok(kafka::status(&mut test)?.success())
}

fn download(module: &str) -> Result<Module> {
    remark(&format!("fetching {module}"));
    let mut go = Command::new("go");
    go.args(["mod", "download", "-json", module]);
    let (_, stdout) = kafka::printed(&mut go)?;
    serde_json::from_str(&stdout).with_context(|| format!("go mod download {module}"))
}

/// PATH with a `helm` in it.
fn helm_path(options: &KubernetesOptions) -> Result<std::ffi::OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    if folders.iter().any(|folder| folder.join("helm").is_file()) {
        return Ok(path);
    }
    let tools = std::path::absolute(&options.tools)?;
    if !tools.join("helm").is_file() {
        build_helm(&options.helm, &tools)?;
    }
    folders.insert(0, tools);
    Ok(std::env::join_paths(folders)?)
}

fn build_helm(release: &str, tools: &Path) -> Result<()> {
    let module = format!("helm.sh/helm/v3/cmd/helm@{release}");
    remark(&format!("building {module}"));
    let mut build = Command::new("go");
    build.args(["install", &module]).env("GOBIN", tools);
    match kafka::status(&mut build)?.success() {
        true => Ok(()),
        false => bail!("go install {module} failed"),
    }
}
