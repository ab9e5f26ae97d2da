//! The request for a run: everything resolved, nothing read from a command line or an environment.

use std::fmt;
use std::path::PathBuf;

use kgauge_agents::{AgentToken, AgentsLost, AgentsSpec};
use kgauge_client::{ClientConfig, Cluster};
use kgauge_results::run::RunLabel;

use crate::ab_test::AbTest;
use crate::checkup::CheckupRequest;
use crate::error::RunError;
use crate::host::HostSetup;
use crate::question::Question;
use crate::run_target::RunTarget;
use crate::stop::StopRequests;

/// A run of one question on one target.
#[derive(Clone)]
pub struct RunRequest<'a> {
    /// The question.
    pub question: &'a Question,
    /// The target.
    pub target: &'a RunTarget,
    /// The folder for the results.
    pub folder: FolderChoice,
    /// What the user says about the run; [`name_slug`](crate::name_slug) of its name names the default folder.
    pub label: RunLabel,
    /// The random seed; by default that of a saved plan, or a new one.
    pub seed: Option<u64>,
    /// The command that the run folder names, without secrets.
    pub command: Vec<String>,
    /// Whether the topics and data of the run are kept.
    pub keeps_data: bool,
    /// A topic of an existing cluster that is used unchanged.
    pub existing_topic: Option<String>,
    /// Whether kgauge polls the brokers about the run's topic during trials.
    pub polls_brokers: bool,
    /// Whether the run may use an existing cluster.
    pub consent: Consent<'a>,
    /// Requests to stop it.
    pub stop: StopRequests,
    /// Folders and programs of this machine.
    pub host: HostSetup,
    /// Makes the run a checkup: it reads the cluster, adds parts to its plan, and guards the cluster's health.
    pub checkup: Option<&'a CheckupRequest>,
    /// Called when the target is ready, before the first trial.
    pub on_target_ready: Option<&'a OnTargetReady<'a>>,
    /// The A/B test whose other side another run measures.
    pub ab: Option<AbTest>,
    /// The processes that generate the load; `None` for this one.
    pub agents: Option<AgentsRequest>,
}

impl<'a> RunRequest<'a> {
    /// A run with the defaults of everything else: a new folder below `kgauge-runs`, a new seed, no questions asked.
    pub fn new(question: &'a Question, target: &'a RunTarget, host: HostSetup) -> Self {
        Self {
            question,
            target,
            folder: FolderChoice::Default,
            label: RunLabel::default(),
            seed: None,
            command: Vec::new(),
            keeps_data: false,
            existing_topic: None,
            polls_brokers: true,
            consent: Consent::Given,
            stop: StopRequests::idle(),
            host,
            checkup: None,
            on_target_ready: None,
            ab: None,
            agents: None,
        }
    }
}

/// The agents of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentsRequest {
    /// Which.
    pub spec: AgentsSpec,
    /// What happens if one of them is lost.
    pub lost: AgentsLost,
    /// Echo flows are spread over them, so that end-to-end times compare two clocks. Otherwise one agent runs each echo
    /// flow, with one clock.
    pub spreads_echoes: bool,
    /// The secret that they share with the lead.
    pub token: AgentToken,
    /// The program to start as an agent: kgauge itself.
    pub program: PathBuf,
}

/// The run folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FolderChoice {
    /// A new one below `kgauge-runs`, named after the run or its question.
    Default,
    /// This one, which must be empty or not exist.
    New(PathBuf),
    /// The folder of an interrupted run, which is resumed.
    Resume(PathBuf),
}

/// Whether a run may use an existing cluster.
#[derive(Clone, Copy)]
pub enum Consent<'a> {
    /// It may.
    Given,
    /// The function asks, after the observer got the plan of the run.
    Ask(&'a dyn Fn() -> ConsentAnswer),
}

/// The user's answer to a question whether something may be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsentAnswer {
    /// Do it.
    Yes,
    /// Do not.
    No,
    /// There is no terminal to ask at.
    NobodyThere,
}

impl ConsentAnswer {
    /// Goes on after a yes; `refusal` is the message after a no.
    ///
    /// # Errors
    /// The user refuses, or cannot be asked.
    pub fn confirmed(self, refusal: &str) -> Result<(), RunError> {
        match self {
            Self::Yes => Ok(()),
            Self::No => Err(RunError::interrupted(refusal)),
            Self::NobodyThere => Err(RunError::input(
                "cannot ask for confirmation: stdin is not a terminal\n  use --yes to confirm",
            )),
        }
    }
}

impl fmt::Debug for Consent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Given => "Given",
            Self::Ask(_) => "Ask",
        })
    }
}

/// A callback with the target of a run before its first trial.
pub type OnTargetReady<'a> = dyn Fn(&mut Cluster, &ClientConfig) -> Result<(), RunError> + 'a;
