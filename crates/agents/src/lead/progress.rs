//! One progress report of all agents.

use std::collections::BTreeMap;

use kgauge_load::{EchoTally, Incident, LoadProgress, Outage, OutageChange, Totals};
use kgauge_results::PaceSeries;
use kgauge_results::run::ClientSample;

/// The latest reports of a repeat's agents.
#[derive(Debug)]
pub(super) struct ReportedProgress {
    agents: Vec<AgentProgress>,
    flows: usize,
    incidents: Vec<Incident>,
    changes: Vec<OutageChange>,
    /// Brokers that do not answer, and how many agents say so.
    outages: BTreeMap<i32, u32>,
}

/// The latest report of one agent.
#[derive(Debug, Default, Clone)]
pub(super) struct AgentProgress {
    pub(super) load: Option<LoadProgress>,
    pub(super) paces: Vec<PaceSeries>,
    pub(super) counts_done_ns: Option<u64>,
    pub(super) echoes: Vec<Option<EchoTally>>,
    /// It records nothing any more.
    pub(super) is_over: bool,
}

impl ReportedProgress {
    pub(super) fn new(agents: usize, flows: usize) -> Self {
        Self {
            agents: vec![AgentProgress::default(); agents],
            flows,
            incidents: Vec::new(),
            changes: Vec::new(),
            outages: BTreeMap::new(),
        }
    }

    /// An agent's report.
    pub(super) fn report(
        &mut self,
        index: usize,
        mut load: LoadProgress,
        paces: Vec<PaceSeries>,
        counts_done_ns: Option<u64>,
        echoes: Vec<Option<EchoTally>>,
    ) {
        self.incidents.append(&mut load.incidents);
        for change in std::mem::take(&mut load.outage_changes) {
            self.note_change(change);
        }
        if let Some(agent) = self.agents.get_mut(index) {
            if !paces.is_empty() {
                agent.paces = paces;
            }
            agent.load = Some(load);
            agent.counts_done_ns = counts_done_ns;
            agent.echoes = echoes;
        }
    }

    /// An outage begins with the first agent that notices it, and ends with the last.
    fn note_change(&mut self, change: OutageChange) {
        match &change {
            OutageChange::Found { outage, .. } => {
                let agents = self.outages.entry(outage.broker).or_insert(0);
                *agents = agents.saturating_add(1);
                if *agents == 1 {
                    self.changes.push(change);
                }
            }
            OutageChange::Over { outage, .. } => {
                let agents = self.outages.entry(outage.broker).or_insert(1);
                *agents = agents.saturating_sub(1);
                if *agents == 0 {
                    self.outages.remove(&outage.broker);
                    self.changes.push(change);
                }
            }
        }
    }

    /// The last report of an agent's records in echo flows that are spread.
    pub(super) fn note_echoes(&mut self, index: usize, echoes: Vec<Option<EchoTally>>) {
        if let Some(agent) = self.agents.get_mut(index) {
            agent.echoes = echoes;
        }
    }

    /// The records of all agents in an echo flow that is spread. It is written only if every agent that is not over has
    /// written its part.
    pub(super) fn echo(&self, flow: usize) -> EchoTally {
        let mut sum = EchoTally {
            is_written: true,
            ..EchoTally::default()
        };
        for agent in &self.agents {
            let part = agent.echoes.get(flow).copied().flatten();
            sum.is_written &= agent.is_over || part.is_some_and(|part| part.is_written);
            let part = part.unwrap_or_default();
            sum.acked = sum.acked.saturating_add(part.acked);
            sum.echoed = sum.echoed.saturating_add(part.echoed);
        }
        sum
    }

    /// Something that the lead noticed.
    pub(super) fn note_incident(&mut self, incident: Incident) {
        self.incidents.push(incident);
    }

    /// An agent ended, or was lost.
    pub(super) fn end(&mut self, index: usize) {
        if let Some(agent) = self.agents.get_mut(index) {
            agent.is_over = true;
        }
    }

    /// The latest report of an agent.
    pub(super) fn agent(&self, index: usize) -> Option<&AgentProgress> {
        self.agents.get(index)
    }

    /// When the record counts of all agents were complete; `None` before.
    pub(super) fn counts_done_ns(&self, is_lost: impl Fn(usize) -> bool) -> Option<u64> {
        let there = self.agents.iter().enumerate();
        let mut there = there.filter(|(index, _)| !is_lost(*index));
        there.try_fold(0, |latest, (_, agent)| {
            Some(latest.max(agent.counts_done_ns?))
        })
    }

    /// The records over time of all agents together.
    pub(super) fn paces(&self) -> Vec<PaceSeries> {
        let mut sums = vec![PaceSeries::default(); self.flows];
        for agent in &self.agents {
            for (sum, pace) in sums.iter_mut().zip(&agent.paces) {
                sum.add(pace);
            }
        }
        sums
    }

