//! Before the first trial: the agents of a run, and what they cannot do.

use std::collections::BTreeSet;
use std::path::Path;

use kgauge_agents::lead::{AgentPool, AgentPoolSetup, AgentsError};
use kgauge_agents::{AgentToken, AgentsSpec};
use kgauge_client::ClientConfig;
use kgauge_scenario::{FlowPlan, Plan, Trial};

use crate::error::{OrRunError, RunError};
use crate::observer::{Observer, RunEvent};
use crate::question::Question;
use crate::request::RunRequest;
use crate::shared_pool::SharedPool;
use crate::target_text::is_loopback;

/// Reads which processes generate the load, and the token that they share: that of a file, or a new one for agents that
/// kgauge starts.
///
/// # Errors
/// The text names no agents or those of Kubernetes, or the token does not fit to them.
pub fn read_agents(
    text: &str,
    token_file: Option<&Path>,
) -> Result<(AgentsSpec, AgentToken), RunError> {
    let spec: AgentsSpec = text.parse::<AgentsSpec>().or_bad_input()?;
    if matches!(spec, AgentsSpec::Kubernetes { .. }) {
        return Err(RunError::input(
            "--agents k8s: works with kgauge run, capacity, checkup and ab, on one target and without --resume",
        ));
    }
    let needs_token = matches!(
        spec,
        AgentsSpec::Listening { .. } | AgentsSpec::Joining { .. }
    );
    let token = match (token_file, needs_token) {
        (Some(path), true) => AgentToken::read(path).or_bad_input()?,
        (None, true) => {
            return Err(RunError::input(
                "--agents: these agents were started with a token; name its file with --agents-token-file",
            ));
        }
        (Some(_), false) => {
            return Err(RunError::input(
                "--agents-token-file: kgauge makes a token for agents that it starts; remove the flag",
            ));
        }
        (None, false) => AgentToken::random().or_bad_input()?,
    };
    Ok((spec, token))
}

/// Gathers the agents that the request names.
pub(crate) fn gather_agents(
    request: &RunRequest<'_>,
    run_id: &str,
    observer: &mut dyn Observer,
) -> Result<Option<SharedPool>, RunError> {
    let Some(agents) = &request.agents else {
        return Ok(None);
    };
    check_agents_plan(request.question)?;
    let setup = AgentPoolSetup {
        spec: &agents.spec,
        lost: agents.lost,
        token: &agents.token,
        program: agents.program.clone(),
        run_id,
        interrupt: &request.stop.load,
    };
    let mut report = |words: &str| observer.observe(&RunEvent::Remark(words));
    let gathered = AgentPool::gather(&setup, &mut report);
    let pool = gathered.map_err(|error| match error {
        AgentsError::Interrupted => RunError::interrupted(error),
        _ => RunError::input(error),
    })?;
    Ok(Some(SharedPool::new(pool)))
}

/// Refuses what agents cannot do, before anything is started for it.
///
/// # Errors
/// A flow that another client sends, or a mirror.
pub fn check_agents_plan(question: &Question) -> Result<(), RunError> {
    let trials = &question.trials;
    let flows = || trials.iter().flat_map(|trial| &trial.flows);
    let is_driven = |flow: &FlowPlan| flow.produces().is_some_and(|flow| !flow.driver.is_kgauge());
    if let Some(flow) = flows().find(|flow| is_driven(flow)) {
        return Err(RunError::input(format!(
            "--agents: flow {} is sent by another client, which only this process can start\n  remove --driver, or run \
             without --agents",
            flow.name()
        )));
    }
    if trials.iter().any(|trial| trial.cluster.mirror.is_some()) {
        return Err(RunError::input(
            "--agents: scenarios with a mirror run in one process; remove --agents",
        ));
    }
    Ok(())
}

/// Refuses agents that cannot reach the target, and reports those that have nothing to do.
pub(crate) fn check_agents(
    request: &RunRequest<'_>,
    pool: Option<&SharedPool>,
    (client, plan): (&ClientConfig, &Plan),
    observer: &mut dyn Observer,
) -> Result<(), RunError> {
    check_reach(request, client)?;
    if let Some(pool) = pool {
        let agents = request.agents.as_ref();
        let spreads_echoes = agents.is_some_and(|agents| agents.spreads_echoes);
        report_idle(pool, (plan, spreads_echoes), observer);
    }
    Ok(())
}

/// Refuses agents of other machines for a target that only this machine can reach.
fn check_reach(request: &RunRequest<'_>, client: &ClientConfig) -> Result<(), RunError> {
    let Some(agents) = &request.agents else {
        return Ok(());
    };
    let are_here = match &agents.spec {
        // Whoever joins may be on this machine.
        AgentsSpec::Local { .. } | AgentsSpec::Joining { .. } => true,
        AgentsSpec::Listening { addresses } => {
            addresses.iter().all(|address| is_loopback(&address.host))
        }
        AgentsSpec::Ssh { hosts } => hosts.iter().all(|host| {
            let name = host
                .rsplit_once('@')
                .map_or(host.as_str(), |(_, name)| name);
            is_loopback(name)
        }),
        AgentsSpec::Kubernetes { .. } => false,
    };
    let servers = &client.bootstrap_servers;
    if are_here || !servers.iter().all(|server| is_loopback(&server.host)) {
        return Ok(());
    }
    Err(RunError::input(format!(
        "--agents {}: agents on other machines cannot reach the target at {}\n  use --agents local:N, or a target with an \
         address that they can reach",
        agents.spec,
        client.servers()
    )))
}

/// Reports agents that have nothing to do.
fn report_idle(
    pool: &SharedPool,
    (plan, spreads_echoes): (&Plan, bool),
    observer: &mut dyn Observer,
) {
    let count = pool.lock().count();
    let trials = plan.trials.iter();
    let busy = trials.map(|trial| busy_agents(trial, spreads_echoes, count));
    let idle = count.saturating_sub(busy.max().unwrap_or(0));
    if idle > 0 {
        observer.observe(&RunEvent::Remark(&format!(
            "{idle} of {count} agents have nothing to do: the flows have too few clients"
        )));
    }
}

/// How many agents have a client in a trial.
fn busy_agents(trial: &Trial, spreads_echoes: bool, count: u32) -> u32 {
    let mut busy = BTreeSet::new();
    for (position, flow) in (0_u32..).zip(&trial.flows) {
        let clients = match flow {
            FlowPlan::Produce(flow) => flow.producers,
            FlowPlan::Consume(flow) => flow.consumers_all(),
            FlowPlan::Echo(flow) if spreads_echoes && flow.produce.transaction.is_none() => {
                flow.produce.producers.max(flow.consumers)
            }
            // One agent runs all of it.
            FlowPlan::Echo(_) => 1,
        };
        // As `Share::members` spreads them.
        let agents = (0..clients.min(count)).map(|client| (client + position) % count.max(1));
        busy.extend(agents);
    }
    u32::try_from(busy.len()).unwrap_or(count)
}
