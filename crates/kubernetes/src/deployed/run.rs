//! The objects of one run in a cluster. Dropping the value removes them.

use std::path::Path;
use std::time::Duration;

use kgauge_client::Interrupt;

use super::archive::unpack;
use super::error::DeployError;
use super::log_lines::LogLines;
use super::pod_states::RunPods;
use super::rights::missing_rights;
use crate::agents::AgentsManifest;
use crate::kubectl::{Kubectl, spoken};
use crate::kubectl_error::KubectlError;

/// A file in the lead's folder of results: the exit status of the run.
pub const STATUS_FILE: &str = "status";

/// A file there that asks the run to end.
pub const STOP_FILE: &str = "stop";

/// A file there that lets the lead end: its results have been fetched.
pub const RELEASE_FILE: &str = "release";

/// How often objects are removed if Kubernetes does not answer, and the pause before the next time.
const DELETE_TRIES: u32 = 3;
const DELETE_PAUSE: Duration = Duration::from_secs(2);

/// A run that exists in a Kubernetes cluster.
#[derive(Debug)]
pub struct DeployedRun {
    kubectl: Kubectl,
    namespace: String,
    instance: String,
    /// The number of agents.
    pub agents: u32,
    is_removed: bool,
}

impl DeployedRun {
    /// Creates all objects, if the user may. The lead's Job is the first and owns the others: if nobody removes them,
    /// they go with it, 15 minutes after its end.
    ///
    /// # Errors
    /// Missing rights, or as `kubectl` reports; what was created before is removed.
    pub fn create(manifest: &AgentsManifest, kubectl: Kubectl) -> Result<DeployedRun, DeployError> {
        let namespace = &manifest.options.namespace;
        let missing = missing_rights(&kubectl, namespace)?;
        if !missing.is_empty() {
            return Err(DeployError::Rights {
                namespace: namespace.clone(),
                missing,
            });
        }
        let run = DeployedRun {
            kubectl,
            namespace: namespace.clone(),
            instance: manifest.instance.clone(),
            agents: manifest.options.replicas,
            is_removed: false,
        };
        let uid = run.create_lead(manifest.lead_yaml()?)?;
        let owned = manifest.owned_yaml(&uid)?;
        run.kubectl
            .run(&["create", "-f", "-"], Some(owned.into_bytes()))?;
        Ok(run)
    }

    /// Returns the id that Kubernetes gave the lead's Job.
    fn create_lead(&self, yaml: String) -> Result<String, KubectlError> {
        let arguments = ["create", "-f", "-", "-o", "jsonpath={.metadata.uid}"];
        let printed = self.kubectl.run(&arguments, Some(yaml.into_bytes()))?;
        let uid = String::from_utf8_lossy(&printed).trim().to_owned();
        match uid.is_empty() {
            false => Ok(uid),
            true => Err(KubectlError::Unreadable {
                command: spoken(&arguments),
                why: "it printed no id".to_owned(),
            }),
        }
    }

    /// Removes all objects.
    ///
    /// # Errors
    /// As `kubectl` reports; Kubernetes then ends the pods after their deadline.
    pub fn remove(mut self) -> Result<(), KubectlError> {
        self.is_removed = true;
        self.delete()
    }

    fn delete(&self) -> Result<(), KubectlError> {
        let (instance, namespace) = (&self.instance, &self.namespace);
        let objects = [
            format!("job/{instance}-agent"),
            format!("job/{instance}-lead"),
            format!("service/{instance}-lead"),
            format!("configmap/{instance}"),
            format!("secret/{instance}"),
        ];
        let mut arguments = vec![
            "delete",
            "-n",
            namespace,
            "--ignore-not-found",
            "--wait=false",
        ];
        arguments.extend(objects.iter().map(String::as_str));
        // Also after Ctrl-C: nothing may stay in the cluster.
        let kubectl = self.kubectl.uninterrupted(Interrupt::new());
        let mut tries = 1;
        loop {
            match kubectl.run(&arguments, None) {
                Ok(_) => return Ok(()),
                Err(error) if error.may_pass() && tries < DELETE_TRIES => {}
                Err(error) => return Err(error),
            }
            tries += 1;
            std::thread::sleep(DELETE_PAUSE);
        }
    }

