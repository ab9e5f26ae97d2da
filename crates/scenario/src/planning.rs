//! Making a plan out of scenarios and the facts of a cluster, and reading a saved one.

use std::collections::BTreeSet;

use crate::flow_values::{ConsumeEnd, TransactionLength};
use crate::format::counted;
use crate::keys::flow::{FlowPlan, ProduceFlow};
use crate::plan::{ClusterFacts, Plan, Size, StudyRef, Trial};
use crate::scenario::Scenario;
use crate::search;
use crate::settings::Partitioner;

/// The parts of a plan, other than the scenarios.
#[derive(Clone, Debug)]
pub struct PlanRequest {
    /// Names the run; becomes part of topic names.
    pub run_id: String,
    /// All randomness of the run comes from here.
    pub seed: u64,
    /// Which size of the scenarios.
    pub size: Size,
    /// The study that they belong to.
    pub study: Option<StudyRef>,
    /// The cluster under test.
    pub cluster: ClusterFacts,
}

/// Why no plan can be made for this cluster.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// There is nothing to run.
    #[error("there is no scenario to run")]
    NoScenario,
    /// The cluster is too small for some scenarios.
    #[error(
        "the cluster has {}, but {} (--only runs single scenarios of a study)",
        counted((*present).into(), "broker"),
        .needed.iter().map(|(name, count)| format!("scenario `{name}` needs {count}"))
            .collect::<Vec<_>>().join(" and ")
    )]
    TooFewBrokers {
        /// How many brokers answered.
        present: u32,
        /// Scenario and number of brokers, for each that needs more.
        needed: Vec<(String, u32)>,
    },
}

/// Why a text is not a plan that can be run.
#[derive(Debug, thiserror::Error)]
pub enum PlanReadError {
    /// It is not JSON, or keys or types are not those of a plan.
    #[error("this is not a plan: {0}")]
    Json(#[from] serde_json::Error),
    /// It was written by another version.
    #[error(
        "the plan has format {found}; this kgauge reads format {}",
        Plan::FORMAT
    )]
    Format {
        /// Its format.
        found: u32,
    },
    /// It was changed into something that makes no sense.
    #[error("trial {trial} of the plan cannot be run: {why}")]
    Trial {
        /// Position in the plan, from 0.
        trial: usize,
        /// What makes no sense.
        why: String,
    },
}

impl Plan {
    /// Makes the plan of some scenarios for a cluster.
    ///
    /// # Errors
    /// When the cluster has too few brokers: every scenario that needs more is named.
    pub fn new(request: PlanRequest, scenarios: &[Scenario]) -> Result<Plan, PlanError> {
        let trials = Trial::of_scenarios(scenarios, request.size);
        Plan::of_trials(request, trials)
    }

    /// As [`Plan::new`], of trials that are numbered already.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn of_trials(request: PlanRequest, trials: Vec<Trial>) -> Result<Plan, PlanError> {
        if trials.is_empty() {
            return Err(PlanError::NoScenario);
        }
        let PlanRequest {
            run_id,
            seed,
            size,
            study,
            cluster,
        } = request;
        let present = cluster.brokers;
        let mut needed: Vec<(String, u32)> = Vec::new();
        for of_scenario in trials.chunk_by(|a, b| a.scenario == b.scenario) {
            let brokers = of_scenario.iter().map(|trial| trial.cluster.brokers_min());
            let brokers = brokers.max().unwrap_or(1);
            if brokers > present {
                needed.push((of_scenario[0].scenario.clone(), brokers));
            }
        }
        if !needed.is_empty() {
            return Err(PlanError::TooFewBrokers { present, needed });
        }
        Ok(Plan {
            format: Plan::FORMAT,
            run_id,
            seed,
            size,
            study,
            cluster,
            trials,
            ab: None,
            tune: None,
        })
    }

    /// Switches idempotence off where no scenario asked for it by name, for a cluster that has none
    /// (Kafka before 0.11), as a producer of that age would have been. Gives the flows' names.
    pub fn without_idempotence(&mut self) -> Vec<String> {
        let mut names = Vec::new();
        for flow in self.trials.iter_mut().flat_map(|trial| &mut trial.flows) {
            if let Some(flow) = flow.produces_mut()
                && flow.settings.idempotence
                && !flow.settings.idempotence_asked
            {
                flow.settings.idempotence = false;
                if !names.contains(&flow.name) {
                    names.push(flow.name.clone());
                }
            }
        }
        names
    }

    /// The text of `plan.json`.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        text.expect("a plan has only string keys and finite numbers") + "\n"
    }

    /// Reads a saved plan.
    ///
    /// # Errors
    /// When the text is not a plan of this format, or could not be run.
    pub fn from_json(text: &str) -> Result<Plan, PlanReadError> {
        /// Only the version, so that another version's other keys do not hide it.
        #[derive(serde::Deserialize)]
        struct Head {
            format: u32,
        }
        let head: Head = serde_json::from_str(text)?;
        if head.format != Plan::FORMAT {
            return Err(PlanReadError::Format { found: head.format });
        }
        let plan: Plan = serde_json::from_str(text)?;
        for (index, trial) in plan.trials.iter().enumerate() {
            let sound = sound(trial).and_then(|()| match trial.index as usize == index {
                true => Ok(()),
                false => Err(format!("its index is {}", trial.index)),
            });
            sound.map_err(|why| PlanReadError::Trial { trial: index, why })?;
        }
        if let Some(ab) = &plan.ab {
            let sound = ab.sound(plan.trials.len());
            sound.map_err(|why| PlanReadError::Trial { trial: 0, why })?;
        }
        if let Some(tune) = &plan.tune {
            let sound = tune.sound();
            sound.map_err(|why| PlanReadError::Trial { trial: 0, why })?;
        }
        Ok(plan)
    }
}

