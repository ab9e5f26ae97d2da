//! `kgauge agent`: generates load for a lead on this or another machine.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::anyhow;
use clap::Args;
use kgauge_agents::AgentToken;
use kgauge_agents::agent::{ListeningAgent, SessionEnd, join};
use kgauge_client::config::Address;
use kgauge_runner::OrRunError;
use signal_hook::consts::SIGTERM;

use crate::exit::ExitStatus;
use crate::help;
use crate::print;

/// How long an agent waits for its lead.
const JOIN_PATIENCE: Duration = Duration::from_secs(600);

/// How long an agent waits whose token comes from stdin: a lead has started it, and is there or gone.
const LAUNCHED_PATIENCE: Duration = Duration::from_secs(60);

/// The exit status that shells show after SIGTERM.
const TERMINATED: i32 = 143;

/// Generate load on this machine for a run that another machine leads
#[derive(Debug, Args)]
#[command(after_help = help::AGENT)]
pub(crate) struct AgentArgs {
    /// Wait for leads at this address, such as 0.0.0.0:7700, until Ctrl-C
    #[arg(
        long,
        value_name = "ADDR",
        conflicts_with = "join",
        required_unless_present = "join"
    )]
    pub(crate) listen: Option<String>,

    /// Join the run of the lead at this address; waits up to 10 minutes for it, with `--token-file -` up to
    /// 1 minute
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) join: Option<String>,

    /// File with the token that lead and agents share: one line of at least 16 bytes. `-` reads it from
    /// stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: PathBuf,

    /// Print only errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Serves leads, or one run.
pub(crate) fn agent(arguments: &AgentArgs) -> anyhow::Result<ExitStatus> {
    let token = AgentToken::read(&arguments.token_file).or_bad_input()?;
    // The first process of a container ignores signals without a handler: its pod would take 30 s to end.
    let at_once = Arc::new(AtomicBool::new(true));
    signal_hook::flag::register_conditional_shutdown(SIGTERM, TERMINATED, at_once)
        .or_unwritable()?;
    let report = |words: &str| {
        if !arguments.quiet {
            print::message(&format!("kgauge agent: {words}"));
        }
    };
    if let Some(lead) = &arguments.join {
        let address = Address::parse(lead).map_err(|mistake| anyhow!("--join {lead} {mistake}"))?;
        report(&format!("joining {address}"));
        let patience = match arguments.token_file.as_os_str() == "-" {
            true => LAUNCHED_PATIENCE,
            false => JOIN_PATIENCE,
        };
        let ended = join(&address, &token, patience).or_bad_input()?;
        report(&ended.to_string());
        return Ok(match ended {
            SessionEnd::RunOver => ExitStatus::Good,
            SessionEnd::LeadLost { .. } => ExitStatus::Failed,
        });
    }
    let listen = arguments.listen.as_deref().unwrap_or_default();
    let listening = ListeningAgent::bind(listen).or_bad_input()?;
    let address = listening.address();
    let address = address.map_or_else(|| listen.to_owned(), |address| address.to_string());
    report(&format!("listening on {address}"));
    listening.serve(&token, &report).or_bad_input()?;
    Ok(ExitStatus::Good)
}
