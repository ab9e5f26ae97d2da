//! A search in progress: chooses the next load, and judges the last one.

use std::time::Duration;

use kgauge_analyze::Summary;
use kgauge_analyze::search::{
    LoadPurpose, ReadingKind, Search, SearchStep, WindowSums, round_rate,
};
use kgauge_analyze::summary::{followers_behind, recorded_search, void_cause};
use kgauge_results::RunRead;
use kgauge_results::folder::RepeatRead;
use kgauge_results::run::{
    GoalReading, JudgedWindow, LoadReason, MeasuredLoad, RepeatKey, SearchEnd, SearchRecord,
    SearchRun, SearchStart, VoidCause,
};
use kgauge_results::stage::Stage;
use kgauge_scenario::{Plan, SearchPlan, Trial, derive_seed};

use crate::disk_space::check_load;
use crate::error::{OrRunError, RunError, with_fix};
use crate::observer::{LoadJudgement, RunEvent};
use crate::recovery_wait::RecoveryWait;
use crate::session::Session;
use crate::settle::DirtyPages;
use crate::step_figures::failed;
use crate::total_time::TotalTime;

/// Loads of the curve, as shares of the lower bound.
const CURVE: [f64; 4] = [0.10, 0.50, 0.75, 0.90];
/// Time of a load outside of its stages: its topic, connections, the last responses.
const BETWEEN_NS: u64 = 2_000_000_000;

/// How long a broker that is away may take to come back before the search ends.
const BROKERS_WAIT_MAX: Duration = Duration::from_secs(60);
/// How often the brokers are counted meanwhile.
const BROKERS_PAUSE: Duration = Duration::from_millis(500);

/// A search in progress. The run's record has its loads and its end; this is the rest of its state.
pub(crate) struct ActiveSearch {
    /// The trial at full speed, with the goals.
    base: Trial,
    plan: SearchPlan,
    /// The repeat at full speed.
    full_speed: RepeatKey,
    /// Its index in the record.
    index: usize,
    /// The current load.
    load: Option<RunningLoad>,
    voids_in_a_row: usize,
    /// The time that this attempt of the search may take; none without a budget.
    budget: Option<Duration>,
    time: TotalTime,
    dirty: DirtyPages,
}

/// A load in progress.
#[derive(Clone, Copy)]
struct RunningLoad {
    trial: u32,
    rate: f64,
    reason: LoadReason,
}

/// What a search does next.
enum Choice {
    Load {
        rate: f64,
        windows: u32,
        reason: LoadReason,
    },
    End(SearchEnd),
}

impl ActiveSearch {
    /// Starts the search after a repeat at full speed, or resumes it where the record ends.
    pub(crate) fn begin(
        step: RepeatKey,
        plan: &Plan,
        record: &mut SearchRecord,
    ) -> Option<ActiveSearch> {
        let base = plan.trials.get(step.trial as usize)?.clone();
        let search = base.search.clone()?;
        let is_this = |one: &SearchRun| one.trial == step.trial && one.repeat == step.repeat;
        let index = record.searches.iter().position(is_this).unwrap_or_else(|| {
            record.searches.push(SearchRun {
                trial: step.trial,
                repeat: step.repeat,
                start: None,
                loads: Vec::new(),
                end: None,
                took_ns: 0,
            });
            record.searches.len() - 1
        });
        let searches = plan.trials.iter().filter(|trial| trial.search.is_some());
        let searches: u32 = searches.map(|trial| trial.repeats).sum();
        let budget = search.budget_ns.map(Duration::from_nanos);
        Some(ActiveSearch {
            base,
            plan: search,
            full_speed: step,
            index,
            load: None,
            voids_in_a_row: 0,
            budget: budget.map(|budget| budget / searches.max(1)),
            time: TotalTime::after(record.searches[index].took_ns),
            dirty: DirtyPages::now(),
        })
    }

