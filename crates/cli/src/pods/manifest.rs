//! `kgauge agents manifest`.

use kgauge_kubernetes::{AgentsManifest, KafkaUserRequest};

use super::ManifestArgs;
use super::pod_target::{PodTargetError, pod_target};
use super::prepare::{manifest_of, pod_options};
use crate::exit::{ExitStatus, OrStop};
use crate::print;
use crate::run::{changes_of, question_of};

pub(super) fn manifest(arguments: &ManifestArgs) -> anyhow::Result<ExitStatus> {
    let options = pod_options(&arguments.agents)?;
    let changes = changes_of(&arguments.changes)?;
    let question = question_of(&arguments.what, &arguments.built_in, &changes)?;
    let target = match pod_target(arguments.target.as_deref()) {
        Ok(target) => target,
        Err(PodTargetError::Other(error)) => return Err(error),
        Err(PodTargetError::NoUser(user)) => return user_first(&user),
    };
    let name = arguments.name.clone();
    let made = manifest_of(
        name,
        options,
        &question,
        arguments.seed,
        &target,
        Vec::new(),
    )?;
    let complete = AgentsManifest {
        kafka_user: target.kafka_user,
        ..made
    };
    print::result(&complete.yaml().or_bad_input()?);
    print::message(
        "kgauge: the Secret has a token and the login of the Kafka clients; keep it out of public repositories",
    );
    Ok(ExitStatus::Good)
}

/// Without the user there is no login that the other objects could hold.
fn user_first(user: &KafkaUserRequest) -> anyhow::Result<ExitStatus> {
    print::result(&user.yaml().or_bad_input()?);
    print::message(&format!(
        "kgauge: KafkaUser {} does not exist yet, so this is only the user: apply it, and run the command again for the \
         other objects",
        user.name
    ));
    Ok(ExitStatus::Good)
}
