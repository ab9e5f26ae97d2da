//! Runs of kgauge in the pods of a cluster, and what is left of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::check_list::CheckList;
use super::control_plane::{ADDRESS, ControlPlane, PAUSE, expect_status, tail};
use super::objects::{self, IMAGE, RUNS};
use crate::folders::root;
use crate::kafka::{FinishedJob, Job, poll};
use crate::kgauge::{Background, Kgauge};
use crate::say::remark;

/// How long anything may take that kgauge or the cluster does within a run.
const STEP_MAX: Duration = Duration::from_secs(60);

/// How long a run may take that should end.
const RUN_MAX: Duration = Duration::from_secs(180);

/// Pods of a run that has ended may take their grace period of 30 s.
const GONE_MAX: Duration = Duration::from_secs(60);

/// The kinds of objects of a run.
const KINDS: &str = "job,pod,secret,configmap,service";

/// Counts are the same on a busy machine.
const COUNTED: &str = "\
kgauge: 1
name: counted
question: Do all records of the pods arrive?
topic: {partitions: 10}
flows:
  - name: writers
    kind: produce
    producers: 10
    shape: {constant: 2k/s}
    records: 6000
    record: {size: 100 B}
  - name: readers
    kind: consume
    partitions: all
    from: earliest
    records: 6000
stages: {warm-up: 0 s, hold: 2 min}
repeats: 1
";

/// The records of [`COUNTED`].
pub(super) const RECORDS: u64 = 6_000;

/// Long enough for something to happen.
const LONG: &str = "\
kgauge: 1
name: long
question: What happens when something is lost?
topic: {partitions: 10}
flows:
  - {name: writers, kind: produce, producers: 10, shape: {constant: 2k/s}, record: {size: 100 B}}
stages: {warm-up: 0 s, hold: 40 s}
repeats: 1
";

/// A cluster in which kgauge runs, as a user with the rights of `deploy/role.yaml`.
pub(super) struct PodRuns<'a> {
    pub(super) plane: &'a ControlPlane,
    pub(super) kgauge: Kgauge<'a>,
    /// The Kafka cluster; pods reach it, because all addresses are of one machine.
    pub(super) servers: String,
    _kafka: Background,
}

impl<'a> PodRuns<'a> {
    /// Starts a Kafka cluster, and creates what an administrator creates.
    pub(super) fn start(
        plane: &'a ControlPlane,
        binary: &'a Path,
        folder: &'a Path,
    ) -> Result<Self> {
        let kgauge = Kgauge { binary, folder };
        fs::write(folder.join("counted.yaml"), COUNTED)?;
        fs::write(folder.join("long.yaml"), LONG)?;
        let up = ["cluster", "up", "embedded:3", "--listen", ADDRESS];
        let kafka = kgauge.start("kafka", &up)?;
        plane.apply(&[
            objects::restricted_namespace(RUNS),
            objects::plain_namespace(objects::KAFKA),
        ])?;
        let role = root().join("deploy/role.yaml");
        plane.good(&["apply", "-f", &role.display().to_string()], None)?;
        let runs = Self {
            plane,
            servers: kafka.servers()?,
            kgauge,
            _kafka: kafka,
        };
        // Without it, no pod can be created.
        for namespace in [RUNS, objects::KAFKA] {
            runs.await_field(&["serviceaccount", "default", "-n", namespace], "/metadata")?;
        }
        Ok(runs)
    }

