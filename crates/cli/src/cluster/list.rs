//! Clusters that were started, and releases that can be.

use kgauge_target::kafka::{ClusterRecord, ClusterState, clusters, versions};
use serde_json::json;

use crate::args::{ClusterDown, ClusterStatus, ClusterVersions};
use crate::exit::{ExitStatus, OrStop, stop};
use crate::place::state_dir;
use crate::run::print_json;
use crate::targets::kafka_setup;

/// Ends the named clusters, or all that nobody holds.
#[allow(clippy::print_stdout)]
pub(super) fn down(arguments: &ClusterDown) -> anyhow::Result<ExitStatus> {
    let state_dir = state_dir();
    let known = clusters(&state_dir).or_failed()?;
    let mut wanted: Vec<&ClusterRecord> = Vec::new();
    for name in &arguments.names {
        let Some(found) = known.iter().find(|record| record.name == *name) else {
            let words = format!("there is no cluster {name}; `kgauge cluster status` lists them");
            return Err(stop(ExitStatus::BadInput, words));
        };
        if let (ClusterState::Held, Some(kgauge)) = (found.state(), found.kgauge) {
            let words = format!(
                "cluster {name} belongs to a kgauge that runs (process {}): stop that one with \
                 Ctrl-C",
                kgauge.pid
            );
            return Err(stop(ExitStatus::BadInput, words));
        }
        wanted.push(found);
    }
    if arguments.names.is_empty() {
        let is_free = |record: &&ClusterRecord| record.state() != ClusterState::Held;
        wanted = known.iter().filter(is_free).collect();
    }
    if wanted.is_empty() {
        println!("nothing to end");
    }
    for record in wanted {
        let down = record.bring_down(&state_dir).or_failed()?;
        let logs = down.logs.map_or_else(String::new, |dir| {
            format!(
                "; it did not end well, its logs are kept in {}",
                dir.display()
            )
        });
        println!(
            "ended {} (Apache Kafka {}): {} processes, data removed{logs}",
            record.name, record.version, down.processes
        );
    }
    Ok(ExitStatus::Good)
}

/// Lists the clusters that were started.
#[allow(clippy::print_stdout)]
pub(super) fn status(arguments: &ClusterStatus) -> anyhow::Result<ExitStatus> {
    let known = clusters(&state_dir()).or_failed()?;
    if arguments.json {
        let rows = known.iter().map(|record| {
            json!({
                "name": record.name,
                "version": record.version,
                "state": record.state(),
                "bootstrap_servers": record.bootstrap_servers,
                "pids": record.alive().iter().map(|id| id.pid).collect::<Vec<_>>(),
                "log_dir": record.log_dir,
            })
        });
        print_json(&rows.collect::<Vec<_>>())?;
        return Ok(ExitStatus::Good);
    }
    if known.is_empty() {
        println!("no cluster of Apache Kafka that kgauge started");
    }
    for record in &known {
        let words = match record.state() {
            ClusterState::Held => "held by a kgauge that runs",
            ClusterState::Detached => "detached",
            ClusterState::Orphaned => "left behind by a kgauge that is gone",
            ClusterState::Dead => "ended; its data is left",
        };
        println!(
            "{}  Apache Kafka {}, {} processes, {words}\n  bootstrap.servers={}\n  logs in {}",
            record.name,
            record.version,
            record.alive().len(),
            record.bootstrap_servers,
            record.log_dir.display()
        );
    }
    let is_left = |record: &ClusterRecord| record.state() != ClusterState::Held;
    if known.iter().any(is_left) {
        println!("`kgauge cluster down` ends what nobody holds");
    }
    Ok(ExitStatus::Good)
}

/// Lists the releases.
#[allow(clippy::print_stdout)]
pub(super) fn releases(arguments: &ClusterVersions) -> anyhow::Result<ExitStatus> {
    let (rows, java) = versions(&kafka_setup());
    if arguments.json {
        print_json(&json!({"java": java, "releases": rows}))?;
        return Ok(ExitStatus::Good);
    }
    println!(
        "{:<10} {:<8} {:<10} {:<13} cache",
        "release", "checked", "by", "Java"
    );
    for row in &rows {
        let checked = if row.checked { "yes" } else { "no" };
        let java = match row.java_fits {
            Some(false) => format!("{} !", row.java),
            _ => row.java.clone(),
        };
        let cache = match (&row.cached, row.cached_bytes) {
            (Some(dir), Some(bytes)) => format!("{} MB in {}", bytes / 1_000_000, dir.display()),
            _ => "-".to_owned(),
        };
        println!(
            "{:<10} {checked:<8} {:<10} {java:<13} {cache}",
            row.version, row.coordination
        );
    }
    println!(
        "\n{java}\nAny other release is tried too: kafka:VERSION. Maven fetches it on first use."
    );
    Ok(ExitStatus::Good)
}
