//! Makes the summary of a run folder.

use super::{DefectSummary, RunSummary, Status, StudySummary, Summary, TargetSummary};
use crate::folder::RunRead;
use crate::run::{Build, RunStatus, Target};

pub(super) fn summary(run: &RunRead) -> Summary {
    let trials = Vec::new();
    let status = status_of(run);
    Summary {
        format: Summary::FORMAT,
        run: run_summary(run),
        target: target_summary(run),
        machine: run
            .environment
            .as_ref()
            .map(|environment| environment.machine.clone()),
        exit_status: exit_status(status),
        status,
        warnings: Vec::new(),
        trials,
        defects: run
            .defects
            .iter()
            .map(|defect| DefectSummary {
                file: defect.file.clone(),
                line: defect.line,
                what: defect.what.clone(),
            })
            .collect(),
    }
}

fn run_summary(run: &RunRead) -> RunSummary {
    let plan = run.plan.as_ref();
    RunSummary {
        run_id: run.head.run_id.clone(),
        kgauge: match &run.environment {
            Some(environment) => environment.kgauge.clone(),
            None => Build {
                version: run.head.kgauge_version.clone(),
                debug: false,
            },
        },
        command: run.head.command.clone(),
        started_unix_ms: run.head.started_unix_ms,
        ended_unix_ms: run.head.ended_unix_ms,
        status: run.status,
        why: run.head.why.clone(),
        seed: plan.map(|plan| plan.seed),
        size: plan.map(|plan| {
            let word = match plan.size {
                kgauge_scenario::Size::Quick => "quick",
                kgauge_scenario::Size::Default => "default",
                kgauge_scenario::Size::Full => "full",
            };
            word.to_owned()
        }),
        study: plan.and_then(|plan| {
            plan.study.as_ref().map(|study| StudySummary {
                name: study.name.clone(),
                title: study.title.clone(),
            })
        }),
    }
}

fn target_summary(run: &RunRead) -> TargetSummary {
    let target = run
        .environment
        .as_ref()
        .map(|environment| &environment.target);
    TargetSummary {
        words: target.map_or_else(
            || "not known: the run ended before it was written down".to_owned(),
            Target::words,
        ),
        kind: target.map(|target| target.kind),
        version: target.and_then(|target| target.version.clone()),
        cluster_id: target.and_then(|target| target.cluster_id.clone()),
        brokers: target.and_then(|target| u32::try_from(target.brokers.len()).ok()),
        same_machine: target.and_then(|target| target.same_machine),
    }
}

fn status_of(run: &RunRead) -> Status {
    match run.status {
        RunStatus::Running => Status::Running,
        RunStatus::Complete => Status::Good,
        RunStatus::Failed => Status::Failed,
        RunStatus::Interrupted => Status::Interrupted,
        RunStatus::CutShort => Status::CutShort,
    }
}

fn exit_status(status: Status) -> u8 {
    match status {
        Status::Good | Status::Running => 0,
        Status::GoalMissed | Status::SendsFailed => 1,
        Status::Failed | Status::CutShort => 3,
        Status::Interrupted => 130,
    }
}
