//! Lists and ends started clusters; lists the releases that can be started.

use kgauge_runner::{OrRunError, clusters_to_stop};
use kgauge_scenario::format::plural;
use kgauge_target::kafka::{ClusterRecord, ClusterState, clusters, release_table, versions};
use serde_json::json;

use crate::args::{ClusterDown, ClusterStatus, ClusterVersions};
use crate::ask;
use crate::exit::ExitStatus;
use crate::host::{host_setup, state_dir};
use crate::print;

/// Ends the named clusters, or all that no running kgauge holds.
pub(super) fn down(arguments: &ClusterDown) -> anyhow::Result<ExitStatus> {
    let state_dir = state_dir();
    let known = clusters(&state_dir).or_unwritable()?;
    let selection = clusters_to_stop(&known, &arguments.names, arguments.all, &ask::line)?;
    if selection.is_empty() {
        print::line("no cluster to stop");
    }
    for record in selection {
        let down = record.bring_down(&state_dir).or_unwritable()?;
        let logs = down.logs.map_or_else(String::new, |dir| {
            format!("; it had failed, so its logs are kept in {}", dir.display())
        });
        print::line(&format!(
            "stopped {} ({}): {}, data removed{logs}",
            record.name,
            record.release(),
            plural(down.processes as u64, "process", "processes")
        ));
    }
    Ok(ExitStatus::Good)
}

/// Lists the started clusters.
pub(super) fn status(arguments: &ClusterStatus) -> anyhow::Result<ExitStatus> {
    let known = clusters(&state_dir()).or_unwritable()?;
    if arguments.json {
        let rows = known.iter().map(|record| {
            json!({
                "name": record.name,
                "kind": record.kind,
                "version": record.version,
                "state": record.state(),
                "bootstrap_servers": record.bootstrap_servers,
                "pids": record.alive().iter().map(|id| id.pid).collect::<Vec<_>>(),
                "log_dir": record.log_dir,
            })
        });
        print::json(&rows.collect::<Vec<_>>())?;
        return Ok(ExitStatus::Good);
    }
    if known.is_empty() {
        print::line("no cluster that kgauge started");
    }
    for record in &known {
        print::line(&record.to_string());
    }
    let is_left = |record: &ClusterRecord| record.state() != ClusterState::Held;
    if known.iter().any(is_left) {
        print::line(
            "`kgauge cluster down NAME` stops a cluster that no running kgauge uses, and removes \
             its remains",
        );
    }
    Ok(ExitStatus::Good)
}

/// Lists the releases.
pub(super) fn releases(arguments: &ClusterVersions) -> anyhow::Result<ExitStatus> {
    let (rows, java) = versions(&host_setup()?.kafka_setup());
    if arguments.json {
        print::json(&json!({"java": java, "releases": rows}))?;
        return Ok(ExitStatus::Good);
    }
    print::result(&release_table(&rows, &java));
    Ok(ExitStatus::Good)
}
