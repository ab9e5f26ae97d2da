//! Before the start: drivers' processes, consumer groups, and the positions where consumers start.

use std::collections::VecDeque;
use std::sync::Arc;

use kgauge_client::Interrupt;
use kgauge_client::admin::OffsetAt;
use kgauge_scenario::{ConsumeEnd, ConsumeFlow, ProduceFlow, StartOffset, Stripe};

use crate::clock::Clock;
use crate::consume::{GroupShared, MemberThread};
use crate::driver::{DrivenProducer, DrivenProof, DriverChild, DriverError, DriverSetup};
use crate::gather::{ConsumerAssignment, GatherSetup, gather};
use crate::ledgers::LedgerName;
use crate::load_setup::{LoadSetup, PrepareError};
use crate::payload::Payload;
use crate::topic_lookup::LoadTopics;

/// The processes of a flow that another client sends, one per producer.
pub(crate) fn started(
    setup: &LoadSetup<'_>,
    flow: usize,
    plan: &ProduceFlow,
    members: &[Stripe],
    payload: &Arc<Payload>,
) -> Result<Vec<DrivenProducer>, PrepareError> {
    let failed = |error: DriverError| PrepareError::Driver {
        flow: plan.name.clone(),
        error,
    };
    let program = setup
        .drivers
        .iter()
        .find(|(driver, _)| *driver == plan.driver);
    let (_, program) = program.ok_or_else(|| {
        let driver = plan.driver.to_string();
        failed(DriverError::NoProgram { driver })
    })?;
    let start = |member: &Stripe| {
        let child = DriverChild::start(&DriverSetup {
            flow: plan,
            program,
            topic: setup.topic,
            client: setup.client,
        });
        Ok(DrivenProducer {
            child: child.map_err(failed)?,
            flow,
            plan: plan.clone(),
            member: *member,
            seed: setup.share.flow_seed(&plan.name),
            payload: Arc::clone(payload),
            client: String::new(),
            proof: driven_proof(setup, flow, *member)?,
            sink: (setup.sink)(),
        })
    };
    members.iter().map(start).collect()
}

/// The ledger of a producer in another process, if its records are verified.
fn driven_proof(
    setup: &LoadSetup<'_>,
    flow: usize,
    member: Stripe,
) -> Result<Option<DrivenProof>, PrepareError> {
    let Some(verify) = setup.verify else {
        return Ok(None);
    };
    let name = LedgerName::of_producer(flow, member.index);
    match verify.ledgers.begin(name) {
        Ok(sink) => Ok(Some(DrivenProof::new(verify.key, flow, member.index, sink))),
        Err(error) => Err(PrepareError::Ledger { name, error }),
    }
}

/// They start in parallel; the run starts when all are ready.
pub(crate) fn wait_for(
    driven: &mut [DrivenProducer],
    interrupt: &Interrupt,
) -> Result<(), PrepareError> {
    for one in driven {
        let ready = one.child.wait_until_ready(interrupt);
        one.client = ready.map_err(|error| PrepareError::Driver {
            flow: one.plan.name.clone(),
            error,
        })?;
    }
    Ok(())
}

/// The assignments of a flow's consumers in their group, and their members' threads; none without a group.
pub(crate) fn gathered(
    setup: &LoadSetup<'_>,
    lookup: &mut LoadTopics,
    index: usize,
    flow: &ConsumeFlow,
    members: &[Stripe],
) -> Result<(VecDeque<ConsumerAssignment>, Vec<MemberThread>), PrepareError> {
    let Some(group) = &flow.group else {
        return Ok((VecDeque::new(), Vec::new()));
    };
    let starts = starts(setup, lookup, flow)?;
    let ends = &lookup.ends;
    let (mut assignments, mut threads) = (VecDeque::new(), Vec::new());
    for (number, label) in (0..).zip(flow.group_labels()) {
        let group_id = setup.groups.get(&label).cloned();
        let group_id = group_id.ok_or_else(|| PrepareError::Group {
            flow: flow.name.clone(),
            why: "nobody gave it a group.id".to_owned(),
        })?;
        // The consumers of the whole flow are ordered by group.
        let of_group = |member: &&Stripe| member.index / flow.consumers.max(1) == number;
        let own: Vec<Stripe> = members.iter().filter(of_group).copied().collect();
        let shared = GroupShared::new(
            starts.clone(),
            (flow.records == ConsumeEnd::Backlog).then(|| ends.clone()),
            match flow.records {
                ConsumeEnd::Count(records) => {
                    Some(own.iter().map(|member| member.records_of(records)).sum())
                }
                ConsumeEnd::Backlog | ConsumeEnd::StageEnd => None,
            },
        );
        let shared = shared.spread(own.len() < flow.consumers as usize);
        let gathered = gather(&GatherSetup {
            flow,
            index,
            group,
            group_id,
            topics: &lookup.topics,
            client: setup.client,
            members: &own,
            shared: Arc::new(shared),
            interrupt: setup.interrupt,
        })?;
        assignments.extend(gathered.0);
        threads.extend(gathered.1);
    }
    Ok((assignments, threads))
}

/// Where a flow starts to read.
pub(crate) fn starts(
    setup: &LoadSetup<'_>,
    lookup: &mut LoadTopics,
    flow: &ConsumeFlow,
) -> Result<Vec<i64>, PrepareError> {
    let earliest = match (flow.from, setup.earliest) {
        (StartOffset::Latest, _) => return Ok(lookup.ends.clone()),
        (_, Some(offsets)) => offsets.to_vec(),
        (_, None) => lookup.offsets(OffsetAt::Earliest)?,
    };
    let offsets = match flow.from {
        StartOffset::Earliest | StartOffset::Latest => return Ok(earliest),
        StartOffset::Offset(offset) => {
            vec![i64::try_from(offset).unwrap_or(i64::MAX); earliest.len()]
        }
        StartOffset::TimestampMs(at_ms) => offsets_at(lookup, at_ms)?,
        StartOffset::AgoNs(ago_ns) => {
            let now_ms = u64::try_from(Clock::start().unix_ms(0)).unwrap_or(0);
            offsets_at(lookup, now_ms.saturating_sub(ago_ns / 1_000_000))?
        }
    };
    let ranges = earliest.iter().zip(&lookup.ends);
    let starts = offsets.iter().zip(ranges);
    let starts = starts.map(|(&offset, (&first, &end))| match offset {
        // No record is that recent: start at the end.
        ..0 => end,
        _ => offset.clamp(first, end.max(first)),
    });
    Ok(starts.collect())
}

/// The first record at or after a time, per partition; negative where there is none.
fn offsets_at(lookup: &mut LoadTopics, at_ms: u64) -> Result<Vec<i64>, PrepareError> {
    let at = OffsetAt::TimestampMs(i64::try_from(at_ms).unwrap_or(i64::MAX));
    lookup.offsets(at)
}
