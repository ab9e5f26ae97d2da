//! The order of the runs: every round runs all contenders, each round begins with another one.

use anyhow::Result;

use super::contender::{BenchAcks, Contender, ContenderRun, Contenders};
use crate::say::remark;

/// Records of the run that shows what starting costs.
const START_RECORDS: u64 = 1_000;

/// How much is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BenchPlan {
    /// Runs of each contender with each `acks`.
    pub(super) rounds: u64,
    /// Records of each run.
    pub(super) records: u64,
}

impl BenchPlan {
    /// Long enough that starting, and CPU clocks of 10 ms, matter little.
    pub(super) const DEFAULT: BenchPlan = BenchPlan {
        rounds: 5,
        records: 5_000_000,
    };
    /// Shows that it works; its figures are mostly those of starting.
    pub(super) const QUICK: BenchPlan = BenchPlan {
        rounds: 1,
        records: 200_000,
    };
}

/// One run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ComparedRun {
    pub(super) acks: BenchAcks,
    /// From 1; 0 is the run that shows what starting costs.
    pub(super) round: u64,
    /// Its place within the round, from 1.
    pub(super) place: usize,
    pub(super) contender: Contender,
    pub(super) ran: ContenderRun,
}

/// Runs it all.
pub(super) fn run(contenders: &Contenders<'_>, plan: BenchPlan) -> Result<Vec<ComparedRun>> {
    let mut measured = Vec::new();
    let mut add = |acks, round, place, contender, records| {
        let ran = contenders.run(contender, acks, records)?;
        remark(&format!(
            "acks={} round {round}: {}: {:.2} s CPU for {records} records, {:.0} records/s",
            acks.word(),
            contender.words(),
            ran.cpu.as_secs_f64(),
            ran.records_per_s
        ));
        measured.push(ComparedRun {
            acks,
            round,
            place,
            contender,
            ran,
        });
        anyhow::Ok(())
    };
    for acks in BenchAcks::EACH {
        for (place, contender) in Contender::EACH.into_iter().enumerate() {
            add(acks, 0, place + 1, contender, START_RECORDS)?;
        }
        for round in 1..=plan.rounds {
            for (place, contender) in order(round).into_iter().enumerate() {
                add(acks, round, place + 1, contender, plan.records)?;
            }
        }
    }
    Ok(measured)
}

/// The order of a round. It rotates, because a fixed place in every round could be an advantage.
fn order(round: u64) -> [Contender; 3] {
    let mut order = Contender::EACH;
    let length = u64::try_from(order.len()).unwrap_or(1);
    order.rotate_left(usize::try_from(round % length).unwrap_or(0));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_as_many_rounds_as_contenders_each_is_first_once() {
        let mut first: Vec<Contender> = (1..=3).map(|round| order(round)[0]).collect();
        first.sort();
        assert_eq!(first, Contender::EACH);
    }
}