    /// Adds the trial of the next step to the plan, and returns the step. `None` if the search is over, or the user
    /// stops the run.
    pub(crate) fn next_step(
        &mut self,
        session: &mut Session<'_>,
        plan: &mut Plan,
        record: &mut SearchRecord,
    ) -> Result<Option<RepeatKey>, RunError> {
        let run = &mut record.searches[self.index];
        if run.end.is_some() {
            return Ok(None);
        }
        let Some(search) = recorded_search(run, &self.plan) else {
            return Ok(Some(self.full_speed));
        };
        let choice = self.choose(&search, run);
        let (rate, windows, reason) = match choice {
            Choice::Load {
                rate,
                windows,
                reason,
            } => (rate, windows, reason),
            Choice::End(end) => {
                run.end = Some(end);
                run.took_ns = self.time.ns();
                session.write_search(record)?;
                return Ok(None);
            }
        };
        await_brokers(session)?;
        self.dirty.settle(session);
        if session.stopping.is_wanted() {
            return Ok(None);
        }
        let index = u32::try_from(plan.trials.len()).unwrap_or(u32::MAX);
        let Some(trial) = self.base.at_load(index, rate, windows) else {
            return Ok(None);
        };
        // A guard watches the disks of this machine. Brokers that do not report theirs now may do so for the next load.
        if session.data_dirs.is_empty()
            && let Ok(disks) = session.target.disks(&mut session.cluster)
        {
            check_load(&disks, &trial)?;
        }
        plan.trials.push(trial);
        session.folder.write_plan(plan).or_unwritable()?;
        self.load = Some(RunningLoad {
            trial: index,
            rate,
            reason,
        });
        Ok(Some(RepeatKey {
            trial: index,
            repeat: 0,
        }))
    }

    fn choose(&self, search: &Search, run: &SearchRun) -> Choice {
        if self.voids_in_a_row >= VoidCause::IN_A_ROW_MAX
            && let Some(cause) = run.loads.last().and_then(|load| load.void.clone())
        {
            return Choice::End(SearchEnd::Void { cause });
        }
        let next = match search.next_step() {
            SearchStep::Measure {
                rate,
                windows,
                purpose,
                ..
            } => Some((
                rate,
                u32::try_from(windows).unwrap_or(u32::MAX),
                reason(purpose),
            )),
            SearchStep::Done => {
                let rate = self.curve_rate(search, run);
                rate.map(|rate| (rate, 1, LoadReason::Curve))
            }
        };
        let Some((rate, windows, reason)) = next else {
            return Choice::End(SearchEnd::Found);
        };
        let stages_ns = self.base.stages.warm_up_ns + u64::from(windows) * self.plan.window_ns;
        let end = self.time.of_attempt() + Duration::from_nanos(stages_ns + BETWEEN_NS);
        if self.budget.is_some_and(|budget| end > budget) {
            return Choice::End(match reason {
                // The bounds are found; only the curve is not complete.
                LoadReason::Curve => SearchEnd::Found,
                LoadReason::Bracket | LoadReason::Narrow | LoadReason::Confirm => SearchEnd::Budget,
            });
        }
        Choice::Load {
            rate,
            windows,
            reason,
        }
    }

    /// The next load of the curve that has not been measured.
    fn curve_rate(&self, search: &Search, run: &SearchRun) -> Option<f64> {
        let lower = search.bounds(ReadingKind::Strict).lower?;
        let mut rates = CURVE.into_iter().map(|part| round_rate(part * lower));
        rates.find(|rate| {
            let mut loads = run.loads.iter();
            !loads.any(|load| load.rate == *rate && load.void.is_none())
        })
    }

