//! Real clients against `kgauge cluster up`.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;

use super::actions::InteropClient;
use super::checks::Checks;
use super::{
    clients, cluster, configs, console, groups, kcat, latency, performance, quotas, replicas,
    security, topics, verifiable,
};
use crate::kafka::{ReleaseTools, Tools};
use crate::kgauge::{Background, Kgauge};

const STOP_MAX: Duration = Duration::from_secs(60);

const ONE_NODE: &str = "embedded";
const THREE_NODES: &str = "embedded:3";

/// What this half is made of.
pub(super) struct EmbeddedHalf<'a> {
    /// Kafka's tools.
    pub(super) release: &'a ReleaseTools,
    /// kgauge.
    pub(super) binary: &'a Path,
    /// Made for this half.
    pub(super) work: &'a Path,
    /// Client libraries are installed below it, and stay.
    pub(super) installed: &'a Path,
    /// Whether a client was asked for.
    pub(super) wants: &'a dyn Fn(InteropClient) -> bool,
}

/// All checks of this half.
pub(super) fn run(checks: &mut Checks, parts: &EmbeddedHalf<'_>) -> Result<()> {
    fs::create_dir_all(parts.work)?;
    if (parts.wants)(InteropClient::Kafka) {
        one_node(checks, parts)?;
    }
    three_nodes(checks, parts)?;
    if (parts.wants)(InteropClient::Kafka) || (parts.wants)(InteropClient::Kcat) {
        secured(checks, parts)?;
    }
    Ok(())
}

/// What one node does, and what it still has after a restart.
fn one_node(checks: &mut Checks, parts: &EmbeddedHalf<'_>) -> Result<()> {
    let Some(cluster) = serve(checks, parts, "start", ONE_NODE)? else {
        return Ok(());
    };
    with_tools(parts.release, &cluster, |tools| {
        topics::run(checks, tools)?;
        performance::run(checks, tools)?;
        console::run(checks, tools)?;
        quotas::run(checks, tools)?;
        topics::delete(checks, tools)
    })?;
    stop(checks, cluster)?;

    let Some(cluster) = serve(checks, parts, "start again on its data", ONE_NODE)? else {
        return Ok(());
    };
    with_tools(parts.release, &cluster, |tools| {
        performance::after_restart(checks, tools)
    })
}

/// Leaders and coordinators on several nodes: what clients find in earnest.
fn three_nodes(checks: &mut Checks, parts: &EmbeddedHalf<'_>) -> Result<()> {
    let Some(cluster) = serve(checks, parts, "start three nodes", THREE_NODES)? else {
        return Ok(());
    };
    with_tools(parts.release, &cluster, |tools| {
        if (parts.wants)(InteropClient::Kafka) {
            cluster::run(checks, tools, parts.work)?;
            configs::run(checks, tools)?;
            groups::run(checks, tools)?;
            verifiable::run(checks, tools, parts.work)?;
            latency::run(checks, tools)?;
            replicas::run(checks, tools, parts.work)?;
        }
        if (parts.wants)(InteropClient::Kcat) {
            kcat::run(checks, tools, parts.work)?;
        }
        for column in [
            InteropClient::Python,
            InteropClient::Go,
            InteropClient::JavaScript,
        ] {
            if (parts.wants)(column) {
                clients::run(checks, column, tools, parts.installed)?;
            }
        }
        Ok(())
    })?;
    stop(checks, cluster)
}

/// Three nodes with every kind of security, one after the other.
fn secured(checks: &mut Checks, parts: &EmbeddedHalf<'_>) -> Result<()> {
    for (kind, action) in security::KINDS {
        let target = format!("{THREE_NODES},security={kind},default.replication.factor=3");
        let words = action.words();
        let Some(cluster) = serve(checks, parts, words, &target)? else {
            continue;
        };
        let properties = cluster.background.value("client.properties")?;
        with_tools(parts.release, &cluster, |tools| {
            let properties = Path::new(&properties);
            security::run(checks, tools, properties, action, parts.wants)
        })?;
        stop(checks, cluster)?;
    }
    Ok(())
}

/// A cluster that serves, together with its bootstrap servers.
struct ServingCluster {
    background: Background,
    servers: String,
}

fn serve(
    checks: &mut Checks,
    parts: &EmbeddedHalf<'_>,
    action: &'static str,
    target: &str,
) -> Result<Option<ServingCluster>> {
    let mut serving = None;
    checks.check(("kgauge cluster up", action), |log| {
        let kgauge = Kgauge {
            binary: parts.binary,
            folder: parts.work,
        };
        let data = parts.work.join(target.replace(':', "-"));
        let data = data.to_str().context("the folder's name is not UTF-8")?;
        let arguments = ["cluster", "up", target, "--data", data];
        let background = kgauge.start("cluster", &arguments)?;
        let servers = background.servers();
        log.note(&background.text());
        let servers = servers?;
        serving = Some(ServingCluster {
            servers: servers.clone(),
            background,
        });
        Ok(servers)
    })?;
    Ok(serving)
}

fn with_tools<T>(
    release: &ReleaseTools,
    cluster: &ServingCluster,
    body: impl FnOnce(&Tools<'_>) -> Result<T>,
) -> Result<T> {
    let alive = || {
        let ended = cluster.background.running.ended()?;
        ensure!(
            ended.is_none(),
            "the cluster has ended: {}",
            cluster.background.text()
        );
        Ok(())
    };
    body(&Tools {
        release,
        servers: cluster.servers.clone(),
        alive: &alive,
    })
}

fn stop(checks: &mut Checks, cluster: ServingCluster) -> Result<()> {
    checks.check(("kgauge cluster up", "end by SIGINT"), |log| {
        cluster.background.running.signal(Signal::INT)?;
        let ended = cluster.background.running.wait(STOP_MAX)?;
        log.note(&cluster.background.text());
        let status = ended.context("it still runs")?;
        ensure!(status.code() == Some(0), "it ended with {status}");
        Ok("exit status 0".to_owned())
    })?;
    Ok(())
}
