//! Real clients against `kgauge cluster up`.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;

use super::checks::Checks;
use super::kgauge::{Background, Kgauge};
use super::{console, kcat, performance, topics};
use crate::kafka::{Release, Tools};

const STOP_MAX: Duration = Duration::from_secs(60);

/// All checks of this half; `folder` is made for them.
pub(super) fn run(
    checks: &mut Checks,
    release: &Release,
    binary: &Path,
    folder: &Path,
) -> Result<()> {
    fs::create_dir_all(folder)?;
    let kgauge = Kgauge { binary, folder };
    let Some(cluster) = serve(checks, &kgauge, "start")? else {
        return Ok(());
    };
    with_tools(release, &cluster, |tools| {
        topics::run(checks, tools)?;
        performance::run(checks, tools)?;
        console::run(checks, tools)?;
        kcat::run(checks, tools)?;
        topics::delete(checks, tools)
    })?;
    stop(checks, cluster)?;

    let Some(cluster) = serve(checks, &kgauge, "start again on its data")? else {
        return Ok(());
    };
    with_tools(release, &cluster, |tools| {
        performance::after_restart(checks, tools)
    })?;
    Ok(())
}

/// A cluster that serves, together with its bootstrap servers.
struct Serving {
    background: Background,
    servers: String,
}

fn serve(
    checks: &mut Checks,
    kgauge: &Kgauge<'_>,
    action: &'static str,
) -> Result<Option<Serving>> {
    let mut serving = None;
    checks.check("kgauge cluster up", action, |log| {
        let data = kgauge.folder.join("data");
        let data = data.to_str().context("the folder's name is not UTF-8")?;
        let arguments = ["cluster", "up", "embedded", "--data", data];
        let background = kgauge.start("cluster", &arguments)?;
        let line = background.first_line();
        log.note(&background.said());
        let line = line?;
        let servers = line.strip_prefix("bootstrap.servers=");
        let servers = servers.with_context(|| format!("its first line is {line:?}"))?;
        serving = Some(Serving {
            servers: servers.to_owned(),
            background,
        });
        Ok(line)
    })?;
    Ok(serving)
}

fn with_tools<T>(
    release: &Release,
    cluster: &Serving,
    body: impl FnOnce(&Tools<'_>) -> Result<T>,
) -> Result<T> {
    let alive = || {
        let ended = cluster.background.running.ended()?;
        ensure!(
            ended.is_none(),
            "the cluster has ended: {}",
            cluster.background.said()
        );
        Ok(())
    };
    body(&Tools {
        release,
        servers: cluster.servers.clone(),
        alive: &alive,
    })
}

fn stop(checks: &mut Checks, cluster: Serving) -> Result<()> {
    checks.check("kgauge cluster up", "end by SIGINT", |log| {
        cluster.background.running.signal(Signal::INT)?;
        let ended = cluster.background.running.wait(STOP_MAX)?;
        log.note(&cluster.background.said());
        let status = ended.context("it still runs")?;
        ensure!(status.code() == Some(0), "it ended with {status}");
        Ok("exit status 0".to_owned())
    })?;
    Ok(())
}
