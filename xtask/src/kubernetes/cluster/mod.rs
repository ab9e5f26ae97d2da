//! `cargo xtask k8s-cluster`: runs in pods of a real Kubernetes, from start to end and as they should fail.
//!
//! API server, controller manager, scheduler, etcd and kubectl are built from Go modules. Pods are processes of this
//! machine (`xtask/kubernetes`). All of it runs in network, mount and process namespaces of its own: every port is
//! free, pods have addresses, and no process and no mount outlives the command.

mod check_list;
mod control_plane;
mod endings;
mod objects;
mod pod_runs;
mod programs;
mod runs;
mod strimzi;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::built::ProgramOption;
use crate::folders::{make_empty, temporary_in};
use crate::say::remark;
use crate::stop;
use check_list::CheckList;
use control_plane::ControlPlane;
use pod_runs::PodRuns;

/// How often the end of the checks is looked for.
const PAUSE: Duration = Duration::from_millis(100);

/// The end of the checks when nobody waits for their result any more.
const ABANDONED: i32 = 130;

/// What is checked.
#[derive(Debug, clap::Args)]
pub(crate) struct ClusterCheckOptions {
    /// Folder for the built programs and for logs
    #[arg(long, value_name = "DIR", default_value = "target/kubernetes")]
    tools: PathBuf,
    /// Strimzi's CRDs: the folder install/cluster-operator of a release. Without it, Strimzi's checks are left out
    #[arg(long, value_name = "DIR")]
    strimzi: Option<PathBuf>,
    /// Only checks with this in their names
    #[arg(long, value_name = "PART")]
    only: Option<String>,
    #[command(flatten)]
    program: ProgramOption,
}

/// What the part in the namespaces needs to know.
#[derive(Debug, clap::Args)]
pub(crate) struct InsideOptions {
    /// A folder for everything, which is removed afterwards
    #[arg(long)]
    work: PathBuf,
    /// The folder with the programs
    #[arg(long)]
    tools: PathBuf,
    /// The program under test
    #[arg(long)]
    kgauge: PathBuf,
    #[arg(long)]
    strimzi: Option<PathBuf>,
    #[arg(long)]
    only: Option<String>,
}

/// Builds all programs, and runs the checks in new namespaces. Returns false when one failed.
pub(super) fn run(options: &ClusterCheckOptions) -> Result<bool> {
    ensure!(
        rustix::process::geteuid().is_root(),
        "namespaces, mounts and the pods' users need root"
    );
    let tools = std::path::absolute(&options.tools)?;
    programs::build(&tools)?;
    let kgauge = options.program.kgauge()?;
    let logs = programs::logs(&tools);
    make_empty(&logs)?;
    let work = temporary_in(&tools)?;
    let inside = InsideOptions {
        work: work.path().to_owned(),
        tools,
        kgauge,
        strimzi: options.strimzi.as_ref().map(fs::canonicalize).transpose()?,
        only: options.only.clone(),
    };
    let status = wait(&mut enter(&inside)?)?;
    remark(&format!(
        "all output of the programs is in {}",
        logs.display()
    ));
    match status.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => bail!("the checks did not run to their end: {status}"),
    }
}

/// Starts the checks in their namespaces. When `unshare` ends, the kernel ends everything in them.
fn enter(inside: &InsideOptions) -> Result<Child> {
    let mut command = Command::new("unshare");
    command
        .args(["--net", "--mount", "--pid", "--fork", "--kill-child"])
        .arg("--mount-proc")
        .arg(std::env::current_exe()?)
        .arg("k8s-inside");
    for (flag, path) in [
        ("--work", Some(&inside.work)),
        ("--tools", Some(&inside.tools)),
        ("--kgauge", Some(&inside.kgauge)),
        ("--strimzi", inside.strimzi.as_ref()),
    ] {
        if let Some(path) = path {
            command.arg(flag).arg(path);
        }
    }
    if let Some(part) = &inside.only {
        command.arg("--only").arg(part);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [inside.tools.clone()];
    let folders = folders.into_iter().chain(std::env::split_paths(&path));
    let home = inside.work.join("home");
    fs::create_dir(&home)?;
    command
        .env("PATH", std::env::join_paths(folders)?)
        // kgauge and its kubectl are those of a user with few rights.
        .env("KUBECONFIG", control_plane::user_config(&inside.work))
        .env("HOME", &home)
        .env("TMPDIR", &home)
        .env_remove("XDG_STATE_HOME")
        .env_remove("KGAUGE_TARGET")
        // Its end tells the checks that nobody waits for them.
        .stdin(Stdio::piped());
    command
        .spawn()
        .context("unshare of util-linux could not be started")
}

/// Waits for the end of the checks. After Ctrl-C it ends them.
fn wait(child: &mut Child) -> Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if let Err(error) = stop::check() {
            drop(child.stdin.take());
            child.wait()?;
            return Err(error);
        }
        std::thread::sleep(PAUSE);
    }
}

/// Starts the cluster and runs all checks.
pub(super) fn run_inside(options: &InsideOptions) -> Result<bool> {
    end_with_stdin();
    set_up_network()?;
    let images = images(options)?;
    let plane = ControlPlane::start(&options.work, &options.tools, &images)?;
    let runs = PodRuns::start(&plane, &options.kgauge, &options.work)?;
    let mut list = CheckList::new(options.only.as_deref());
    runs::check(&runs, &mut list)?;
    endings::check(&runs, &mut list);
    match &options.strimzi {
        Some(definitions) => strimzi::check(&runs, definitions, &mut list),
        None => remark("strimzi: left out; name its CRDs with --strimzi DIR"),
    }
    Ok(list.is_good())
}

/// Ends this process, and with it its namespaces, when the one that waits for it is gone.
#[allow(clippy::exit, reason = "the checks may be anywhere")]
fn end_with_stdin() {
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        std::process::exit(ABANDONED);
    });
}

/// All pods have addresses of the loopback interface: a whole network of it is local.
fn set_up_network() -> Result<()> {
    for arguments in [
        &["link", "set", "lo", "up"][..],
        &["address", "add", control_plane::NETWORK, "dev", "lo"],
    ] {
        let status = Command::new("ip").args(arguments).status();
        let status = status.context("ip of iproute2 could not be started")?;
        ensure!(status.success(), "ip {} failed", arguments.join(" "));
    }
    Ok(())
}

/// The images that nodes can pull: a name, and the folder with its files.
fn images(options: &InsideOptions) -> Result<Vec<(&'static str, PathBuf)>> {
    let make = |name: &str, program: &Path, file: &str| -> Result<PathBuf> {
        let folder = options.work.join("images").join(name);
        fs::create_dir_all(&folder)?;
        fs::copy(program, folder.join(file))?;
        Ok(folder)
    };
    Ok(vec![
        (objects::IMAGE, make("kgauge", &options.kgauge, "kgauge")?),
        (
            objects::BROKER_IMAGE,
            make("broker", &programs::kubelet(&options.tools), "page")?,
        ),
    ])
}
