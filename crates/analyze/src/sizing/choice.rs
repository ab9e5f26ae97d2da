//! A cluster of each machine type: brokers, disk and money, each with its interval.

use super::answer::MachineChoice;
use super::estimate::{Estimate, Estimates, interval_of};
use super::facts::TrialFacts;
use super::machine::MachineType;
use super::need::SizingNeed;
use super::price::{MonthlyPrice, disk_bytes_each};
use super::range::{Extrapolation, MissingTrial, outside_of_cluster};
use super::resources::{BROKERS_MAX, PlannedUse, ResourceNeed, Sizing, SizingResource};
use super::rules::rules;

/// The machine types that can do it, the cheapest first. An error names the trials without which none can be
/// recommended; it is empty if no type can do it.
pub(super) fn choices(
    need: &SizingNeed,
    trials: &[&TrialFacts],
    estimates: &Estimates,
    machines: &[MachineType],
) -> Result<Vec<MachineChoice>, Vec<MissingTrial>> {
    let cheapest = machines.iter().filter_map(|machine| machine.price_per_hour);
    let sizer = ClusterSizer {
        need,
        trials,
        estimates,
        controller_per_hour: cheapest.reduce(f64::min),
    };
    let found = machines
        .iter()
        .filter_map(|machine| sizer.choice(machine))
        .collect::<Vec<_>>();
    let is_too_far = |choice: &&MachineChoice| {
        let mut outside = choice.extrapolated.iter();
        outside.any(Extrapolation::is_too_far)
    };
    let mut near: Vec<MachineChoice> = found
        .iter()
        .filter(|choice| !is_too_far(choice))
        .cloned()
        .collect();
    if near.is_empty() {
        let nearest = found.iter().flat_map(|choice| &choice.extrapolated);
        let nearest = nearest.filter(|outside| outside.is_too_far());
        let nearest = nearest.min_by(|a, b| a.factor().total_cmp(&b.factor()));
        return Err(nearest
            .copied()
            .map(MissingTrial::Nearer)
            .into_iter()
            .collect());
    }
    near.sort_by(|one, other| {
        let price = |choice: &MachineChoice| {
            let price = choice.price.as_ref();
            price.map_or(f64::INFINITY, MonthlyPrice::total)
        };
        price(one)
            .total_cmp(&price(other))
            .then(one.brokers.cmp(&other.brokers))
    });
    Ok(near)
}

/// What clusters of all machine types are made from.
struct ClusterSizer<'a> {
    need: &'a SizingNeed,
    trials: &'a [&'a TrialFacts],
    estimates: &'a Estimates,
    controller_per_hour: Option<f64>,
}

impl<'a> ClusterSizer<'a> {
    fn sizing(&self, estimate: &'a Estimate) -> Sizing<'a> {
        Sizing::new(self.need, estimate, PlannedUse::SAFE)
    }

    /// `None` if no number of machines suffices.
    fn choice(&self, machine: &MachineType) -> Option<MachineChoice> {
        let expected = self.sizing(&self.estimates.expected);
        let drawn = self.estimates.draws.iter();
        let drawn: Vec<Sizing<'_>> = drawn.map(|draw| self.sizing(draw)).collect();
        let brokers = expected.all_brokers(machine)?;
        let resources = SizingResource::ALL
            .map(|resource| resource_need(resource, machine, &expected, &drawn, brokers));
        let binding = resources
            .iter()
            .find(|need| need.brokers == Some(brokers))
            .map_or(SizingResource::Replicas, |need| need.resource);
        // A draw for which no number suffices needs more than any.
        let all_brokers = |sizing: &Sizing<'_>| sizing.all_brokers(machine).unwrap_or(BROKERS_MAX);
        let counts: Vec<f64> = drawn
            .iter()
            .map(|sizing| f64::from(all_brokers(sizing)))
            .collect();
        let interval = |expected: f64, of: &dyn Fn(&Sizing<'_>) -> f64| {
            let values: Vec<f64> = drawn.iter().map(of).collect();
            interval_of(&values, expected)
        };
        let price = |sizing: &Sizing<'_>, brokers: u32| {
            MonthlyPrice::of(sizing, machine, brokers, self.controller_per_hour)
        };
        let expected_price = price(&expected, brokers);
        let prices: Vec<f64> = drawn
            .iter()
            .filter_map(|sizing| price(sizing, all_brokers(sizing)))
            .map(|price| price.total())
            .collect();
        let cpu = expected.usage(SizingResource::Cpu, machine, brokers);
        let cpu_part = cpu.amount / cpu.limit.unwrap_or(machine.vcpus);
        let (stored, disk) = (
            expected.stored(brokers),
            disk_bytes_each(&expected, brokers),
        );
        let partitions = expected.partitions(brokers);
        Some(MachineChoice {
            machine: machine.clone(),
            brokers,
            brokers_interval: interval_of(&counts, f64::from(brokers)),
            binding,
            partitions,
            partitions_interval: interval(f64::from(partitions), &|sizing| {
                f64::from(sizing.partitions(brokers))
            }),
            resources: resources.to_vec(),
            stored_bytes: stored,
            stored_interval: interval(stored, &|sizing| sizing.stored(brokers)),
            disk_bytes_each: disk,
            disk_interval: interval(disk, &|sizing| disk_bytes_each(sizing, brokers)),
            price: expected_price,
            price_interval: expected_price.map(|price| interval_of(&prices, price.total())),
            latency: self.estimates.curves.reading(cpu_part),
            extrapolated: outside_of_cluster(
                cpu_part,
                expected.replicas_each(brokers),
                self.trials,
            ),
            rules: rules(self.need, &expected.load, machine),
        })
    }
}

fn resource_need(
    resource: SizingResource,
    machine: &MachineType,
    expected: &Sizing<'_>,
    drawn: &[Sizing<'_>],
    brokers: u32,
) -> ResourceNeed {
    let usage = expected.usage(resource, machine, brokers);
    let amounts: Vec<f64> = drawn
        .iter()
        .map(|sizing| sizing.usage(resource, machine, brokers).amount)
        .collect();
    // What asks for replicas is the need itself.
    let is_counted = usage.limit.is_some() || resource == SizingResource::Replicas;
    let count = expected.brokers(resource, machine).filter(|_| is_counted);
    let counts: Vec<f64> = drawn
        .iter()
        .map(|sizing| sizing.brokers(resource, machine).unwrap_or(BROKERS_MAX))
        .map(f64::from)
        .collect();
    ResourceNeed {
        resource,
        brokers: count,
        brokers_interval: count.map(|count| interval_of(&counts, f64::from(count))),
        amount: usage.amount,
        amount_interval: interval_of(&amounts, usage.amount),
        limit: usage.limit,
    }
}
