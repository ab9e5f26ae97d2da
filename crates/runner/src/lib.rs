//! Runs: a resolved request in, a run folder out.
//!
//! Goals: everything that happens between a question and a run folder, callable from code: [`run`] starts the target,
//! makes the plan, runs the trials with load, evidence and faults, and cleans up. An [`Observer`] gets typed events.
//! The other operations that need several crates are here, too: [`PodRun`], [`AbPair`], [`ComparisonRequest`],
//! [`SizeRequest`], [`CeilingMeasurement`], [`TestCluster`].
//!
//! Non-goals: no command line, no environment, no printing, no exit, no signals: [`RunRequest`] holds what these
//! decide. Other crates compute figures from the run folder, and describe them.
//!
//! Where to start: `run.rs` (a run from its start to its end), `start.rs` (before the first trial), `trial.rs` and
//! `repeat.rs` (one repeat).
//!
//! A run from code, as the command line and `kgauge truth` make it:
//!
//! ```no_run
//! use kgauge_runner::{HostSetup, NoObserver, Question, RunRequest, RunTarget, ScenarioChanges, run, write_results};
//!
//! # fn example(host: HostSetup) -> Result<(), kgauge_runner::RunError> {
//! let question = Question::read("linkedin-2014", &ScenarioChanges::default())?;
//! let target = RunTarget::parse(RunTarget::DEFAULT, &question)?;
//! target.check(&question)?;
//! let finished = run(&RunRequest::new(&question, &target, host), &mut NoObserver)?;
//! let (_, summary) = write_results(&finished.dir)?;
//! # Ok(())
//! # }
//! ```

mod ab;
mod ab_pair;
mod ab_question;
mod ab_test;
mod announce;
mod broker_sources;
mod ceiling;
mod change_cluster;
mod checkup;
mod checkup_parts;
mod close;
mod cluster_selection;
mod clusters;
mod comparison;
mod consent;
mod counts;
mod data_dirs;
mod disk_space;
mod driver_choice;
mod drivers;
mod embedded_nodes;
mod environment;
mod error;
mod events;
mod faults;
mod fit;
mod followers;
mod from_disk;
mod gather_agents;
mod host;
mod ids;
mod killed_repeats;
mod left_out;
mod load_errors;
mod load_run;
mod metrics;
mod mirror;
mod mirror_copy;
mod observer;
mod open_run;
mod outages;
mod output;
mod pods;
mod prepared_topic;
mod preview;
mod process_cpu;
mod processes;
mod published;
mod question;
mod recovery_wait;
mod repeat;
mod repeat_end;
mod request;
mod run;
mod run_target;
mod search;
mod session;
mod setting_texts;
mod settle;
mod shared;
mod shared_pool;
mod sizing;
mod speeds;
mod start;
mod step_chooser;
mod step_figures;
mod steps;
mod stop;
mod target_text;
mod targets_request;
mod test_cluster;
mod time_estimate;
mod total_time;
mod trial;
mod tune;
mod tune_question;
mod tune_trials;
mod verify;
mod warm_up;
mod warming;
mod wire;

pub use ab_pair::{AbPair, AbSideJob};
pub use ab_question::{AbRequest, AbSides, two_sides};
pub use ab_test::AbTest;
pub use ceiling::CeilingMeasurement;
pub use checkup::{CheckupPreview, CheckupRequest, CheckupTexts};
pub use cluster_selection::clusters_to_stop;
pub use comparison::{
    COMPARISON_PAGE, ComparisonRequest, SummarizedRun, compare_runs, write_comparison,
};
pub use error::{ErrorSubject, OrRunError, RunError, with_fix};
pub use gather_agents::{check_agents_plan, read_agents};
pub use host::HostSetup;
pub use ids::{RUNS, fresh_number, name_slug, parent_dir, remove_unused, unix_ms};
pub use metrics::{MetricsAddress, without_secrets};
pub use observer::{
    Activity, Announcement, LoadJudgement, NoObserver, Observer, RepeatTap, RepeatView, RunEvent,
    RunStep, RunTaps,
};
pub use output::write_results;
pub use pods::{
    PodRun, PodRunEnd, PodRunRequest, PodTarget, PodTargetError, pod_manifest, pod_options,
};
pub use preview::RunPreview;
pub use question::{Question, ScenarioChanges};
pub use repeat_end::RepeatEnd;
pub use request::{AgentsRequest, Consent, ConsentAnswer, FolderChoice, OnTargetReady, RunRequest};
pub use run::{FinishedRun, run};
pub use run_target::{DestinationTarget, RunTarget};
pub use setting_texts::{read_settings, split_settings};
pub use sizing::{SizeRequest, read_machine_types};
pub use stop::StopRequests;
pub use targets_request::TargetsRequest;
pub use test_cluster::{ReadyCluster, TestCluster, TestClusterRequest};
pub use time_estimate::TimeEstimate;
pub use tune_question::{resumed_tune, tuned};
