//! A run with `--agents k8s:...`: from its flags to its report.

use kgauge_runner::{
    PodRun, PodRunRequest, PodTarget, PodTargetError, Question, RunError, check_agents_plan,
    pod_options,
};

use super::lead_flags::lead_arguments;
use crate::args::RunArgs;
use crate::exit::{self, ExitStatus};
use crate::host::{command_line, env_target};
use crate::run::report;
use crate::{interrupt, print};

/// Runs the question in pods, puts its run folder on this machine, and reports.
pub(super) fn deploy(
    arguments: &RunArgs,
    question: &Question,
    agents: &str,
) -> anyhow::Result<ExitStatus> {
    let conduct = &arguments.conduct;
    let options = pod_options(agents)?;
    let lead_arguments = lead_arguments(arguments)?;
    check_agents_plan(question)?;
    let text = arguments.targets.first().cloned().or_else(env_target);
    let target = PodTarget::find(text, &print::remark).map_err(|error| match error {
        PodTargetError::Other(error) => error,
        PodTargetError::NoUser(user) => RunError::input(format!(
            "KafkaUser {} has no Secret in namespace {}\n  kgauge agents manifest prints a KafkaUser to apply",
            user.name, user.namespace
        )),
    })?;
    let run = PodRun::new(PodRunRequest {
        question,
        target,
        options,
        lead_arguments,
        out: conduct.out.as_deref(),
        name: conduct.name.as_deref(),
        seed: conduct.seed,
        command: command_line(),
        tolerates_lost: conduct.agents.tolerates_lost(),
        checkup: arguments.checkup.as_ref(),
    })?;
    run.ask(conduct.consent(), &print::message)?;
    let stopping = interrupt::listen("stopping: the lead ends the run and writes its report")?;
    let ended = run.run(&stopping, &print::message)?;
    let status = ended.lead_status;
    let status = status.map_or(ExitStatus::Defect, ExitStatus::of_code);
    let Some(dir) = ended.dir else {
        let words = "the lead has no results; its messages above have the reason";
        return Ok(exit::failed(status, words));
    };
    let reported = report(&dir, conduct.json, conduct.detail)?;
    // As after a run on this machine: what ended the run counts, and otherwise what the figures say.
    Ok(match status {
        ExitStatus::Good => reported,
        status => status,
    })
}
