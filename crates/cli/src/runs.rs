//! `kgauge runs`: lists run folders, and removes old ones.

use std::path::Path;
use std::time::Duration;

use kgauge_analyze::summary::RunHeadline;
use kgauge_report::{printable, render_run_list};
use kgauge_results::folder::{ListedRun, PruneRule, RunList};
use kgauge_runner::{OrRunError, RUNS, unix_ms};
use serde::Serialize;

use crate::args::RunsArgs;
use crate::ask;
use crate::exit::ExitStatus;
use crate::print;

/// A run and its figures, for other programs.
#[derive(Serialize)]
struct RunEntry<'a> {
    #[serde(flatten)]
    run: &'a ListedRun,
    headline: Option<RunHeadline>,
}

/// Lists the runs, or removes those that the rule selects.
pub(crate) fn runs(arguments: &RunsArgs) -> anyhow::Result<ExitStatus> {
    let dir = arguments.dir.as_path();
    let is_empty = dir == Path::new(RUNS) && !dir.exists();
    let list = match is_empty {
        true => RunList::default(),
        false => RunList::below(dir).or_bad_input()?,
    };
    for error in &list.unreadable {
        print::message(&format!("kgauge: {error}"));
    }
    if arguments.prune {
        return prune(arguments, &list);
    }
    show(arguments, &list.runs.iter().collect::<Vec<_>>())?;
    Ok(ExitStatus::Good)
}

fn prune(arguments: &RunsArgs, list: &RunList) -> anyhow::Result<ExitStatus> {
    anyhow::ensure!(
        arguments.older_than.is_some() || arguments.keep.is_some(),
        "--prune needs --older-than TIME or --keep N"
    );
    let before = |age: Duration| {
        let age_ms = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
        unix_ms().saturating_sub(age_ms)
    };
    let selected = list.selected(PruneRule {
        ended_before_unix_ms: arguments.older_than.map(before),
        keep: arguments.keep,
    });
    if selected.is_empty() {
        print::message("kgauge: no finished run to remove");
    } else if !arguments.yes {
        // The list is what the question is about; on stdout it would be a result.
        print::message(&text(arguments, &selected));
        ask::consent("Remove these runs?").confirmed("nothing was removed")?;
    }
    for run in &selected {
        run.remove().or_unwritable()?;
        if !arguments.json {
            print::line(&printable(&format!("removed {}", run.dir.display())));
        }
    }
    if arguments.json {
        show(arguments, &selected)?;
    }
    Ok(ExitStatus::Good)
}

fn headline(run: &ListedRun) -> Option<RunHeadline> {
    RunHeadline::of_summary(&run.summary_text()?)
}

fn text(arguments: &RunsArgs, runs: &[&ListedRun]) -> String {
    let listed: Vec<_> = runs.iter().map(|run| (*run, headline(run))).collect();
    render_run_list(&arguments.dir, &listed)
}

fn show(arguments: &RunsArgs, runs: &[&ListedRun]) -> anyhow::Result<()> {
    if !arguments.json {
        print::result(&text(arguments, runs));
        return Ok(());
    }
    let entries = runs.iter().map(|run| RunEntry {
        run,
        headline: headline(run),
    });
    print::json(&entries.collect::<Vec<_>>())
}