    /// A check of runs. What a failed one leaves is removed before the next.
    pub(super) fn check(
        &self,
        list: &mut CheckList<'_>,
        name: &str,
        check: fn(&PodRuns<'_>) -> Result<String>,
    ) {
        list.check(name, || {
            let result = check(self);
            if result.is_err()
                && let Err(error) = self.clear()
            {
                remark(&format!("{name}: {error:#}"));
            }
            result
        });
    }

    /// Waits until an object exists and has a field, as a JSON pointer names it.
    pub(super) fn await_field(&self, arguments: &[&str], pointer: &str) -> Result<()> {
        let found = self.plane.poll_json(STEP_MAX, arguments, |object| {
            object.pointer(pointer).is_some().then_some(())
        })?;
        found.with_context(|| format!("no {pointer} of {}", arguments.join(" ")))
    }

    /// The words of a run in pods; `more` are further options of `k8s:`, each with a comma before it.
    pub(super) fn words(&self, scenario: &str, out: &str, agents: u32, more: &str) -> Vec<String> {
        let pods = format!(
            "k8s:replicas={agents},namespace={RUNS},image={IMAGE},cpu=500m,memory=256Mi{more}"
        );
        let words = [
            "run",
            scenario,
            "--out",
            out,
            "--yes",
            "--seed",
            "7",
            "--agents",
            &pods,
            "--target",
            &self.servers,
        ];
        words.map(str::to_owned).to_vec()
    }

    /// A run to its end.
    pub(super) fn run(&self, words: &[String]) -> Result<FinishedJob> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let job = self.kgauge.call(&words);
        Job {
            time_max: RUN_MAX,
            ..job
        }
        .run()
    }