    /// What all agents report together; incidents and changes only once.
    pub(super) fn take(&mut self, elapsed_ns: u64) -> LoadProgress {
        let loads = || self.agents.iter().filter_map(|agent| agent.load.as_ref());
        let mut flows = vec![Totals::default(); self.flows];
        let mut held = vec![ClientSample::default(); self.flows];
        let mut behind: Vec<Option<u64>> = vec![None; self.flows];
        for load in loads() {
            for (sum, part) in flows.iter_mut().zip(&load.flows) {
                *sum = sum.plus(part);
            }
            for (sum, part) in held.iter_mut().zip(&load.held) {
                *sum = sum.plus(part);
            }
            for (sum, part) in behind.iter_mut().zip(&load.behind) {
                if let Some(records) = part {
                    *sum = Some(sum.unwrap_or(0).saturating_add(*records));
                }
            }
        }
        for (flow, behind) in behind.iter_mut().enumerate() {
            let mut agents = self.agents.iter();
            if agents.any(|agent| matches!(agent.echoes.get(flow), Some(Some(_)))) {
                let all = self.echo(flow);
                *behind = Some(all.acked.saturating_sub(all.echoed));
            }
        }
        let outages = first_outages(loads().flat_map(|load| &load.outages));
        let shipped = self.agents.iter().filter(|agent| !agent.is_over);
        let shipped = shipped.map(|agent| agent.load.as_ref().map_or(0, |load| load.shipped_ns));
        let shipped_ns = shipped.min().unwrap_or(u64::MAX);
        let spun_ns = loads().flat_map(|load| load.spun_ns.clone()).collect();
        LoadProgress {
            elapsed_ns,
            shipped_ns,
            flows,
            behind,
            held,
            spun_ns,
            incidents: std::mem::take(&mut self.incidents),
            outages,
            outage_changes: std::mem::take(&mut self.changes),
        }
    }
}

/// The outages of several agents: of each broker the first.
pub(super) fn first_outages<'a>(all: impl Iterator<Item = &'a Outage>) -> Vec<Outage> {
    let mut outages: BTreeMap<i32, Outage> = BTreeMap::new();
    for outage in all {
        let known = outages.entry(outage.broker);
        known.or_insert_with(|| outage.clone());
    }
    outages.into_values().collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use kgauge_load::OutageKind;

    use super::*;

    fn progress(acked: u64, shipped_ns: u64) -> LoadProgress {
        LoadProgress {
            elapsed_ns: 0,
            shipped_ns,
            flows: vec![Totals {
                acked,
                ..Totals::default()
            }],
            behind: vec![None],
            held: vec![ClientSample::default()],
            spun_ns: vec![3],
            incidents: Vec::new(),
            outages: Vec::new(),
            outage_changes: Vec::new(),
        }
    }

    fn outage() -> Outage {
        Outage {
            broker: 2,
            address: String::new(),
            since_ns: 5,
            kind: OutageKind::Silent,
            partitions: 3,
            partitions_without_leader: 1,
        }
    }

    #[test]
    fn totals_are_summed_and_only_what_all_have_shipped_is_shipped() {
        let mut reported = ReportedProgress::new(2, 1);
        reported.report(0, progress(5, 900), Vec::new(), Some(0), Vec::new());
        assert_eq!(reported.take(1_000).shipped_ns, 0);
        assert_eq!(reported.counts_done_ns(|_| false), None);
        reported.report(1, progress(7, 800), Vec::new(), Some(70), Vec::new());
        let sum = reported.take(1_000);
        assert_eq!((sum.flows[0].acked, sum.shipped_ns), (12, 800));
        assert_eq!(sum.spun_ns, [3, 3]);
        assert_eq!(reported.counts_done_ns(|_| false), Some(70));
        reported.end(1);
        assert_eq!(reported.take(1_000).shipped_ns, 900);
    }

    #[test]
    fn a_spread_echo_flow_is_written_when_all_agents_have_written_their_parts() {
        let tally = |acked, echoed, is_written| {
            vec![Some(EchoTally {
                acked,
                echoed,
                is_written,
            })]
        };
        let mut reported = ReportedProgress::new(2, 1);
        reported.report(0, progress(5, 0), Vec::new(), None, tally(5, 2, true));
        assert!(!reported.echo(0).is_written, "one agent has not reported");
        reported.report(1, progress(0, 0), Vec::new(), None, tally(0, 1, false));
        assert_eq!(reported.take(0).behind, [Some(2)]);
        assert!(!reported.echo(0).is_written);
        reported.note_echoes(1, tally(0, 3, true));
        let all = EchoTally {
            acked: 5,
            echoed: 5,
            is_written: true,
        };
        assert_eq!(reported.echo(0), all);
        reported.note_echoes(1, tally(0, 3, false));
        reported.end(1);
        assert!(reported.echo(0).is_written, "a lost agent writes no more");
    }

    #[test]
    fn an_outage_that_two_agents_see_is_reported_once() {
        let mut reported = ReportedProgress::new(2, 1);
        let found = || OutageChange::Found {
            outage: outage(),
            at_ns: 9,
        };
        let over = || OutageChange::Over {
            outage: outage(),
            at_ns: 20,
        };
        let with = |change| LoadProgress {
            outage_changes: vec![change],
            ..progress(0, 0)
        };
        reported.report(0, with(found()), Vec::new(), None, Vec::new());
        reported.report(1, with(found()), Vec::new(), None, Vec::new());
        assert_eq!(reported.take(0).outage_changes, [found()]);
        reported.report(0, with(over()), Vec::new(), None, Vec::new());
        assert!(reported.take(0).outage_changes.is_empty());
        reported.report(1, with(over()), Vec::new(), None, Vec::new());
        assert_eq!(reported.take(0).outage_changes, [over()]);
    }
}
