//! Response times as they were measured, by how busy the busiest broker was.

use schemars::JsonSchema;
use serde::Serialize;

use super::draws::{begin_draws, quantile};
use super::facts::TrialFacts;
use super::range::EXTRAPOLATION_MAX;

/// A measured response time near a planned load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LatencyReading {
    /// The share of its CPU that the busiest broker is planned to use.
    pub planned_part: f64,
    /// The share that it used in the trial: the nearest one at or above the plan, or else the nearest below it.
    pub measured_part: f64,
    /// The 99th percentile of the response time there, in nanoseconds.
    pub latency_ns_p99: f64,
}

/// One measured load.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CurveLoad {
    bytes_per_s: f64,
    /// The share of its CPU that the busiest broker used.
    part: f64,
    latency_ns_p99: f64,
    has_kept_rate: bool,
    is_generator_late: bool,
}

/// How far a goal held in one setup.
#[derive(Clone, Copy, Debug, PartialEq)]
struct GoalEdge {
    /// The busiest broker's share of its CPU at the highest rate that kept the goal.
    kept: f64,
    /// The same at the lowest rate that broke it; `None` if none did.
    broke: Option<f64>,
}

/// The measured loads of setups with similar records.
pub(super) struct LatencyCurves {
    setups: Vec<Vec<CurveLoad>>,
}

impl LatencyCurves {
    /// Those of `near`, or of all trials if none of these were on a schedule.
    pub(super) fn of(near: &[&TrialFacts], all: &[&TrialFacts]) -> LatencyCurves {
        let of_near = LatencyCurves::by_setup(near);
        match of_near.setups.is_empty() {
            true => LatencyCurves::by_setup(all),
            false => of_near,
        }
    }

    fn by_setup(trials: &[&TrialFacts]) -> LatencyCurves {
        let mut setups: Vec<(&str, Vec<CurveLoad>)> = Vec::new();
        // A fault or the generator, and not the brokers' CPU, decides how long these took.
        let limited = |facts: &&&TrialFacts| !facts.is_capped && !facts.is_generator_limited;
        for facts in trials.iter().filter(limited) {
            let Some((part, latency_ns_p99)) = facts.busiest_part().zip(facts.latency_ns_p99)
            else {
                continue;
            };
            let load = CurveLoad {
                bytes_per_s: facts.logical_bytes,
                part,
                latency_ns_p99,
                has_kept_rate: facts.has_kept_rate,
                is_generator_late: facts.is_generator_late,
            };
            match setups.iter_mut().find(|(setup, _)| *setup == facts.setup) {
                Some((_, loads)) => loads.push(load),
                None => setups.push((&facts.setup, vec![load])),
            }
        }
        LatencyCurves {
            setups: setups.into_iter().map(|(_, loads)| loads).collect(),
        }
    }

    /// How far a goal held in each setup in which it held at all.
    fn edges(&self, goal_ns: f64) -> Vec<GoalEdge> {
        let edges = self.setups.iter();
        let edges: Vec<GoalEdge> = edges.filter_map(|loads| edge(loads, goal_ns)).collect();
        // A setup whose goal never broke shows less than those in which it did.
        match edges.iter().any(|edge| edge.broke.is_some()) {
            true => edges
                .into_iter()
                .filter(|edge| edge.broke.is_some())
                .collect(),
            false => {
                let furthest = edges.into_iter().max_by(|a, b| a.kept.total_cmp(&b.kept));
                furthest.into_iter().collect()
            }
        }
    }

    /// The share of its CPU up to which the busiest broker is expected to keep a goal: the highest measured one,
    /// the median of the setups. `None` if no load kept it.
    pub(super) fn expected_part(&self, goal_ns: f64) -> Option<f64> {
        quantile(self.edges(goal_ns).iter().map(|edge| edge.kept), 0.5)
    }

    /// The same of one setup, somewhere between the load that kept the goal and the one that broke it.
    pub(super) fn drawn_part(&self, goal_ns: f64, draw: usize) -> Option<f64> {
        let mut draws = begin_draws("latency", draw);
        let edges = self.edges(goal_ns);
        let edge = draws.choose(&edges)?;
        let gap = edge.broke.map_or(0.0, |broke| (broke - edge.kept).max(0.0));
        Some(edge.kept + draws.uniform() * gap)
    }

    /// The response time at the measured load that is the nearest to a planned one. `None` if all loads were lower by
    /// more than a factor of two.
    pub(super) fn reading(&self, planned_part: f64) -> Option<LatencyReading> {
        let loads = || self.setups.iter().flatten();
        let above = loads().filter(|load| load.part >= planned_part);
        let above = above.min_by(|a, b| a.part.total_cmp(&b.part));
        let below = || {
            let below = loads().filter(|load| load.part * EXTRAPOLATION_MAX >= planned_part);
            below.max_by(|a, b| a.part.total_cmp(&b.part))
        };
        above.or_else(below).map(|load| LatencyReading {
            planned_part,
            measured_part: load.part,
            latency_ns_p99: load.latency_ns_p99,
        })
    }
}

