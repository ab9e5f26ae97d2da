//! The states of a run's pods, from their objects.

use serde::Deserialize;

use super::error::DeployError;

/// A list of pods.
#[derive(Debug, Default, Deserialize)]
pub(super) struct RunPods {
    pub(super) items: Vec<RunPod>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RunPod {
    metadata: RunPodMeta,
    #[serde(default)]
    status: RunPodStatus,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RunPodMeta {
    name: String,
    #[serde(default)]
    labels: std::collections::BTreeMap<String, String>,
    deletion_timestamp: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RunPodStatus {
    #[serde(default)]
    phase: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    conditions: Vec<PodCondition>,
    #[serde(default)]
    container_statuses: Vec<ContainerStatus>,
}

#[derive(Debug, Deserialize)]
struct PodCondition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
    #[serde(default)]
    message: String,
}

#[derive(Debug, Deserialize)]
struct ContainerStatus {
    #[serde(default)]
    state: ContainerState,
}

#[derive(Debug, Default, Deserialize)]
struct ContainerState {
    waiting: Option<ContainerReason>,
    terminated: Option<ContainerReason>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContainerReason {
    #[serde(default)]
    reason: String,
    #[serde(default)]
    message: String,
    exit_code: Option<i32>,
}

/// Reasons that do not go away by waiting (kubelet `pkg/kubelet/images/types.go`); the first pull error may.
const IMAGE_REASONS: [&str; 4] = [
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "ImageInspectError",
];
const CONTAINER_REASONS: [&str; 4] = [
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
    "CrashLoopBackOff",
];

/// `kgauge agent` ends with this status if no lead accepts it: another version, another token, no lead.
const REFUSED: i32 = 2;

/// Longer messages are cut.
const MESSAGE_CHARS_MAX: usize = 600;

impl RunPod {
    pub(super) fn name(&self) -> &str {
        &self.metadata.name
    }

    fn component(&self) -> &str {
        let label = self.metadata.labels.get("app.kubernetes.io/component");
        label.map_or("", String::as_str)
    }

    fn is_lead(&self) -> bool {
        self.component() == "lead"
    }

    pub(super) fn is_running(&self) -> bool {
        self.status.phase == "Running" && self.metadata.deletion_timestamp.is_none()
    }

    /// An agent may have ended before anybody sees it run.
    fn is_started(&self) -> bool {
        self.is_running() || !self.is_lead() && self.is_ended()
    }

    fn is_ended(&self) -> bool {
        ["Failed", "Succeeded"].contains(&self.status.phase.as_str())
    }

    fn is_done(&self) -> bool {
        !self.is_lead() && self.status.phase == "Succeeded"
    }

    fn terminated(&self) -> Option<&ContainerReason> {
        let mut statuses = self.status.container_statuses.iter();
        statuses.find_map(|status| status.state.terminated.as_ref())
    }

    /// Whether it is an agent that no lead accepted.
    pub(super) fn was_refused(&self) -> bool {
        let code = self.terminated().and_then(|end| end.exit_code);
        !self.is_lead() && code == Some(REFUSED)
    }

    fn is_pending(&self) -> bool {
        self.status.phase == "Pending"
    }

    /// Why it cannot start, if waiting does not help.
    fn obstacle(&self) -> Option<DeployError> {
        let statuses = self.status.container_statuses.iter();
        let mut waiting = statuses.filter_map(|status| status.state.waiting.as_ref());
        waiting.find_map(|waiting| {
            let (pod, reason) = (self.name().to_owned(), waiting.reason.clone());
            let message = one_line(&waiting.message);
            if IMAGE_REASONS.contains(&reason.as_str()) {
                return Some(DeployError::Image {
                    pod,
                    reason,
                    message,
                });
            }
            CONTAINER_REASONS
                .contains(&reason.as_str())
                .then_some(DeployError::Container {
                    pod,
                    reason,
                    message,
                })
        })
    }

    /// Why it ended, if it did.
    pub(super) fn end(&self) -> Option<DeployError> {
        if !self.is_ended() && self.metadata.deletion_timestamp.is_none() {
            return None;
        }
        let why = match self.terminated() {
            Some(end) => end.describe(),
            None => one_line(&format!("{} {}", self.status.reason, self.status.message)),
        };
        let why = match (why.is_empty(), self.metadata.deletion_timestamp.is_some()) {
            (false, _) => why,
            (true, true) => "it was deleted".to_owned(),
            (true, false) => "Kubernetes gives no reason".to_owned(),
        };
        Some(DeployError::Ended {
            pod: self.name().to_owned(),
            why,
        })
    }

    fn unschedulable(&self) -> Option<&str> {
        let mut conditions = self.status.conditions.iter();
        let condition = conditions.find(|one| one.kind == "PodScheduled" && one.status == "False");
        condition.map(|condition| condition.message.as_str())
    }
}

impl ContainerReason {
    /// The program's last message. A reason such as OOMKilled comes first, and so does the status of a program that a
    /// signal ended (128 and its number): it had no time for a message.
    fn describe(&self) -> String {
        let message = last_words(&self.message);
        let is_signal = self.exit_code.is_some_and(|code| code > 128);
        let is_plain = ["", "Error", "Completed"].contains(&self.reason.as_str()) && !is_signal;
        let reason = match self.exit_code {
            Some(code) => format!("{} (exit status {code})", self.reason),
            None => self.reason.clone(),
        };
        match (message.is_empty(), is_plain) {
            (true, _) => reason.trim().to_owned(),
            (false, true) => message,
            (false, false) => format!("{reason}: {message}"),
        }
    }
}

impl RunPods {
    /// The pod of the lead.
    pub(super) fn lead(&self) -> Option<&RunPod> {
        self.items.iter().find(|pod| pod.is_lead())
    }

    /// The first reason why the run cannot begin.
    pub(super) fn obstacle(&self) -> Option<DeployError> {
        let cannot_start = self.items.iter().find_map(RunPod::obstacle);
        cannot_start.or_else(|| self.lead()?.end())
    }

    /// Agents that failed or were deleted, and why.
    pub(super) fn failed_agents(&self) -> impl Iterator<Item = (&RunPod, DeployError)> {
        let agents = self.items.iter();
        let failed = agents.filter(|pod| !pod.is_lead() && !pod.is_done());
        failed.filter_map(|pod| Some((pod, pod.end()?)))
    }

    /// Pods without a node, and why.
    pub(super) fn unscheduled(&self) -> Option<(usize, String)> {
        let waiting: Vec<&str> = self
            .items
            .iter()
            .filter_map(RunPod::unschedulable)
            .collect();
        waiting
            .first()
            .map(|message| (waiting.len(), one_line(message)))
    }

    /// Why the first container that waits does so.
    pub(super) fn waiting(&self) -> Option<String> {
        let pods = self.items.iter();
        let mut statuses = pods.flat_map(|pod| &pod.status.container_statuses);
        let waiting = statuses.find_map(|status| status.state.waiting.as_ref())?;
        let words = format!("{} {}", waiting.reason, waiting.message);
        Some(one_line(&words)).filter(|words| !words.is_empty())
    }

    /// How many pods run, or have run.
    pub(super) fn started(&self) -> usize {
        self.items.iter().filter(|pod| pod.is_started()).count()
    }

    /// `lead running; agents: 3 running, 2 pending (0/3 nodes are available)`.
    pub(super) fn describe(&self, agents: u32) -> String {
        let lead = match self.lead() {
            None => "not created",
            Some(pod) if pod.is_running() => "running",
            Some(pod) if pod.is_pending() => "pending",
            Some(_) => "ended",
        };
        let of_agents = || self.items.iter().filter(|pod| !pod.is_lead());
        let running = of_agents().filter(|pod| pod.is_running()).count();
        let mut text = format!("lead {lead}, {running} of {agents} agents running");
        if let Some((count, message)) = self.unscheduled() {
            let wait = if count == 1 { "pod waits" } else { "pods wait" };
            text.push_str(&format!("; {count} {wait} for a node: {message}"));
        }
        text
    }
}

/// Messages of Kubernetes and of programs may have several lines and control characters.
fn one_line(text: &str) -> String {
    let cut: String = text.trim().chars().take(MESSAGE_CHARS_MAX).collect();
    cut.replace(|letter: char| letter.is_control(), " ")
}

/// The end of a program's output: its error is in the last line.
fn last_words(text: &str) -> String {
    let text = text.trim();
    let skipped = text.chars().count().saturating_sub(MESSAGE_CHARS_MAX);
    one_line(&text.chars().skip(skipped).collect::<String>())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pod(name: &str, component: &str, status: Value) -> Value {
        json!({"metadata": {"name": name, "labels": {"app.kubernetes.io/component": component}}, "status": status})
    }

    fn pods(items: &[Value]) -> RunPods {
        serde_json::from_value(json!({ "items": items })).unwrap()
    }

    #[test]
    fn a_pod_without_a_node_shows_the_schedulers_message() {
        let pods = pods(&[
            pod("a-lead", "lead", json!({"phase": "Running"})),
            pod(
                "a-agent-0",
                "agent",
                json!({"phase": "Pending", "conditions": [
                {"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                 "message": "0/3 nodes are available: 3 Insufficient cpu."}]}),
            ),
        ]);
        assert!(pods.obstacle().is_none());
        assert_eq!(
            pods.describe(1),
            "lead running, 0 of 1 agents running; 1 pod waits for a node: 0/3 nodes are available: 3 Insufficient cpu."
        );
        assert_eq!((pods.started(), pods.waiting()), (1, None));
    }

    #[test]
    fn an_image_that_cannot_be_pulled_is_an_error_at_once() {
        let waiting = json!({"phase": "Pending", "containerStatuses": [{"state": {"waiting": {
            "reason": "ImagePullBackOff", "message": "Back-off pulling image \"kgauge:1\""}}}]});
        let error = pods(&[pod("a-agent-0", "agent", waiting)])
            .obstacle()
            .unwrap();
        assert_eq!(
            error.to_string(),
            "pod a-agent-0 cannot start: ImagePullBackOff: Back-off pulling image \"kgauge:1\""
        );
        assert!(error.fix().contains("pull-secret"));
        let first = json!({"phase": "Pending", "containerStatuses": [{"state": {"waiting": {"reason": "ErrImagePull"}}}]});
        let pods = pods(&[pod("a-agent-0", "agent", first)]);
        assert!(pods.obstacle().is_none());
        assert_eq!(pods.waiting().as_deref(), Some("ErrImagePull"));
    }

    /// How the only pod ended.
    fn end(name: &str, component: &str, status: Value) -> String {
        let pods = pods(&[pod(name, component, status)]);
        pods.items[0].end().unwrap().to_string()
    }

    fn terminated(code: i32, reason: &str, message: &str) -> Value {
        json!({"phase": "Failed", "containerStatuses": [{"state": {"terminated": {
            "exitCode": code, "reason": reason, "message": message}}}]})
    }

    #[test]
    fn a_pod_that_ended_gives_its_last_words() {
        let message = format!(
            "{}\nkgauge: error: the lead has version 2\n",
            "x".repeat(2_000)
        );
        let end_of_agent = end("a-agent-3", "agent", terminated(2, "Error", &message));
        assert!(end_of_agent.starts_with("pod a-agent-3 ended: x"));
        assert!(end_of_agent.ends_with("x kgauge: error: the lead has version 2"));
        assert_eq!(
            end("a-lead-x", "lead", terminated(137, "OOMKilled", "")),
            "pod a-lead-x ended: OOMKilled (exit status 137)"
        );
        assert_eq!(
            end(
                "a-lead-x",
                "lead",
                terminated(137, "OOMKilled", "measuring")
            ),
            "pod a-lead-x ended: OOMKilled (exit status 137): measuring"
        );
        assert_eq!(
            end("a-lead-x", "lead", terminated(137, "Error", "measuring\n")),
            "pod a-lead-x ended: Error (exit status 137): measuring"
        );
        let evicted = json!({"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."});
        assert!(end("a-lead-x", "lead", evicted).contains("Evicted The node was low"));
    }

    #[test]
    fn only_an_agent_that_no_lead_accepted_was_refused() {
        let pods = pods(&[
            pod("a-lead-x", "lead", terminated(2, "Error", "")),
            pod("a-agent-0", "agent", terminated(2, "Error", "")),
            pod("a-agent-1", "agent", terminated(1, "Error", "")),
            pod("a-agent-2", "agent", json!({"phase": "Succeeded"})),
        ]);
        assert!(pods.obstacle().unwrap().to_string().contains("a-lead-x"));
        let failed: Vec<(&str, bool)> = pods
            .failed_agents()
            .map(|(pod, _)| (pod.name(), pod.was_refused()))
            .collect();
        assert_eq!(failed, [("a-agent-0", true), ("a-agent-1", false)]);
        assert_eq!(pods.started(), 3);
    }
}
