//! The objects of one run in a cluster. Dropping the value removes them.

use std::path::Path;
use std::process::Stdio;

use kgauge_client::Interrupt;

use super::archive::unpack;
use super::error::DeployError;
use super::log_lines::LogLines;
use super::pod_states::{RunPod, RunPods};
use crate::agents::AgentsManifest;
use crate::kubectl::Kubectl;
use crate::kubectl_error::KubectlError;

/// A file in the lead's folder of results: the exit status of the run.
pub const STATUS_FILE: &str = "status";

/// A file there that asks the run to end.
pub const STOP_FILE: &str = "stop";

/// A file there that lets the lead end: its results have been fetched.
pub const RELEASE_FILE: &str = "release";

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
    /// Creates all objects.
    ///
    /// # Errors
    /// As `kubectl` reports; what was created before is removed.
    pub fn create(
        manifest: &AgentsManifest,
        yaml: String,
        kubectl: Kubectl,
    ) -> Result<DeployedRun, KubectlError> {
        let run = DeployedRun {
            kubectl,
            namespace: manifest.options.namespace.clone(),
            instance: manifest.instance.clone(),
            agents: manifest.options.replicas,
            is_removed: false,
        };
        run.kubectl
            .run(&["create", "-f", "-"], Some(yaml.into_bytes()))?;
        Ok(run)
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
        kubectl.run(&arguments, None).map(drop)
    }

    /// The states of its pods.
    pub(super) fn pods(&self) -> Result<RunPods, KubectlError> {
        let label = format!("app.kubernetes.io/instance={}", self.instance);
        self.kubectl
            .json(&["get", "pods", "-n", &self.namespace, "-l", &label])
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

    pub(super) fn log_lines(&self, pod: &RunPod) -> Result<LogLines, DeployError> {
        let arguments = ["logs", "--follow", "-n", &self.namespace, pod.name()];
        Ok(LogLines::start(&mut self.kubectl.command(&arguments))?)
    }

    /// Asks the lead to end the run and write its report.
    pub(super) fn request_stop(&self, pod: &str) -> Result<(), KubectlError> {
        self.signal(pod, STOP_FILE)
    }

    /// Fetches the lead's folder of results into a new one, and lets the lead end.
    pub(super) fn fetch(&self, pod: &str, dir: &Path) -> Result<(), DeployError> {
        let arguments = [
            "exec",
            "-n",
            &self.namespace,
            pod,
            "--",
            "/kgauge",
            "agents",
            "pack",
        ];
        let mut command = self.kubectl.command(&arguments);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let received = match child.stdout.take() {
            Some(stream) => unpack(stream, dir),
            None => Ok(()),
        };
        let _ = child.kill();
        let _ = child.wait();
        received?;
        // The Job ends anyway: what follows removes it.
        let _ = self.signal(pod, RELEASE_FILE);
        Ok(())
    }

    fn signal(&self, pod: &str, file: &str) -> Result<(), KubectlError> {
        let arguments = [
            "exec",
            "-n",
            &self.namespace,
            pod,
            "--",
            "/kgauge",
            "agents",
            "signal",
            file,
        ];
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
