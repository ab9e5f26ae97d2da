//! Load agents as pods of Kubernetes: `--agents k8s:...` and `kgauge agents`.

mod deploy;
mod inside;
mod lead_flags;
mod manifest;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use kgauge_runner::Question;

use crate::args::{RunArgs, ScenarioArgs};
use crate::built_in_args::BuiltInArgs;
use crate::exit::ExitStatus;
use crate::{help, run};

/// The first of a lead's further arguments, if it makes a checkup.
const CHECKUP: &str = "checkup";

/// Print the Kubernetes objects of a run whose load comes from pods
#[derive(Debug, Args)]
pub(crate) struct AgentsCommand {
    #[command(subcommand)]
    action: AgentsAction,
}

#[derive(Debug, Subcommand)]
enum AgentsAction {
    /// Print the Kubernetes objects of a run with agents, for kubectl, GitOps and kustomize
    Manifest(Box<ManifestArgs>),
    /// Run a plan in a pod, and keep its results until they are fetched
    #[command(hide = true)]
    Lead(LeadArgs),
    /// Write a pod's results to stdout
    #[command(hide = true)]
    Pack(ResultsArgs),
    /// Ask a pod's lead to end
    #[command(hide = true)]
    Signal(SignalArgs),
}

/// Print the Kubernetes objects of a run with agents, for kubectl, GitOps and kustomize
#[derive(Debug, Args)]
#[command(after_help = help::AGENTS_MANIFEST)]
pub(crate) struct ManifestArgs {
    /// `k8s:replicas=N,namespace=NAME`, and separated by commas: image=IMAGE, pull-secret=NAME, cpu=2,
    /// memory=1Gi, node-selector=KEY=VALUE, deadline=4h
    #[arg(value_name = "K8S")]
    agents: String,

    /// Built-in scenario, study, scenario file, or saved plan.json
    #[arg(value_name = "SCENARIO|FILE")]
    what: String,

    /// Existing cluster to test, as in `kgauge run` [default: the environment variable KGAUGE_TARGET]
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,

    /// Name of the objects
    #[arg(long, value_name = "NAME", default_value = "kgauge")]
    name: String,

    /// Random seed [default: random]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    #[command(flatten)]
    changes: ScenarioArgs,

    #[command(flatten)]
    built_in: BuiltInArgs,

    /// Flags of `kgauge run` for the lead, such as `-- --agents-lost tolerate`
    #[arg(last = true, value_name = "FLAGS")]
    more: Vec<String>,
}

#[derive(Debug, Args)]
struct LeadArgs {
    #[arg(long)]
    plan: PathBuf,
    #[arg(long)]
    target: PathBuf,
    #[arg(long)]
    agents: String,
    #[arg(long)]
    agents_token_file: PathBuf,
    #[arg(long)]
    out: PathBuf,
    #[arg(last = true)]
    more: Vec<String>,
}

#[derive(Debug, Args)]
struct ResultsArgs {
    #[arg(long, default_value = "/results")]
    results: PathBuf,
}

#[derive(Debug, Args)]
struct SignalArgs {
    /// `stop` ends the run, `release` the lead
    #[arg(value_parser = ["stop", "release"])]
    file: String,
    #[command(flatten)]
    folder: ResultsArgs,
}

/// Runs a question with the load of this process, of other processes, or of pods.
pub(crate) fn run_question(arguments: &RunArgs, question: &Question) -> anyhow::Result<ExitStatus> {
    match arguments.conduct.agents.pods() {
        Some(pods) => deploy::deploy(arguments, question, pods),
        None => run::run_question(arguments, question),
    }
}

/// Prints objects, or does a lead's work in a pod.
pub(crate) fn agents(command: &AgentsCommand) -> anyhow::Result<ExitStatus> {
    match &command.action {
        AgentsAction::Manifest(arguments) => manifest::manifest(arguments),
        AgentsAction::Lead(arguments) => inside::lead(arguments),
        AgentsAction::Pack(arguments) => inside::pack_results(&arguments.results),
        AgentsAction::Signal(arguments) => {
            inside::signal(&arguments.folder.results, &arguments.file)
        }
    }
}
