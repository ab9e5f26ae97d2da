//! Which started clusters the user wants to stop.

use std::ops::Range;

use kgauge_target::kafka::{ClusterRecord, ClusterState};

use crate::error::RunError;

/// The named clusters, or those that no running kgauge holds: `all` of them, the only one, or the one that the user
/// chooses. The rest of dead ones is always among them. `ask` returns the answer to a question, `None` if nobody can
/// be asked.
///
/// # Errors
/// There is no cluster of that name, it belongs to a running kgauge, or the user chooses none.
pub fn clusters_to_stop<'a>(
    known: &'a [ClusterRecord],
    names: &[String],
    all: bool,
    ask: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<&'a ClusterRecord>, RunError> {
    let mut selection: Vec<&ClusterRecord> = Vec::new();
    for name in names {
        let Some(found) = known.iter().find(|record| record.name == *name) else {
            return Err(RunError::input(format!(
                "there is no cluster {name}; `kgauge cluster status` lists them"
            )));
        };
        if let (ClusterState::Held, Some(kgauge)) = (found.state(), found.kgauge) {
            return Err(RunError::input(format!(
                "cluster {name} belongs to a running kgauge (process {}); stop that one with \
                 Ctrl-C",
                kgauge.pid
            )));
        }
        selection.push(found);
    }
    if names.is_empty() {
        let is_free = |record: &&ClusterRecord| record.state() != ClusterState::Held;
        selection = known.iter().filter(is_free).collect();
        if !all {
            selection = choose(selection, ask)?;
        }
    }
    Ok(selection)
}

/// Of several running clusters the user chooses one or all. The rest of dead ones is always removed.
fn choose<'a>(
    selection: Vec<&'a ClusterRecord>,
    ask: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<&'a ClusterRecord>, RunError> {
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
    let Some(answer) = ask(&question) else {
        return Err(RunError::input(format!(
            "{count} clusters are running; name those to stop, or pass --all:\n  {}",
            names.join("\n  ")
        )));
    };
    let Some(positions) = positions(&answer, count) else {
        return Err(RunError::interrupted("no cluster was stopped"));
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
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

    #[test]
    fn without_clusters_nobody_is_asked() {
        let nobody = |_: &str| -> Option<String> { None };
        assert!(
            clusters_to_stop(&[], &[], false, &nobody)
                .unwrap()
                .is_empty()
        );
        let error = clusters_to_stop(&[], &["a".to_owned()], false, &nobody).unwrap_err();
        assert!(error.to_string().contains("no cluster a"), "{error}");
    }
}
