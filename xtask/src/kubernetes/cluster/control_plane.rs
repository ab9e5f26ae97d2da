//! etcd, API server, controller manager, scheduler and nodes, and `kubectl` of an administrator.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::programs;
use crate::kafka::{FinishedJob, Job, poll};
use crate::kgauge::Background;

/// Addresses of the machine and of all pods; the kubelet counts them from 10.244.1.2.
pub(super) const NETWORK: &str = "10.244.0.1/16";

/// The address of the API server, of all nodes, and of the Kafka cluster.
pub(super) const ADDRESS: &str = "10.244.0.1";

/// The nodes. Pods of 500m CPUs: four fit on each.
pub(super) const NODES: [&str; 3] = ["node-1", "node-2", "node-3"];

/// The user who runs kgauge: no groups, and no rights but those that a check grants.
pub(super) const USER: &str = "jane";

/// Nobody else reaches this network.
const ADMIN_TOKEN: &str = "token-of-the-administrator";
const USER_TOKEN: &str = "token-of-jane";

const START_MAX: Duration = Duration::from_secs(120);
const KUBECTL_MAX: Duration = Duration::from_secs(60);

/// Between two questions to the API server: each one starts a process.
pub(super) const PAUSE: Duration = Duration::from_millis(300);

/// The login of the user.
pub(super) fn user_config(work: &Path) -> PathBuf {
    work.join("user.json")
}

