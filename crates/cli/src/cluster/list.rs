//! Lists and ends started clusters; lists the releases that can be started.

use std::ops::Range;

use kgauge_scenario::format::plural;
use kgauge_target::kafka::{ClusterRecord, ClusterState, clusters, release_table, versions};
use serde_json::json;

use crate::args::{ClusterDown, ClusterStatus, ClusterVersions};
use crate::ask;
use crate::exit::{ExitStatus, OrStop, stop};
use crate::host::{host_setup, state_dir};
use crate::print;

/// Ends the named clusters, or all that no running kgauge holds.
pub(super) fn down(arguments: &ClusterDown) -> anyhow::Result<ExitStatus> {
    let state_dir = state_dir();
    let known = clusters(&state_dir).or_unwritable()?;
    let mut selection: Vec<&ClusterRecord> = Vec::new();
    for name in &arguments.names {
        let Some(found) = known.iter().find(|record| record.name == *name) else {
            let words = format!("there is no cluster {name}; `kgauge cluster status` lists them");
            return Err(stop(ExitStatus::BadInput, words));
        };
        if let (ClusterState::Held, Some(kgauge)) = (found.state(), found.kgauge) {
            let words = format!(
                "cluster {name} belongs to a running kgauge (process {}); stop that one with \
                 Ctrl-C",
                kgauge.pid
            );
            return Err(stop(ExitStatus::BadInput, words));
        }
        selection.push(found);
    }
    if arguments.names.is_empty() {
        let is_free = |record: &&ClusterRecord| record.state() != ClusterState::Held;
        selection = known.iter().filter(is_free).collect();
        if !arguments.all {
            selection = choose(selection)?;
        }
    }
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

/// Of several running clusters the user chooses one or all. The rest of dead ones is always removed.
fn choose(selection: Vec<&ClusterRecord>) -> anyhow::Result<Vec<&ClusterRecord>> {
    let is_dead = |record: &&ClusterRecord| record.state() == ClusterState::Dead;
    let (mut chosen, running): (Vec<_>, Vec<_>) = selection.into_iter().partition(is_dead);
    let count = running.len();
    if count < 2 {
        chosen.extend(running);
        return Ok(chosen);
    }
    let names = running.iter();
    let names = names.map(|record| format!("{}  {}", record.name, record.release()));
    let names: Vec<String> = names.collect();
    let numbered = (1..).zip(&names);
    let numbered: String = numbered
        .map(|(number, name)| format!("\n  {number}  {name}"))
        .collect();
    let question =
        format!("{count} clusters are running:{numbered}\nStop which? [1-{count}, all] ");
    let Some(answer) = ask::line(&question) else {
        let words = format!(
            "{count} clusters are running; name those to stop, or pass --all:\n  {}",
            names.join("\n  ")
        );
        return Err(stop(ExitStatus::BadInput, words));
    };
    let Some(positions) = positions(&answer, count) else {
        return Err(stop(ExitStatus::Interrupted, "no cluster was stopped"));
    };
    chosen.extend(&running[positions]);
    Ok(chosen)
}

/// The positions that an answer selects: a number counts from 1.
fn positions(answer: &str, count: usize) -> Option<Range<usize>> {
    if answer == "all" {
        return Some(0..count);
    }
    let number: usize = answer.parse().ok()?;
    (1..=count).contains(&number).then(|| number - 1..number)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_selects_one_or_all() {
        assert_eq!(positions("2", 3), Some(1..2));
        assert_eq!(positions("all", 3), Some(0..3));
        for wrong in ["", "0", "4", "-1", "x", "1 2"] {
            assert_eq!(positions(wrong, 3), None, "{wrong}");
        }
    }
}
