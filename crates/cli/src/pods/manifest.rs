//! `kgauge agents manifest`.

use std::ffi::OsStr;

use anyhow::bail;
use kgauge_kubernetes::{AgentsManifest, KafkaUserRequest};
use kgauge_runner::{
    OrRunError, PodTarget, PodTargetError, check_agents_plan, pod_manifest, pod_options,
};

use super::ManifestArgs;
use super::lead_flags::{lead_arguments, parsed};
use crate::args::{Command, RunArgs, ScenarioArgs};
use crate::built_in_args::BuiltInArgs;
use crate::exit::ExitStatus;
use crate::host::env_target;
use crate::print;
use crate::run::{changes_of, question_of};

pub(super) fn manifest(arguments: &ManifestArgs) -> anyhow::Result<ExitStatus> {
    let options = pod_options(&arguments.agents)?;
    let changes = changes_of(&arguments.changes)?;
    let question = question_of(&arguments.what, &arguments.built_in, &changes)?;
    check_agents_plan(&question)?;
    let text = arguments.target.clone().or_else(env_target);
    let target = match PodTarget::find(text, &print::remark) {
        Ok(target) => target,
        Err(PodTargetError::Other(error)) => return Err(error.into()),
        Err(PodTargetError::NoUser(user)) => return user_first(&user),
    };
    let name = arguments.name.clone();
    let more = flags_of_lead(&arguments.more)?;
    let made = pod_manifest(name, options, &question, arguments.seed, &target, more)?;
    let complete = AgentsManifest {
        kafka_user: target.kafka_user,
        ..made
    };
    print::result(&complete.yaml().or_bad_input()?);
    print::remark(
        "the Secret has a token and the login of the Kafka clients; keep it out of public repositories",
    );
    Ok(ExitStatus::Good)
}

/// The lead's arguments for these flags of `kgauge run`.
fn flags_of_lead(flags: &[String]) -> anyhow::Result<Vec<String>> {
    // Flags about agents are only allowed with some, which the manifest names.
    let start = ["kgauge", "run", "plan.json", "--agents", "k8s:"];
    let words = start.into_iter().chain(flags.iter().map(String::as_str));
    match parsed(words.map(OsStr::new))? {
        Command::Run(run) if changes_plan(&run) => bail!(
            "flags that change the plan, such as --set, --verify and --seed, belong before `--`"
        ),
        Command::Run(run) if run.targets.is_empty() && run.conduct.out.is_none() => {
            lead_arguments(&run)
        }
        _ => bail!("--target belongs before `--`, and the lead has a folder of its own"),
    }
}

/// Whether flags ask for another plan than the one in the manifest.
fn changes_plan(run: &RunArgs) -> bool {
    run.conduct.seed.is_some()
        || run.changes != ScenarioArgs::default()
        || run.built_in != BuiltInArgs::default()
}

/// Without the user there is no login that the other objects could hold.
fn user_first(user: &KafkaUserRequest) -> anyhow::Result<ExitStatus> {
    print::result(&user.yaml().or_bad_input()?);
    print::remark(&format!(
        "KafkaUser {} does not exist yet, so this is only the user: apply it, and run the command again for the \
         other objects",
        user.name
    ));
    Ok(ExitStatus::Good)
}