    /// The states of its pods.
    pub(super) fn pods(&self) -> Result<RunPods, KubectlError> {
        self.pods_of("", &[])
    }

    /// The state of the lead alone.
    pub(super) fn lead_pod(&self) -> Result<RunPods, KubectlError> {
        self.pods_of(",app.kubernetes.io/component=lead", &[])
    }

    /// The agents that failed. With many agents, all states would be megabytes.
    pub(super) fn failed_agents(&self) -> Result<RunPods, KubectlError> {
        self.pods_of(
            ",app.kubernetes.io/component=agent",
            &["--field-selector=status.phase=Failed"],
        )
    }

    fn pods_of(&self, labels: &str, more: &[&str]) -> Result<RunPods, KubectlError> {
        let labels = format!("app.kubernetes.io/instance={}{labels}", self.instance);
        let arguments = ["get", "pods", "-n", &self.namespace, "-l", &labels];
        self.kubectl.json(&[&arguments, more].concat())
    }

    /// Why a Job creates no pods, from the namespace's events: a quota, a policy.
    pub(super) fn refusal(&self) -> Option<String> {
        let events: serde_json::Value = self
            .kubectl
            .json(&[
                "get",
                "events",
                "-n",
                &self.namespace,
                "--field-selector=reason=FailedCreate",
            ])
            .ok()?;
        let events = events.get("items")?.as_array()?;
        let own = events.iter().filter(|event| {
            let name = event
                .pointer("/involvedObject/name")
                .and_then(|name| name.as_str());
            name.is_some_and(|name| name.starts_with(&format!("{}-", self.instance)))
        });
        let mut messages = own.filter_map(|event| event.get("message")?.as_str());
        let message = messages.next_back()?;
        Some(message.replace(|letter: char| letter.is_control(), " "))
    }

    /// The log of a pod, without the first `skipped` lines.
    pub(super) fn log_lines(&self, pod: &str, skipped: usize) -> Result<LogLines, DeployError> {
        let arguments = ["logs", "--follow", "-n", &self.namespace, pod];
        Ok(LogLines::start(&self.kubectl, &arguments, skipped)?)
    }

    /// Asks the lead to end the run and write its report.
    pub(super) fn request_stop(&self, lead: &str) -> Result<(), KubectlError> {
        self.signal(lead, STOP_FILE)
    }

    /// Fetches the lead's folder of results into a new one.
    pub(super) fn fetch(&self, lead: &str, dir: &Path) -> Result<(), DeployError> {
        let pack = ["--", "/kgauge", "agents", "pack"];
        let arguments = [&["exec", "-n", &self.namespace, lead][..], &pack].concat();
        let unpacked = self
            .kubectl
            .stream(&arguments, |stream| unpack(stream, dir))?;
        Ok(unpacked?)
    }

    /// Lets the lead end.
    pub(super) fn release(&self, lead: &str) {
        // The Job ends anyway: what follows removes it.
        let _ = self.signal(lead, RELEASE_FILE);
    }

    fn signal(&self, lead: &str, file: &str) -> Result<(), KubectlError> {
        let signal = ["--", "/kgauge", "agents", "signal", file];
        let arguments = [&["exec", "-n", &self.namespace, lead][..], &signal].concat();
        self.kubectl.run(&arguments, None).map(drop)
    }
}

impl Drop for DeployedRun {
    fn drop(&mut self) {
        if !self.is_removed {
            // If this fails, Kubernetes ends the pods after their deadline.
            let _ = self.delete();
        }
    }
}
