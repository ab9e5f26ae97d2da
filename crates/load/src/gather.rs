//! Before the start: a flow's consumers join their group, so that joining affects no figure.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kgauge_client::group::{Assignor, GroupSettings};
use kgauge_client::{ClientConfig, Interrupt};
use kgauge_scenario::{AssignmentStrategy, ConsumeFlow, GroupPlan, GroupProtocol, Stripe};

use crate::consume::{
    GroupShared, GroupSubscription, MemberEvent, MemberSetup, MemberThread, start,
};
use crate::load_setup::PrepareError;
use crate::topics::Topics;

/// Limit on the time until a group has settled, unless max.poll.interval.ms is shorter. The group has no other members,
/// so it only waits for its coordinator to be created, and for group.initial.rebalance.delay.ms.
const SETTLE_TIME_MAX: Duration = Duration::from_secs(60);

/// The setup of a group.
pub(crate) struct GatherSetup<'a> {
    pub(crate) flow: &'a ConsumeFlow,
    /// Index of the flow in its trial.
    pub(crate) index: usize,
    pub(crate) group: &'a GroupPlan,
    /// The run's own `group.id`.
    pub(crate) group_id: String,
    pub(crate) topics: &'a Arc<Topics>,
    pub(crate) client: &'a ClientConfig,
    pub(crate) members: &'a [Stripe],
    pub(crate) shared: Arc<GroupShared>,
    pub(crate) interrupt: &'a Interrupt,
}

/// A consumer's subscription, and its partitions with their start offsets.
pub(crate) type ConsumerAssignment = (GroupSubscription, Offsets);

/// Starts the members and waits until all are in one generation.
pub(crate) fn gather(
    setup: &GatherSetup<'_>,
) -> Result<(VecDeque<ConsumerAssignment>, Vec<MemberThread>), PrepareError> {
    let (mut subscriptions, mut threads) = (Vec::new(), Vec::new());
    // Of several agents, one may have no member.
    if setup.members.is_empty() {
        return Ok((VecDeque::new(), threads));
    }
    for member in setup.members {
        let (subscription, thread) = start(member_setup(setup, member))?;
        subscriptions.push(subscription);
        threads.push(thread);
    }
    let limit = Duration::from_nanos(setup.group.rebalance_timeout_ns).min(SETTLE_TIME_MAX);
    let group = setup.group;
    let is_incremental = group.protocol == GroupProtocol::Consumer
        || group
            .strategies
            .contains(&AssignmentStrategy::CooperativeSticky);
    let partitions = is_incremental.then(|| setup.shared.partitions());
    let settled = settle(&subscriptions, partitions, setup.interrupt, limit).map_err(|why| {
        PrepareError::Group {
            flow: setup.flow.name.clone(),
            why,
        }
    })?;
    Ok((subscriptions.into_iter().zip(settled).collect(), threads))
}

fn member_setup(setup: &GatherSetup<'_>, member: &Stripe) -> MemberSetup {
    let group = setup.group;
    let mut client = setup.client.clone();
    client.client_id.clone_from(&setup.flow.settings.client_id);
    let named = |instance_id: &String| format!("{instance_id}-{}", member.index);
    let assignor = |strategy: &AssignmentStrategy| match strategy {
        AssignmentStrategy::Range => Assignor::Range,
        AssignmentStrategy::RoundRobin => Assignor::RoundRobin,
        AssignmentStrategy::Sticky => Assignor::Sticky,
        AssignmentStrategy::CooperativeSticky => Assignor::CooperativeSticky,
    };
    MemberSetup {
        flow: setup.index,
        consumer: member.index,
        name: format!("consumer {}", member.index),
        topics: Arc::clone(setup.topics),
        client,
        settings: GroupSettings {
            group: setup.group_id.clone(),
            topics: setup.topics.names().to_vec(),
            session_timeout: Duration::from_nanos(group.session_timeout_ns),
            heartbeat_interval: Duration::from_nanos(group.heartbeat_ns),
            rebalance_timeout: Duration::from_nanos(group.rebalance_timeout_ns),
            assignors: group.strategies.iter().map(assignor).collect(),
            instance_id: group.instance_id.as_ref().map(named),
        },
        protocol: group.protocol,
        remote_assignor: group.remote_assignor.clone(),
        commit: group.commit_ns.map(Duration::from_nanos),
        shared: Arc::clone(&setup.shared),
    }
}

/// Partitions, each with its start offset.
pub(crate) type Offsets = Vec<(u32, i64)>;

/// With the new protocol, and with cooperative assignors, a member can be in the last generation and still wait for
/// partitions that another member must give up first. If these consumers do not have all partitions, others may be in
/// the group: then nothing may have changed for this long.
const QUIET: Duration = Duration::from_secs(1);

/// Waits until all members are in one generation. If partitions are assigned incrementally, waits until all of
/// `partitions` are assigned.
///
/// # Errors
/// A message, if a member fails or the group does not settle within `limit`.
fn settle(
    subscriptions: &[GroupSubscription],
    partitions: Option<usize>,
    interrupt: &Interrupt,
    limit: Duration,
) -> Result<Vec<Offsets>, String> {
    let mut changed = Instant::now();
    let deadline = Instant::now() + limit;
    let mut latest: Vec<Option<(i32, Offsets)>> = vec![None; subscriptions.len()];
    loop {
        for (subscription, latest) in subscriptions.iter().zip(&mut latest) {
            while let Some(event) = subscription.next_event() {
                changed = Instant::now();
                match event {
                    MemberEvent::Assigned {
                        generation,
                        positions,
                        is_settled: true,
                    } => *latest = Some((generation, positions)),
                    MemberEvent::Assigned { .. } | MemberEvent::Revoked { .. } => *latest = None,
                    MemberEvent::Note(_) => {}
                    MemberEvent::Failed(why) => return Err(why),
                }
            }
        }
        let generation = latest.first().and_then(Option::as_ref).map(|(of, _)| *of);
        let is_same = |one: &Option<(i32, _)>| one.as_ref().map(|(of, _)| *of) == generation;
        let given: usize = latest.iter().flatten().map(|(_, given)| given.len()).sum();
        let is_dealt = partitions.is_none_or(|all| given == all) || changed.elapsed() >= QUIET;
        if generation.is_some() && is_dealt && latest.iter().all(is_same) {
            return Ok(latest
                .into_iter()
                .flatten()
                .map(|(_, given)| given)
                .collect());
        }
        if interrupt.is_raised() {
            return Err("interrupted while its members joined".to_owned());
        }
        if Instant::now() >= deadline {
            return Err(format!(
                "did not settle within {:.0} s; check its coordinator and the broker's log",
                limit.as_secs_f64()
            ));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
