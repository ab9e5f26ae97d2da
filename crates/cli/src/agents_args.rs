//! The flags that spread a load over several processes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use kgauge_agents::AgentsLost;
use kgauge_runner::{AgentsRequest, OrRunError, read_agents};

/// Which processes generate the load.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AgentsArgs {
    /// Generate the load with several processes, called agents: `local:N` on this machine,
    /// `ssh:HOST,HOST`, `HOST:PORT,HOST:PORT` of running `kgauge agent --listen`,
    /// `join:N[,listen=ADDR]` to wait for N of `kgauge agent --join`, or
    /// `k8s:replicas=N,namespace=NAME` for Kubernetes pods (`kgauge help kubernetes`) [default: this
    /// process]
    #[arg(long, value_name = "AGENTS")]
    pub(crate) agents: Option<String>,

    /// What to do if an agent is lost: stop the run, or continue with the others and mark the figures
    #[arg(long, value_name = "WHAT", default_value = "fail", requires = "agents")]
    pub(crate) agents_lost: LostAgents,

    /// Agents that run an echo flow: one, so that one clock measures it, or all. End-to-end times then
    /// compare two agents' clocks, and the report marks times smaller than the clocks' error
    #[arg(long, value_name = "HOW", default_value = "one", requires = "agents")]
    pub(crate) agents_echo: EchoAgents,

    /// File with the token that the agents were started with; needed for `HOST:PORT` and `join:`
    #[arg(long, value_name = "FILE", requires = "agents")]
    pub(crate) agents_token_file: Option<PathBuf>,
}

/// Values of `--agents-lost`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LostAgents {
    /// Stop the run and keep what was measured
    #[default]
    Fail,
    /// Continue with the others
    Tolerate,
}

/// Values of `--agents-echo`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum EchoAgents {
    /// One agent, and so one clock, for each echo flow
    #[default]
    One,
    /// All agents
    All,
}

impl AgentsArgs {
    /// The text of `k8s:...`, if the agents are pods.
    pub(crate) fn pods(&self) -> Option<&str> {
        self.agents
            .as_deref()
            .filter(|text| text.trim().starts_with("k8s:"))
    }

    /// Whether a run goes on without lost agents.
    pub(crate) fn tolerates_lost(&self) -> bool {
        self.agents_lost == LostAgents::Tolerate
    }

    /// What a lead in a pod has to know of these flags.
    pub(crate) fn lead_arguments(&self) -> impl Iterator<Item = String> {
        let lost = self
            .tolerates_lost()
            .then(|| "--agents-lost=tolerate".to_owned());
        let spreads = self.agents_echo == EchoAgents::All;
        let echo = spreads.then(|| "--agents-echo=all".to_owned());
        lost.into_iter().chain(echo)
    }

    /// The agents of a run; `None` if this process generates the load.
    pub(crate) fn request(&self) -> anyhow::Result<Option<AgentsRequest>> {
        let Some(text) = &self.agents else {
            return Ok(None);
        };
        let (spec, token) = read_agents(text, self.agents_token_file.as_deref())?;
        Ok(Some(AgentsRequest {
            spec,
            lost: match self.agents_lost {
                LostAgents::Fail => AgentsLost::Fail,
                LostAgents::Tolerate => AgentsLost::Tolerate,
            },
            spreads_echoes: self.agents_echo == EchoAgents::All,
            token,
            program: std::env::current_exe().or_unwritable()?,
        }))
    }
}