    /// Judges a step that is complete.
    pub(crate) fn complete(
        &mut self,
        session: &mut Session<'_>,
        plan: &Plan,
        step: RepeatKey,
        record: &mut SearchRecord,
    ) -> Result<(), RunError> {
        let run = &mut record.searches[self.index];
        match self.load.take() {
            None if step == self.full_speed => {
                run.start = Some(self.start(session, plan, step)?);
            }
            Some(load) if load.trial == step.trial => {
                let Some(trial) = plan.trials.get(step.trial as usize) else {
                    return Ok(());
                };
                let measured = self.judge(session, trial, step, load)?;
                self.note(run, measured);
                let search = recorded_search(run, &self.plan);
                if let (Some(search), Some(load)) = (search, run.loads.last()) {
                    let strict = search.bounds_so_far();
                    let judgement = LoadJudgement { load, strict };
                    session.observer.observe(&RunEvent::LoadJudged(&judgement));
                }
            }
            Some(_) | None => return Ok(()),
        }
        run.took_ns = self.time.ns();
        session.write_search(record)
    }

    /// Where the search starts: the rate that its trial at full speed has reached.
    fn start(
        &self,
        session: &Session<'_>,
        plan: &Plan,
        key: RepeatKey,
    ) -> Result<SearchStart, RunError> {
        let repeat = RunRead::repeat(session.folder.dir(), key).or_unwritable()?;
        let rates = acked_rates(&repeat, &self.base, &self.plan);
        let shares = rates.iter().zip(&self.plan.flows);
        let full_speed = shares.map(|(rate, flow)| rate / flow.part);
        let full_speed = full_speed.fold(f64::INFINITY, f64::min);
        if !(full_speed.is_finite() && full_speed > 0.0) {
            let words = "nothing was acked at full speed, so there is no rate to search";
            return Err(RunError::Load(words.to_owned()));
        }
        let name = format!("search {} {}", key.trial, key.repeat);
        Ok(SearchStart {
            full_speed,
            confirms_lower_first: derive_seed(plan.seed, &name) & 1 == 0,
        })
    }

    /// A load was ended because it was too much for a broker: it counts as one that broke the goals for as long as a
    /// load at a bound is measured. False if the step is not one of this search.
    pub(crate) fn limit(
        &mut self,
        session: &mut Session<'_>,
        plan: &Plan,
        step: RepeatKey,
        record: &mut SearchRecord,
    ) -> Result<bool, RunError> {
        let run = &mut record.searches[self.index];
        match self.load.take() {
            None if step == self.full_speed => run.start = Some(self.start(session, plan, step)?),
            Some(load) if load.trial == step.trial => {
                let goals = self.plan.goals.iter();
                let unknown = GoalReading {
                    kept: true,
                    value: None,
                };
                let window = JudgedWindow {
                    length_ns: self.plan.window_ns * u64::from(self.plan.windows),
                    kept: false,
                    goals: goals.map(|_| unknown).collect(),
                };
                // How much of it was acked says little: the load was cut off.
                let measured = load.measured(vec![window], load.rate / 2.0, None);
                self.note(run, measured);
            }
            other => {
                self.load = other;
                return Ok(false);
            }
        }
        run.took_ns = self.time.ns();
        session.write_search(record)?;
        Ok(true)
    }

    /// A step failed. Returns true if the search continues: it measures the load again.
    pub(crate) fn fail(
        &mut self,
        step: RepeatKey,
        error: &RunError,
        record: &mut SearchRecord,
    ) -> bool {
        let run = &mut record.searches[self.index];
        run.took_ns = self.time.ns();
        let Some(load) = self.load.take().filter(|load| load.trial == step.trial) else {
            return false;
        };
        let measured = load.measured(Vec::new(), 0.0, Some(failed(error)));
        self.note(run, measured);
        true
    }

    fn note(&mut self, run: &mut SearchRun, load: MeasuredLoad) {
        self.voids_in_a_row = match load.void {
            Some(_) => self.voids_in_a_row + 1,
            None => 0,
        };
        run.loads.push(load);
    }