    /// A run in the background.
    pub(super) fn begin(&self, words: &[String]) -> Result<Background> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let name = words.iter().position(|word| *word == "--out");
        let name = name.and_then(|at| words.get(at + 1));
        self.kgauge.start(name.copied().unwrap_or("run"), &words)
    }

    /// Waits until a run prints words.
    pub(super) fn await_words(&self, run: &Background, words: &str) -> Result<()> {
        let seen = poll(STEP_MAX, || {
            if fs::read_to_string(&run.stderr)?.contains(words) {
                return Ok(Some(()));
            }
            let ended = run.running.ended()?;
            ensure!(ended.is_none(), "it ended early: {}", tail(&run.text()));
            Ok(None)
        })?;
        seen.with_context(|| format!("it never prints {words:?}: {}", tail(&run.text())))
    }

    /// Waits until slices of the first and the last agent have reached the lead.
    pub(super) fn await_load(&self, run: &Background, agents: u32) -> Result<()> {
        self.await_words(run, "; results in ")?;
        let lead = self.pod("lead")?;
        let repeat = self
            .plane
            .volume(&lead, "results")?
            .join("run/repeats/0000-00");
        let has_slices = |agent: u32| {
            let path = repeat.join(format!("slices-{agent}.jsonl"));
            fs::metadata(path).is_ok_and(|facts| facts.len() > 0)
        };
        let seen = poll(STEP_MAX, || {
            let ended = run.running.ended()?;
            ensure!(ended.is_none(), "it ended early: {}", tail(&run.text()));
            Ok((has_slices(0) && has_slices(agents - 1)).then_some(()))
        })?;
        seen.with_context(|| format!("no slices in {}", repeat.display()))
    }

    /// Waits for the end of a run in the background.
    ///
    /// # Errors
    /// It does not end, or with another status.
    pub(super) fn await_end(&self, run: &Background, code: i32) -> Result<String> {
        let status = run.running.wait(RUN_MAX)?;
        let status = status.with_context(|| format!("it does not end: {}", tail(&run.text())))?;
        ensure!(
            status.code() == Some(code),
            "it ended with {status}, not {code}: {}",
            tail(&run.text())
        );
        Ok(run.text())
    }

    /// The only pod of the lead, or the first of the agents.
    pub(super) fn pod(&self, component: &str) -> Result<Value> {
        let labels = format!("app.kubernetes.io/component={component}");
        let arguments = ["pods", "-n", RUNS, "-l", &labels];
        let found = self.plane.poll_json(STEP_MAX, &arguments, |list| {
            let pods = list["items"].as_array()?.iter();
            let mut running = pods.filter(|pod| pod["status"]["phase"] == "Running");
            running.next().cloned()
        })?;
        found.with_context(|| format!("no running pod of component {component}"))
    }

    /// Ends the process of a pod's container at once.
    pub(super) fn kill(&self, pod: &Value) -> Result<()> {
        let id = pod["status"]["containerStatuses"][0]["containerID"].as_str();
        let id = id.and_then(|id| id.strip_prefix("process://")?.parse().ok());
        let pid = id.and_then(Pid::from_raw).context("a pod has a process")?;
        Ok(kill_process(pid, Signal::KILL)?)
    }

    /// Waits until nothing is left in the namespace of runs. Returns how long it took.
    pub(super) fn await_gone(&self) -> Result<Duration> {
        let start = std::time::Instant::now();
        let labels = "app.kubernetes.io/name=kgauge";
        let mut left = String::new();
        let arguments = [KINDS, "-n", RUNS, "-l", labels];
        let gone = self.plane.poll_json(GONE_MAX, &arguments, |list| {
            let items = list["items"].as_array()?;
            let names = items.iter().map(|object| {
                format!("{} {}", object["kind"], object["metadata"]["name"]).replace('"', "")
            });
            left = names.collect::<Vec<_>>().join(", ");
            items.is_empty().then_some(())
        })?;
        gone.with_context(|| format!("still there after {GONE_MAX:?}: {left}"))?;
        Ok(start.elapsed())
    }

    /// Removes what a failed check left behind.
    pub(super) fn clear(&self) -> Result<()> {
        let labels = "-l=app.kubernetes.io/name=kgauge";
        let words = ["delete", KINDS, "-n", RUNS, labels, "--force"];
        self.plane
            .good(&[&words[..], &["--wait=false"]].concat(), None)?;
        self.await_gone().map(drop)
    }

    /// A file of a run folder, as JSON.
    pub(super) fn summary(&self, out: &str) -> Result<Value> {
        let path = self.kgauge.folder.join(out).join("summary.json");
        let text = fs::read_to_string(&path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        Ok(serde_json::from_str(&text)?)
    }

    /// # Errors
    /// kgauge and the brokers did not count all records of the counted scenario.
    pub(super) fn check_counted(&self, out: &str) -> Result<()> {
        let counts = crate::kgauge::counts(&self.summary(out)?)?;
        ensure!(counts.len() == 1, "{} trials", counts.len());
        let count = &counts[0];
        ensure!(
            count.acked == RECORDS && count.on_broker == Some(RECORDS) && count.consumed == RECORDS,
            "{count:?}"
        );
        Ok(())
    }

    /// A call of kgauge that must end with this status.
    pub(super) fn call(&self, words: &[&str], code: i32) -> Result<FinishedJob> {
        let finished = self.kgauge.call(words).run()?;
        expect_status(&finished, code)?;
        Ok(finished)
    }

    /// Where a file of the user is.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.kgauge.folder.join(name)
    }

    /// Sets whether the scheduler may use all nodes but the first.
    pub(super) fn set_usable(&self, is_usable: bool) -> Result<()> {
        let patch = json!({"spec": {"unschedulable": !is_usable}}).to_string();
        for node in &super::control_plane::NODES[1..] {
            self.plane
                .good(&["patch", "node", node, "-p", &patch], None)?;
        }
        Ok(())
    }
}

impl ControlPlane {
    /// Asks for objects until `read` finds what it looks for in them.
    pub(super) fn poll_json<T>(
        &self,
        time_max: Duration,
        arguments: &[&str],
        mut read: impl FnMut(&Value) -> Option<T>,
    ) -> Result<Option<T>> {
        poll(time_max, || {
            self.check()?;
            let finished = self.kubectl(&[&["get", "-o", "json"][..], arguments].concat(), None)?;
            let object: Option<Value> = serde_json::from_str(&finished.stdout).ok();
            let found = object.as_ref().and_then(&mut read);
            if found.is_none() {
                std::thread::sleep(PAUSE);
            }
            Ok(found)
        })
    }
}