/// A Kubernetes cluster. Its processes end with their namespaces, or when it is dropped.
pub(super) struct ControlPlane {
    tools: PathBuf,
    admin_config: PathBuf,
    pods_dir: PathBuf,
    processes: Vec<(&'static str, Background)>,
}

impl ControlPlane {
    /// Starts all parts, one after the other, and waits until the nodes can have pods.
    pub(super) fn start(
        work: &Path,
        tools: &Path,
        images: &[(&'static str, PathBuf)],
    ) -> Result<ControlPlane> {
        let mut plane = ControlPlane {
            tools: tools.to_owned(),
            admin_config: work.join("admin.json"),
            pods_dir: work.join("pods"),
            processes: Vec::new(),
        };
        write_logins(work, &plane.admin_config)?;
        let etcd = |key: &str, port: u16| format!("--{key}=http://127.0.0.1:{port}");
        plane.run(
            "etcd",
            &[
                format!("--data-dir={}", work.join("etcd").display()),
                etcd("listen-client-urls", 2379),
                etcd("advertise-client-urls", 2379),
                etcd("listen-peer-urls", 2380),
                "--log-level=warn".to_owned(),
                // The data need not survive anything.
                "--unsafe-no-fsync".to_owned(),
            ],
        )?;
        plane.run("kube-apiserver", &api_server_arguments(work))?;
        plane.await_answer(&["get", "--raw=/readyz"])?;
        for program in ["kube-controller-manager", "kube-scheduler"] {
            plane.run(program, &plane.client_arguments(work, program))?;
        }
        plane.run("process-kubelet", &plane.kubelet_arguments(images))?;
        let nodes = NODES.map(|node| format!("node/{node}"));
        let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
        let ready = ["wait", "--for=condition=Ready", "--timeout=30s"];
        plane.await_answer(&[&ready[..], &nodes].concat())?;
        Ok(plane)
    }

    fn run(&mut self, program: &'static str, arguments: &[String]) -> Result<()> {
        let mut command = Command::new(self.tools.join(program));
        command.args(arguments);
        let log = programs::logs(&self.tools).join(program);
        self.processes
            .push((program, Background::start(program, command, &log)?));
        Ok(())
    }

    /// Of a program that is a client of the API server.
    fn client_arguments(&self, work: &Path, program: &str) -> Vec<String> {
        let mut arguments = vec![
            format!("--kubeconfig={}", self.admin_config.display()),
            "--leader-elect=false".to_owned(),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--cert-dir={}", work.join(program).display()),
        ];
        if program == "kube-controller-manager" {
            let key = private_key(work);
            arguments.push(format!(
                "--service-account-private-key-file={}",
                key.display()
            ));
        }
        arguments
    }

    fn kubelet_arguments(&self, images: &[(&'static str, PathBuf)]) -> Vec<String> {
        let mut arguments = vec![
            "nodes".to_owned(),
            format!("--kubeconfig={}", self.admin_config.display()),
            format!("--dir={}", self.pods_dir.display()),
            format!("--names={}", NODES.join(",")),
            format!("--address={ADDRESS}"),
        ];
        let images = images.iter();
        arguments.extend(images.map(|(name, dir)| format!("--image={name}={}", dir.display())));
        arguments
    }

    /// Asks until the answer is good.
    fn await_answer(&self, arguments: &[&str]) -> Result<()> {
        let mut last = String::new();
        let answered = poll(START_MAX, || {
            self.check()?;
            let finished = self.kubectl(arguments, None)?;
            if finished.status.is_some_and(|status| status.success()) {
                return Ok(Some(()));
            }
            last = finished.stderr;
            std::thread::sleep(PAUSE);
            Ok(None)
        })?;
        answered.with_context(|| format!("no answer within {START_MAX:?}: {}", tail(&last)))
    }

    /// # Errors
    /// A part of the cluster has ended.
    pub(super) fn check(&self) -> Result<()> {
        for (name, process) in &self.processes {
            if let Some(status) = process.running.ended()? {
                bail!("{name} ended with {status}: {}", tail(&process.text()));
            }
        }
        Ok(())
    }

    /// Runs `kubectl` as an administrator, whatever comes of it.
    pub(super) fn kubectl(&self, arguments: &[&str], input: Option<&str>) -> Result<FinishedJob> {
        let mut command = Command::new(self.tools.join("kubectl"));
        command
            .arg(format!("--kubeconfig={}", self.admin_config.display()))
            .args(arguments);
        let job = Job::new(
            format!("kubectl {}", arguments.join(" ")),
            command,
            KUBECTL_MAX,
        );
        match input {
            Some(text) => job.with_input(text)?.run(),
            None => job.run(),
        }
    }

    /// The same; what it printed if it ended well.
    pub(super) fn good(&self, arguments: &[&str], input: Option<&str>) -> Result<String> {
        let finished = self.kubectl(arguments, input)?;
        expect_status(&finished, 0)?;
        Ok(finished.stdout)
    }

    /// Creates or changes objects.
    pub(super) fn apply(&self, objects: &[Value]) -> Result<()> {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
        self.good(&["apply", "-f", "-"], Some(&list.to_string()))?;
        Ok(())
    }

    /// The folder of a pod's volume on this machine.
    pub(super) fn volume(&self, pod: &Value, name: &str) -> Result<PathBuf> {
        let uid = pod["metadata"]["uid"].as_str().context("a pod has an id")?;
        Ok(self.pods_dir.join(uid).join("volumes").join(name))
    }
}

impl Drop for ControlPlane {
    /// At once: in order, each part would take its time to end connections to the others.
    fn drop(&mut self) {
        for (_, process) in &self.processes {
            let _ = process.running.signal(Signal::KILL);
        }
    }
}

/// The key that signs tokens of service accounts.
fn private_key(work: &Path) -> PathBuf {
    work.join("service-accounts.key")
}

/// The key that tokens are checked with. The API server does not find it in a private key of PKCS #8, which is the only
/// form that this program writes.
fn public_key(work: &Path) -> PathBuf {
    work.join("service-accounts.pub")
}

fn api_server_arguments(work: &Path) -> Vec<String> {
    let (private, public) = (private_key(work), public_key(work));
    vec![
        "--etcd-servers=http://127.0.0.1:2379".to_owned(),
        format!("--advertise-address={ADDRESS}"),
        "--secure-port=6443".to_owned(),
        format!("--cert-dir={}", work.join("api-server").display()),
        "--service-cluster-ip-range=10.96.0.0/16".to_owned(),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        format!("--service-account-key-file={}", public.display()),
        format!("--service-account-signing-key-file={}", private.display()),
        format!("--token-auth-file={}", work.join("tokens.csv").display()),
        "--authorization-mode=RBAC".to_owned(),
        // As in OpenShift: who names an owner needs the right to.
        "--enable-admission-plugins=OwnerReferencesPermissionEnforcement".to_owned(),
        "--kubelet-preferred-address-types=InternalIP".to_owned(),
    ]
}

/// Writes keys, tokens and the settings of `kubectl`.
fn write_logins(work: &Path, admin_config: &Path) -> Result<()> {
    let keys = rcgen::KeyPair::generate()?;
    fs::write(private_key(work), keys.serialize_pem())?;
    fs::write(public_key(work), keys.public_key_pem())?;
    let tokens = format!("{ADMIN_TOKEN},admin,1,system:masters\n{USER_TOKEN},{USER},2\n");
    fs::write(work.join("tokens.csv"), tokens)?;
    let login = |token: &str| {
        json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "check", "cluster": {
                "server": format!("https://{ADDRESS}:6443"), "insecure-skip-tls-verify": true}}],
            "users": [{"name": "user", "user": {"token": token}}],
            "contexts": [{"name": "check", "context": {"cluster": "check", "user": "user"}}],
            "current-context": "check",
        })
        .to_string()
    };
    fs::write(admin_config, login(ADMIN_TOKEN))?;
    fs::write(user_config(work), login(USER_TOKEN))?;
    Ok(())
}

/// # Errors
/// Another exit status, with the last lines of its messages.
pub(super) fn expect_status(finished: &FinishedJob, code: i32) -> Result<()> {
    let status = finished.status;
    ensure!(
        status.and_then(|status| status.code()) == Some(code),
        "{} ended with {}, not {code}: {}",
        finished.words,
        status.map_or("no status in time".to_owned(), |status| status.to_string()),
        tail(&finished.stderr)
    );
    Ok(())
}

/// The last lines of a text, on one line.
pub(super) fn tail(text: &str) -> String {
    const LINES: usize = 8;
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_api_server_checks_tokens_with_a_public_key() {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path();
        write_logins(work, &work.join("admin.json")).unwrap();
        let starts = |path: PathBuf, words: &str| {
            let text = fs::read_to_string(path).unwrap();
            assert!(text.starts_with(words), "{text}");
        };
        starts(private_key(work), "-----BEGIN PRIVATE KEY-----");
        starts(public_key(work), "-----BEGIN PUBLIC KEY-----");
        let arguments = api_server_arguments(work);
        let checked = format!("--service-account-key-file={}", public_key(work).display());
        assert!(arguments.contains(&checked), "{arguments:?}");
    }

    #[test]
    fn only_the_last_lines_are_shown() {
        let text: String = (1..=9).map(|line| format!("{line}\n")).collect();
        assert_eq!(tail(&text), "2 | 3 | 4 | 5 | 6 | 7 | 8 | 9");
        assert_eq!(tail("one"), "one");
    }
}
