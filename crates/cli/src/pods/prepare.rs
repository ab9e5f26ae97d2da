//! From the flags of a run to the objects of its pods.

use kgauge_agents::{AgentToken, AgentsSpec};
use kgauge_kubernetes::{AgentsManifest, PodOptions, pod_properties};
use kgauge_runner::{Question, fresh_number};

use super::pod_target::PodTarget;
use crate::exit::{ExitStatus, OrStop, stop};

/// Reads `k8s:...`.
pub(super) fn pod_options(text: &str) -> anyhow::Result<PodOptions> {
    match text.parse::<AgentsSpec>().or_bad_input()? {
        AgentsSpec::Kubernetes { options } => PodOptions::read(&options).or_bad_input(),
        _ => Err(stop(
            ExitStatus::BadInput,
            format!("{text} names no pods; write k8s:replicas=25,namespace=perf"),
        )),
    }
}

/// A run as objects. A user of Kafka is not part of it.
pub(super) fn manifest_of(
    instance: String,
    options: PodOptions,
    question: &Question,
    seed: Option<u64>,
    target: &PodTarget,
    mut lead_arguments: Vec<String>,
) -> anyhow::Result<AgentsManifest> {
    let client_properties = pod_properties(&target.config).or_bad_input()?;
    let mut arguments = lead_arguments.iter();
    // Endpoints that the user names replace those of the target.
    if !arguments.any(|argument| argument.starts_with("--metrics=")) {
        let endpoints = target.metrics.iter();
        let endpoints = endpoints.map(|one| format!("--metrics={}={}", one.broker, one.url));
        lead_arguments.extend(endpoints);
    }
    let seed = seed.or(question.seed);
    Ok(AgentsManifest {
        instance,
        options,
        plan_json: question.saved_plan(seed.unwrap_or_else(fresh_number))?,
        client_properties,
        token: AgentToken::random().or_unwritable()?.into_secret(),
        lead_arguments,
        kafka_user: None,
    })
}
