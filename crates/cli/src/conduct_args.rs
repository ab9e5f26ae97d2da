//! The flags that all commands with a load share.

use std::path::PathBuf;

use clap::Args;
use kgauge_results::run::RunLabel;
use kgauge_runner::{Consent, Question, RunRequest, RunTarget};

use crate::agents_args::AgentsArgs;
use crate::ask::may_begin;
use crate::host::{command_line, host_setup};
use crate::style::DetailArgs;

/// How a run is made, and what is shown of it.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ConductArgs {
    /// Broker metrics endpoints of an existing cluster (Jolokia or Prometheus), as `URL` or `ID=URL`,
    /// separated by commas. Kafka brokers that kgauge starts are scraped automatically
    #[arg(long, value_name = "[ID=]URL")]
    pub(crate) metrics: Vec<String>,

    /// Random seed [default: random, printed at start]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// Run folder; must be empty or not exist [default: a new one under `kgauge-runs`]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Name of the run: title of its report, start of its folder's name, and its name in `compare`
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Keep the topics of the run, and the data of a cluster that kgauge starts
    #[arg(long)]
    pub(crate) keep: bool,

    /// Do not ask for confirmation before using an existing cluster
    #[arg(long)]
    pub(crate) yes: bool,

    /// Use this topic of an existing cluster unchanged; kgauge does not delete it
    #[arg(long, value_name = "TOPIC")]
    pub(crate) allow_existing: Option<String>,

    /// Do not poll the brokers during trials. By default kgauge polls the run's topic every second
    /// over separate connections: leaders, ISR, follower lag, sizes and committed offsets
    #[arg(long)]
    pub(crate) no_wire_evidence: bool,

    /// Speed of a network interface of this machine, such as `eth0=10Gbit`; may be repeated. Needed
    /// when the driver reports none or a wrong one. Units: Kbit, Mbit, Gbit or Tbit per second
    #[arg(long = "network-speed", value_name = "IF=SPEED")]
    pub(crate) network_speeds: Vec<String>,

    /// Use an unpacked Kafka release instead of Maven for `kafka:` targets
    #[arg(long, value_name = "DIR")]
    pub(crate) kafka_home: Option<PathBuf>,

    /// Print summary.json instead of the table
    #[arg(long)]
    pub(crate) json: bool,

    /// Serve a live page for browsers, and Prometheus metrics under /metrics. `HOST:PORT`, or a port
    /// on the loopback interface; 0 picks a free port and prints it
    #[arg(long, value_name = "ADDR")]
    pub(crate) serve: Option<String>,

    #[command(flatten)]
    pub(crate) agents: AgentsArgs,

    #[command(flatten)]
    pub(crate) detail: DetailArgs,
}

impl ConductArgs {
    /// Whether a run may use an existing cluster.
    pub(crate) fn consent(&self) -> Consent<'static> {
        match self.yes {
            true => Consent::Given,
            false => Consent::Ask(&may_begin),
        }
    }

    /// A run with what these flags set. Folder and seed are those of the caller, who may start several runs.
    pub(crate) fn request<'a>(
        &self,
        question: &'a Question,
        target: &'a RunTarget,
    ) -> anyhow::Result<RunRequest<'a>> {
        Ok(RunRequest {
            label: RunLabel {
                name: self.name.clone(),
            },
            command: command_line(),
            keeps_data: self.keep,
            existing_topic: self.allow_existing.clone(),
            polls_brokers: !self.no_wire_evidence,
            consent: self.consent(),
            ..RunRequest::new(question, target, host_setup()?)
        })
    }
}