fn edge(loads: &[CurveLoad], goal_ns: f64) -> Option<GoalEdge> {
    let keeps = |load: &CurveLoad| load.latency_ns_p99 <= goal_ns && load.has_kept_rate;
    // With a generator that was late, a broken goal may be its doing; a kept one was kept in spite of it.
    let breaks = |load: &&CurveLoad| !keeps(load) && !load.is_generator_late;
    let broke = loads.iter().filter(breaks);
    let broke = broke.min_by(|a, b| a.bytes_per_s.total_cmp(&b.bytes_per_s));
    let below = |load: &&CurveLoad| {
        keeps(load) && broke.is_none_or(|broke| load.bytes_per_s < broke.bytes_per_s)
    };
    let kept = loads.iter().filter(below);
    let kept = kept.max_by(|a, b| a.bytes_per_s.total_cmp(&b.bytes_per_s))?;
    Some(GoalEdge {
        kept: kept.part,
        broke: broke.map(|broke| broke.part),
    })
}

#[cfg(test)]
mod tests {
    use super::super::facts::SizingMachine;
    use super::*;

    /// A broker with one processor, of which 10 MB/s take a tenth.
    fn load(setup: &str, mb_per_s: f64, p99_ms: f64) -> TrialFacts {
        TrialFacts {
            setup: setup.to_owned(),
            brokers: 1,
            partitions: 1,
            machine: SizingMachine {
                processors: Some(1),
                ..SizingMachine::default()
            },
            logical_bytes: mb_per_s * 1e6,
            cpu_cores: Some(mb_per_s / 100.0),
            latency_ns_p99: Some(p99_ms * 1e6),
            has_kept_rate: true,
            ..TrialFacts::default()
        }
    }

    fn curves(loads: &[TrialFacts]) -> LatencyCurves {
        LatencyCurves::of(&loads.iter().collect::<Vec<_>>(), &[])
    }

    #[test]
    fn the_edge_is_the_highest_load_below_the_first_that_broke() {
        // 60 MB/s kept the goal by luck, above one that broke it.
        let loads = [(20.0, 5.0), (40.0, 9.0), (50.0, 30.0), (60.0, 8.0)];
        let loads = loads.map(|(rate, p99)| load("one", rate, p99));
        let curves = curves(&loads);
        assert_eq!(curves.expected_part(10e6), Some(0.4));
        let drawn = (0..100).filter_map(|draw| curves.drawn_part(10e6, draw));
        assert!(drawn.into_iter().all(|part| (0.4..=0.5).contains(&part)));
        assert_eq!(curves.expected_part(1e6), None);
    }

    #[test]
    fn a_late_generator_breaks_no_goal() {
        let mut loads = [(20.0, 5.0), (40.0, 50.0), (50.0, 6.0)]
            .map(|(rate, p99)| load("one", rate, p99))
            .to_vec();
        loads[1].is_generator_late = true;
        assert_eq!(curves(&loads).expected_part(10e6), Some(0.5));
        loads[2].is_generator_limited = true;
        assert_eq!(curves(&loads).expected_part(10e6), Some(0.2));
        loads[0].is_capped = true;
        assert_eq!(curves(&loads).expected_part(10e6), None);
    }

    #[test]
    fn of_several_setups_those_count_in_which_the_goal_broke() {
        let loads = [
            load("a", 10.0, 5.0),
            load("b", 30.0, 5.0),
            load("b", 40.0, 20.0),
            load("c", 60.0, 5.0),
            load("c", 70.0, 20.0),
            load("d", 80.0, 5.0),
        ];
        assert_eq!(curves(&loads[..2]).expected_part(10e6), Some(0.3));
        // 0.3 and 0.6; of two, the upper one is the median.
        assert_eq!(curves(&loads).expected_part(10e6), Some(0.6));
    }

    #[test]
    fn a_reading_is_of_the_nearest_measured_load() {
        let loads = [(20.0, 5.0), (40.0, 9.0)].map(|(rate, p99)| load("one", rate, p99));
        let curves = curves(&loads);
        let reading = |part| {
            let reading = curves.reading(part)?;
            Some((reading.measured_part, reading.latency_ns_p99))
        };
        assert_eq!(reading(0.1), Some((0.2, 5e6)));
        assert_eq!(reading(0.3), Some((0.4, 9e6)));
        assert_eq!(reading(0.7), Some((0.4, 9e6)));
        assert_eq!(reading(0.9), None);
    }
}
