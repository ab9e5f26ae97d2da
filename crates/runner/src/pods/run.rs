//! A run with `--agents k8s:...`: its pods are created, followed and removed.

use std::fs;
use std::path::{Path, PathBuf};

use kgauge_kubernetes::{
    AgentsManifest, DeployError, DeployedRun, FollowOptions, Kubectl, PodOptions, STATUS_FILE,
    follow,
};
use kgauge_results::folder::{RunOrigin, note_origin};

use super::pod_manifest;
use super::target::PodTarget;
use crate::checkup::CheckupRequest;
use crate::error::{OrRunError, RunError};
use crate::ids::{check_free, fresh_number, name_slug, remove_unused, run_dir, run_id, unix_ms};
use crate::question::Question;
use crate::request::Consent;
use crate::stop::StopRequests;

/// A run whose load comes from pods.
#[derive(Debug)]
pub struct PodRunRequest<'a> {
    /// The question.
    pub question: &'a Question,
    /// The target.
    pub target: PodTarget,
    /// What the pods should be.
    pub options: PodOptions,
    /// The lead's further flags.
    pub lead_arguments: Vec<String>,
    /// The run folder; by default a new one below `kgauge-runs`.
    pub out: Option<&'a Path>,
    /// What the user calls the run.
    pub name: Option<&'a str>,
    /// The random seed; by default that of a saved plan, or a new one.
    pub seed: Option<u64>,
    /// The command that the run folder names, without secrets.
    pub command: Vec<String>,
    /// Whether the run goes on without lost agents.
    pub tolerates_lost: bool,
    /// The checkup that the run makes.
    pub checkup: Option<&'a CheckupRequest>,
}

/// A run in pods, ready to begin.
#[derive(Debug)]
pub struct PodRun<'a> {
    question: &'a Question,
    target: PodTarget,
    manifest: AgentsManifest,
    out: PathBuf,
    seed: Option<u64>,
    command: Vec<String>,
    tolerates_lost: bool,
    checkup: Option<&'a CheckupRequest>,
}

/// The end of a run in pods.
#[derive(Debug)]
pub struct PodRunEnd {
    /// The run folder; `None` if the lead has no results.
    pub dir: Option<PathBuf>,
    /// The exit status of the lead, if it left one.
    pub lead_status: Option<i32>,
}

impl<'a> PodRun<'a> {
    /// Makes the objects of the run, and chooses its folder.
    ///
    /// # Errors
    /// The name or the folder cannot be used, or as [`pod_manifest`].
    pub fn new(request: PodRunRequest<'a>) -> Result<Self, RunError> {
        let question = request.question;
        let id = run_id(unix_ms(), fresh_number());
        let name = name_slug(request.name.unwrap_or(&question.name))?;
        let out = run_dir(request.out, &name, &id)?;
        check_free(&out)?;
        let instance = format!("kgauge-{id}");
        let (target, seed) = (request.target, request.seed);
        let (options, more) = (request.options, request.lead_arguments);
        Ok(Self {
            question,
            manifest: pod_manifest(instance, options, question, seed, &target, more)?,
            target,
            out,
            seed,
            command: request.command,
            tolerates_lost: request.tolerates_lost,
            checkup: request.checkup,
        })
    }

    /// Shows what will happen, and asks. `message` prints lines as they are.
    ///
    /// # Errors
    /// The user refuses, or cannot be asked.
    pub fn ask(&self, consent: Consent<'_>, message: &dyn Fn(&str)) -> Result<(), RunError> {
        let options = &self.manifest.options;
        message(&format!(
            "kgauge: {} agents and a lead in namespace {}, each with {} CPUs and {} memory, image {}\nkgauge: target {} ({})",
            options.replicas,
            options.namespace,
            options.cpu,
            options.memory,
            options.image,
            self.target.text,
            self.target.config.servers()
        ));
        let Consent::Ask(ask) = consent else {
            return Ok(());
        };
        let preview = match self.checkup {
            // Its loads depend on the cluster, which only pods may reach.
            Some(checkup) => format!(
                "a checkup of at most {} min; --max-rate and --max-disk limit what it writes",
                checkup.budget.as_secs().div_ceil(60)
            ),
            None => self.question.preview(self.seed)?.to_string(),
        };
        message(&preview);
        ask().confirmed("not started; nothing was created")
    }