impl Trial {
    /// The trials of a plan, as far as they are known before the cluster is: those of all scenarios, numbered.
    pub fn of_scenarios(scenarios: &[Scenario], size: Size) -> Vec<Trial> {
        let of_all = scenarios.iter().flat_map(|one| one.trials_of(size));
        let numbered = (0..).zip(of_all).map(|(index, trial)| Trial {
            index,
            ..trial.clone()
        });
        numbered.collect()
    }
}

/// What the engine relies on. The scenario parser checks more, with better messages.
fn sound(trial: &Trial) -> Result<(), String> {
    let demand = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
    demand(trial.repeats >= 1, "no repeats")?;
    demand(trial.topic.partitions >= 1, "a topic without partitions")?;
    demand(trial.topic.replication >= 1, "a topic without replicas")?;
    let preload = trial.topic.preload.as_ref();
    demand(
        preload.is_none_or(|preload| preload.records >= 1),
        "an empty preload",
    )?;
    if let Some(fault) = preload.and_then(|preload| preload.record.fault()) {
        return Err(fault.to_owned());
    }
    demand(!trial.flows.is_empty(), "no flows")?;
    if let Some(planned) = &trial.search {
        search::sound(planned, &trial.flows)?;
    }
    demand(trial.stages.hold_ns != Some(0), "a hold of zero length")?;
    let mut names = BTreeSet::new();
    for flow in &trial.flows {
        demand(names.insert(flow.name()), "two flows with the same name")?;
        let ends = match flow {
            FlowPlan::Produce(flow) => {
                sound_producers(flow, trial.topic.partitions)?;
                flow.records_max.is_some()
            }
            FlowPlan::Echo(flow) => {
                sound_producers(&flow.produce, trial.topic.partitions)?;
                demand(flow.consumers >= 1, "a flow without consumers")?;
                demand(
                    flow.fault().is_none(),
                    flow.fault().unwrap_or("records that cannot be read back"),
                )?;
                flow.produce.records_max.is_some()
            }
            FlowPlan::Consume(flow) => {
                demand(flow.consumers >= 1, "a flow without consumers")?;
                demand(flow.groups >= 1, "a flow with zero groups")?;
                demand(
                    flow.groups == 1 || flow.group.is_some(),
                    "groups without a group",
                )?;
                if let Some(group) = &flow.group {
                    let beats =
                        0 < group.heartbeat_ns && group.heartbeat_ns < group.session_timeout_ns;
                    demand(beats, "heartbeats that come too late")?;
                    demand(
                        !group.strategies.is_empty(),
                        "a group without assignment strategy",
                    )?;
                }
                flow.records != ConsumeEnd::StageEnd
            }
        };
        demand(
            ends || trial.stages.hold_ns.is_some(),
            "a flow that never ends",
        )?;
    }
    Ok(())
}

fn sound_producers(flow: &ProduceFlow, partitions: u32) -> Result<(), String> {
    let settings = &flow.settings;
    let faults = [
        (flow.producers == 0, "a flow without producers"),
        (flow.records_max == Some(0), "a flow with zero records"),
        (settings.in_flight_max == 0, "no request may be in flight"),
        (
            settings.request_timeout_ns == 0,
            "a request timeout of zero",
        ),
        (
            u64::from(settings.batch_bytes) > settings.buffer_bytes,
            "batches above the buffer",
        ),
        (
            matches!(settings.partitioner, Partitioner::Partition(one) if one >= partitions),
            "a partition that the topic does not have",
        ),
        (
            flow.transaction.is_some() && !settings.idempotence,
            "transactions without idempotence",
        ),
        (
            matches!(
                flow.transaction,
                Some(TransactionLength::Records(0) | TransactionLength::Ns(0))
            ),
            "empty transactions",
        ),
    ];
    let found = faults.iter().find(|(is_there, _)| *is_there);
    let fault = found.map(|(_, fault)| *fault);
    match fault.or(flow.shape.fault()).or(flow.record.fault()) {
        Some(fault) => Err(fault.to_owned()),
        None => match flow.driver.refusals(flow).into_iter().next() {
            Some(refusal) => Err(refusal.what),
            None => Ok(()),
        },
    }
}
