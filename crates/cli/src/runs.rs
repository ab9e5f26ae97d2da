//! `kgauge runs`: lists run folders, and removes old ones.

use std::path::Path;
use std::time::Duration;

use kgauge_analyze::summary::RunHeadline;
use kgauge_report::{printable, render_run_list, run_list_json};
use kgauge_results::folder::{ListedRun, PruneRule, RunList};
use kgauge_runner::{OrRunError, RUNS, unix_ms};

use crate::args::RunsArgs;
use crate::ask;
use crate::exit::ExitStatus;
use crate::print;

/// Lists the runs, or removes those that the rule selects.
pub(crate) fn runs(arguments: &RunsArgs) -> anyhow::Result<ExitStatus> {
    let dir = arguments.dir.as_path();
    let is_empty = dir == Path::new(RUNS) && !dir.exists();
    let list = match is_empty {
        true => RunList::default(),
        false => RunList::below(dir).or_bad_input()?,
    };
    for error in &list.unreadable {
        print::remark(&error.to_string());
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
        print::remark("no finished run to remove");
    } else if !arguments.yes {
        // The list is what the question is about; on stdout it would be a result.
        print::message(&render_run_list(&arguments.dir, &listed(&selected)));
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

/// The runs with their figures.
fn listed<'a>(runs: &[&'a ListedRun]) -> Vec<(&'a ListedRun, Option<RunHeadline>)> {
    let headline = |run: &ListedRun| RunHeadline::of_summary(&run.summary_text()?);
    runs.iter().map(|&run| (run, headline(run))).collect()
}

fn show(arguments: &RunsArgs, runs: &[&ListedRun]) -> anyhow::Result<()> {
    let listed = listed(runs);
    match arguments.json {
        true => print::json(&run_list_json(&listed))?,
        false => print::result(&render_run_list(&arguments.dir, &listed)),
    }
    Ok(())
}