    /// Runs the question in pods, and puts its run folder on this machine. Nothing stays in the cluster, however it
    /// ends. `message` prints lines as they are.
    ///
    /// # Errors
    /// The pods cannot be created, the user stopped the run before it had results, or these cannot be written.
    pub fn run(&self, stop: &StopRequests, message: &dyn Fn(&str)) -> Result<PodRunEnd, RunError> {
        let fetched = FetchedFolder::beside(&self.out, &self.manifest.instance)?;
        let results = fetched.0.join("results");
        self.follow_pods(&results, stop, message)?;
        let status = fs::read_to_string(results.join(STATUS_FILE)).unwrap_or_default();
        let lead_status = status.trim().parse().ok();
        let run = results.join("run");
        let dir = match run.exists() {
            true => Some(self.take_folder(&run)?),
            false => None,
        };
        Ok(PodRunEnd { dir, lead_status })
    }

    /// Creates the pods and fetches the lead's results.
    fn follow_pods(
        &self,
        results: &Path,
        stop: &StopRequests,
        message: &dyn Fn(&str),
    ) -> Result<(), RunError> {
        let manifest = &self.manifest;
        manifest.check().or_bad_input()?;
        message(&format!("kgauge: creating {}", manifest.instance));
        let kubectl = Kubectl::new(stop.all.clone());
        let run = DeployedRun::create(manifest, kubectl).map_err(|error| failed(&error))?;
        let options = FollowOptions {
            results,
            interrupt: &stop.load,
            abandon: &stop.all,
            tolerates_lost: self.tolerates_lost,
        };
        let followed = follow(&run, &options, &mut |line| message(line));
        message("kgauge: removing the pods");
        if let Err(error) = run.remove() {
            let (instance, namespace) = (&manifest.instance, &manifest.options.namespace);
            message(&format!(
                "kgauge: {instance} is still in namespace {namespace}: {error}\n  kubectl delete \
                 job,service,configmap,secret -n {namespace} -l app.kubernetes.io/instance={instance}"
            ));
        }
        followed.map_err(|error| failed(&error))
    }

    /// Notes in a fetched run folder how the run was started, and puts it into its place.
    fn take_folder(&self, run: &Path) -> Result<PathBuf, RunError> {
        let texts = self.question.texts();
        let origin = RunOrigin {
            command: self.command.clone(),
            target: self.target.text.clone(),
            scenarios: texts
                .map(|(name, text)| (name.to_owned(), text.to_owned()))
                .collect(),
        };
        note_origin(run, &origin).or_unwritable()?;
        // An empty folder may be there.
        let _ = fs::remove_dir(&self.out);
        fs::rename(run, &self.out).or_unwritable()?;
        Ok(self.out.clone())
    }
}

fn failed(error: &DeployError) -> RunError {
    let words = format!("--agents k8s: {error}\n  {}", error.fix());
    match error {
        DeployError::Interrupted => RunError::interrupted(words),
        _ => RunError::input(words),
    }
}

/// A folder next to the run folder for what arrives. Dropping it removes it.
struct FetchedFolder(PathBuf);

impl FetchedFolder {
    fn beside(out: &Path, instance: &str) -> Result<Self, RunError> {
        let parent = out.parent().unwrap_or(Path::new(""));
        if !parent.as_os_str().is_empty() {
            fs::create_dir_all(parent).or_unwritable()?;
        }
        let dir = parent.join(format!(".{instance}.fetched"));
        fs::create_dir(&dir).or_unwritable()?;
        Ok(Self(dir))
    }
}

impl Drop for FetchedFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
        // Also the default folder around it, if nothing else is there.
        remove_unused(&self.0);
    }
}
