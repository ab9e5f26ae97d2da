//! The order in which a plan's repeats run.

use crate::cluster_needs::ClusterNeeds;
use crate::plan::{Plan, Trial};
use crate::random::{Random, derive_seed};
use crate::repeat_key::RepeatKey;

impl Plan {
    /// Every repeat of every trial, in the order in which they run: see [`run_order`].
    pub fn order(&self) -> Vec<RepeatKey> {
        run_order(&self.trials, self.seed)
    }
}

/// Every repeat of the trials of a plan, in the order in which they run: a pure function of trials and seed. It needs
/// no plan, so the order is known before the cluster is.
///
/// Scenarios follow each other in the order of the plan. Within one, trials that share a cluster stay together, and
/// run in randomised complete blocks (Montgomery, "Design and Analysis of Experiments", chapter 4): each block has one
/// repeat of every trial in random order, so that a machine that slows down affects all trials alike. Trials that only
/// read do all their repeats in one block, because these share the records.
pub fn run_order(trials: &[Trial], seed: u64) -> Vec<RepeatKey> {
    let mut steps = Vec::new();
    for of_scenario in trials.chunk_by(|a, b| a.scenario == b.scenario) {
        let seed = |what: &str| {
            let name = of_scenario.first().map_or("", |trial| &trial.scenario);
            derive_seed(seed, &format!("order {name} {what}"))
        };
        let mut clusters = by_cluster(of_scenario);
        shuffle(&mut clusters, seed("clusters"));
        for (number, trials) in clusters.iter().enumerate() {
            blocks(&mut steps, trials, |block| {
                seed(&format!("cluster {number} block {block}"))
            });
        }
    }
    steps
}

/// Groups of trials that can share a cluster, in the order of their first trials.
fn by_cluster(trials: &[Trial]) -> Vec<Vec<&Trial>> {
    let mut groups: Vec<(&ClusterNeeds, Vec<&Trial>)> = Vec::new();
    for trial in trials {
        let known = groups
            .iter_mut()
            .find(|(needs, _)| needs.shares_with(&trial.cluster));
        match known {
            Some((_, group)) => group.push(trial),
            None => groups.push((&trial.cluster, vec![trial])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

fn blocks(steps: &mut Vec<RepeatKey>, trials: &[&Trial], seed: impl Fn(u32) -> u64) {
    let count = trials.iter().map(|trial| trial.repeats).max().unwrap_or(0);
    for block in 0..count {
        let mut order = trials.to_vec();
        shuffle(&mut order, seed(block));
        for trial in order {
            let repeats = match (trial.only_reads(), block) {
                (true, 0) => 0..trial.repeats,
                (true, _) => continue,
                (false, _) if block < trial.repeats => block..block + 1,
                (false, _) => continue,
            };
            steps.extend(repeats.map(|repeat| RepeatKey {
                trial: trial.index,
                repeat,
            }));
        }
    }
}

/// Puts items into a random order, which the seed decides (Fisher and Yates).
pub fn shuffle<T>(items: &mut [T], seed: u64) {
    let random = Random::new(seed);
    for last in (1..items.len()).rev() {
        let bits = u128::from(random.bits(last as u64));
        // The high half of a product: uniform to within 2^-64.
        let chosen = (bits * (last as u128 + 1)) >> 64;
        items.swap(last, chosen as usize);
    }
}

impl Trial {
    /// Whether no flow of it writes.
    pub fn only_reads(&self) -> bool {
        self.flows.iter().all(|flow| flow.produces().is_none())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::plan::{ClusterFacts, Size};
    use crate::planning::PlanRequest;
    use crate::scenario::Scenario;
    use crate::target_kind::TargetKind;

    fn plan(seed: u64, flow: &str, vary: &str) -> Plan {
        let text = format!(
            "kgauge: 1\nname: s\nquestion: Q?\ntopic: {{partitions: 1, preload: {{records: 1, record: {{size: 1 B}}}}}}\n\
             flows: [{{name: w, {flow}}}]\nstages: {{hold: 1 s}}\nrepeats: 3\nvary: {vary}\n"
        );
        let scenario = Scenario::parse("s.yaml", &text).unwrap();
        let request = PlanRequest {
            run_id: "r".to_owned(),
            seed,
            size: Size::Default,
            study: None,
            cluster: ClusterFacts {
                cluster_id: String::new(),
                brokers: 3,
                kind: TargetKind::Embedded,
                version: None,
            },
        };
        Plan::new(request, &[scenario]).unwrap()
    }

    const WRITES: &str = "kind: produce, shape: max, record: {size: 10 B}";
    const READS: &str = "kind: consume, partitions: all, from: earliest, records: all";

    fn trials(steps: &[RepeatKey]) -> Vec<u32> {
        steps.iter().map(|step| step.trial).collect()
    }

    #[test]
    fn each_block_has_every_trial_once() {
        let plan = plan(1, WRITES, "{topic.partitions: [1, 2, 3, 4, 5, 6, 7, 8]}");
        let order = plan.order();
        assert_eq!(order.len(), 24);
        for (block, steps) in order.chunks(8).enumerate() {
            let mut found = trials(steps);
            found.sort_unstable();
            assert_eq!(found, [0, 1, 2, 3, 4, 5, 6, 7]);
            assert!(steps.iter().all(|step| step.repeat as usize == block));
        }
        assert_ne!(trials(&order[..8]), trials(&order[8..16]));
    }

    #[test]
    fn the_seed_decides_and_nothing_else() {
        let vary = "{topic.partitions: [1, 2, 3, 4, 5, 6, 7, 8]}";
        assert_eq!(plan(1, WRITES, vary).order(), plan(1, WRITES, vary).order());
        assert_ne!(plan(1, WRITES, vary).order(), plan(2, WRITES, vary).order());
    }

    #[test]
    fn what_only_reads_keeps_its_repeats_together() {
        let order = plan(3, READS, "{w.consumers: [1, 2, 3]}").order();
        for together in order.chunks(3) {
            let first = together[0].trial;
            let expected = [0, 1, 2].map(|repeat| RepeatKey {
                trial: first,
                repeat,
            });
            assert_eq!(together, expected);
        }
    }

    #[test]
    fn trials_of_one_cluster_stay_together() {
        let vary = "{broker.num.io.threads: [1, 2, 3], w.record.size: [1 B, 2 B]}";
        let plan = plan(4, WRITES, vary);
        let order = plan.order();
        let clusters: Vec<&ClusterNeeds> = order
            .iter()
            .map(|step| &plan.trials[step.trial as usize].cluster)
            .collect();
        let changes = clusters.windows(2).filter(|two| two[0] != two[1]).count();
        assert_eq!((order.len(), changes), (18, 2));
    }

    #[test]
    fn every_order_of_three_is_as_likely_as_the_others() {
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..6000 {
            let mut items = [0, 1, 2];
            shuffle(&mut items, derive_seed(seed, "x"));
            *counts.entry(items).or_insert(0) += 1;
        }
        // 1,000 each; four standard deviations of a binomial are 115.
        assert_eq!(counts.len(), 6);
        assert!(
            counts.values().all(|count| (885..=1115).contains(count)),
            "{counts:?}"
        );
    }
}
