//! Runs whose load comes from pods of Kubernetes: their target, their objects, and the run itself.

mod run;
mod target;

use kgauge_agents::{AgentToken, AgentsSpec};
use kgauge_kubernetes::{AgentsManifest, PodOptions, pod_properties};

use crate::error::{OrRunError, RunError};
use crate::ids::fresh_number;
use crate::question::Question;

pub use run::{PodRun, PodRunEnd, PodRunRequest};
pub use target::{PodTarget, PodTargetError};

/// Reads `k8s:...`.
///
/// # Errors
/// The text names other agents, or an option cannot be used.
pub fn pod_options(text: &str) -> Result<PodOptions, RunError> {
    match text.parse::<AgentsSpec>().or_bad_input()? {
        AgentsSpec::Kubernetes { options } => PodOptions::read(&options).or_bad_input(),
        AgentsSpec::Local { .. }
        | AgentsSpec::Ssh { .. }
        | AgentsSpec::Listening { .. }
        | AgentsSpec::Joining { .. } => Err(RunError::input(format!(
            "{text} names no pods; write k8s:replicas=25,namespace=perf"
        ))),
    }
}

/// A run as objects of Kubernetes. A user of Kafka is not part of it. `lead_arguments` are the lead's further flags.
///
/// # Errors
/// The question has no plan, or a file of the target's settings cannot be part of a pod.
pub fn pod_manifest(
    instance: String,
    options: PodOptions,
    question: &Question,
    seed: Option<u64>,
    target: &PodTarget,
    mut lead_arguments: Vec<String>,
) -> Result<AgentsManifest, RunError> {
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