    fn judge(
        &self,
        session: &Session<'_>,
        trial: &Trial,
        key: RepeatKey,
        load: RunningLoad,
    ) -> Result<MeasuredLoad, RunError> {
        let dir = session.folder.dir();
        let mut read = RunRead::open(dir).or_unwritable()?;
        // The other trials need no figures now.
        read.repeats.retain(|repeat| repeat.key == key);
        let Some(repeat) = read.repeats.first() else {
            return Err(RunError::Defect(format!("{key} is not in the run folder")));
        };
        let achieved: f64 = acked_rates(repeat, trial, &self.plan).iter().sum();
        let mut flows = repeat.record.iter().flat_map(|record| &record.flows);
        let hold = flows.find_map(|flow| flow.stage(Stage::Hold));
        let Some(hold) = hold else {
            let void = VoidCause::failed("the load ended before its hold");
            return Ok(load.measured(Vec::new(), achieved, Some(void)));
        };
        let mut sums = WindowSums::new(trial, &self.plan, hold);
        RunRead::each_second(dir, key, |slice| sums.add(slice)).or_unwritable()?;
        let windows = sums.judge(followers_behind(&read, key));
        let void = match windows.is_empty() {
            true => Some(VoidCause::failed(
                "the load ended before its first window did",
            )),
            false => Summary::of(&read)
                .trials
                .get(key.trial as usize)
                .and_then(|trial| void_cause(&read, key, trial, &windows)),
        };
        Ok(load.measured(windows, achieved, void))
    }
}

impl RunningLoad {
    fn measured(
        self,
        windows: Vec<JudgedWindow>,
        achieved: f64,
        void: Option<VoidCause>,
    ) -> MeasuredLoad {
        MeasuredLoad {
            trial: self.trial,
            rate: self.rate,
            reason: self.reason,
            windows,
            achieved,
            void,
        }
    }
}

/// Waits until all brokers are in the cluster: with fewer of them, the next load would measure another one.
fn await_brokers(session: &mut Session<'_>) -> Result<(), RunError> {
    let mut wait = RecoveryWait::begin();
    loop {
        let found = session.cluster.refresh(&[]);
        let found = found.map(|metadata| metadata.brokers.len());
        let is_over = wait.elapsed() >= BROKERS_WAIT_MAX;
        let left = match found {
            _ if session.stopping.is_wanted() => return Ok(()),
            Ok(found) if found >= session.nodes => return Ok(()),
            Ok(found) => {
                let missing = session.nodes - found;
                format!("{missing} of {} brokers left the cluster", session.nodes)
            }
            Err(error) if is_over => {
                return Err(RunError::cluster(with_fix(&error, error.fix())));
            }
            // A restarting cluster of one broker is not there for a while.
            Err(_) => "no broker answers".to_owned(),
        };
        if is_over {
            let fix = match session.checkup {
                Some(_) => "repeat the checkup",
                None => "continue with --resume",
            };
            return Err(RunError::cluster(format!(
                "{left}, so the next load would measure another one\n  start them again, then {fix}"
            )));
        }
        wait.report(session, &left);
        std::thread::sleep(BROKERS_PAUSE);
    }
}

fn reason(purpose: LoadPurpose) -> LoadReason {
    match purpose {
        LoadPurpose::Bracket => LoadReason::Bracket,
        LoadPurpose::Narrow(_) => LoadReason::Narrow,
        LoadPurpose::Confirm => LoadReason::Confirm,
    }
}

/// Records per second that each searched flow got acked in the hold.
fn acked_rates(repeat: &RepeatRead, trial: &Trial, plan: &SearchPlan) -> Vec<f64> {
    let of_flow = |name: &str| {
        let index = trial.flows.iter().position(|flow| flow.name() == name)?;
        let record = repeat.record.as_ref()?.flows.get(index)?;
        let seconds = record.stage(Stage::Hold)?.length_ns() as f64 / 1e9;
        let read = repeat.flows.get(&u16::try_from(index).ok()?)?;
        let acked = read.hold()?.counts.records_acked as f64;
        (seconds > 0.0).then(|| acked / seconds)
    };
    let flows = plan.flows.iter();
    flows
        .map(|flow| of_flow(&flow.name).unwrap_or(0.0))
        .collect()
}
