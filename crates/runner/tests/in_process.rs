//! Runs on the embedded cluster, called from code: the child process of the cluster is this very test program.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that is its own harness"
)]

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use kgauge_analyze::summary::AbVerdict;
use kgauge_results::run::{AbEnd, EventKind, RepeatOutcome, RunStatus, SearchEnd};
use kgauge_runner::{
    AbRequest, ErrorSubject, FolderChoice, HostSetup, Observer, Question, RepeatEnd, RunError,
    RunEvent, RunRequest, RunTaps, RunTarget, ScenarioChanges, StopRequests, run, two_sides,
    write_results,
};
use kgauge_scenario::{AbKind, AbOptions, AbSide};
use kgauge_target::{EmbeddedCommand, embedded_main};

const CHILD: &str = "embedded-cluster";

const SCENARIO: &str = "\
kgauge: 1
name: tiny
question: Does it work?
topic: {partitions: 2}
flows:
  - name: writers
    kind: produce
    shape: {constant: 2k/s}
    records: 400
    record: {size: 100 B}
stages: {warm-up: 0 s, hold: 2 min}
repeats: 2
";

/// Gets a directory of its own.
type Test = fn(&Path);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == CHILD) {
        let log = std::io::stderr();
        return ExitCode::from(embedded_main(std::io::stdin(), std::io::stdout(), log));
    }
    let tests: [(&str, Test); 10] = [
        (
            "a_run_leaves_a_folder_and_tells_its_observer",
            a_run_leaves_a_folder,
        ),
        (
            "a_stop_ends_the_load_and_keeps_what_was_measured",
            a_stop_ends_the_load,
        ),
        (
            "a_hook_that_fails_ends_a_run_before_it_begins",
            a_hook_that_fails,
        ),
        (
            "an_interrupted_run_goes_on_with_what_is_left",
            an_interrupted_run_goes_on,
        ),
        (
            "a_search_finds_a_hidden_capacity_and_goes_on_after_a_stop",
            a_search_finds_a_capacity,
        ),
        (
            "an_ab_test_finds_a_hidden_difference_and_goes_on_after_a_stop",
            an_ab_test_finds_a_difference,
        ),
        (
            "every_record_of_a_verified_run_is_read_back",
            every_record_is_read_back,
        ),
        (
            "a_machine_that_fails_loses_acked_records_which_the_settings_permit",
            a_failed_machine_loses_records,
        ),
        (
            "what_machines_lost_that_only_the_end_of_the_repeat_restarts_is_found",
            a_cluster_that_is_gone_at_the_end_is_checked,
        ),
        (
            "what_cannot_be_run_is_refused_before_anything_starts",
            what_cannot_be_run,
        ),
    ];
    for (name, test) in tests {
        let is_left_out = |word: &String| !word.starts_with('-') && !name.contains(word.as_str());
        if arguments.iter().any(is_left_out) {
            continue;
        }
        let dir = tempfile::tempdir().unwrap();
        test(dir.path());
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
}

fn host(dir: &Path) -> HostSetup {
    HostSetup {
        embedded: EmbeddedCommand::this_program([CHILD]).unwrap(),
        cache_dir: dir.join("cache"),
        state_dir: dir.join("state"),
        java_home: None,
        path: None,
        remark: |_| {},
    }
}

fn question(dir: &Path) -> Question {
    let file = dir.join("tiny.yaml");
    fs::write(&file, SCENARIO).unwrap();
    Question::read(file.to_str().unwrap(), &ScenarioChanges::default()).unwrap()
}

/// Names of the events, progress once per repeat; asks to stop when the n-th repeat has sent something.
struct Recorder {
    seen: Vec<String>,
    stop_in: Option<(usize, StopRequests)>,
    repeats: usize,
}

impl Recorder {
    fn new() -> Self {
        Self {
            seen: Vec::new(),
            stop_in: None,
            repeats: 0,
        }
    }
}

impl Observer for Recorder {
    fn observe(&mut self, event: &RunEvent<'_>) {
        let name = match event {
            RunEvent::Remark(message) => format!("remark {message}"),
            RunEvent::Announced(run) => format!("announced {}", run.steps.len()),
            RunEvent::StepBegins(step) => format!(
                "step {} of {}",
                step.index + 1,
                step.count.unwrap_or_default()
            ),
            RunEvent::Activity(activity) => activity.to_string(),
            RunEvent::RepeatBegins(key) => {
                self.repeats += 1;
                format!("repeat {} begins", key.repeat)
            }
            RunEvent::Progress(view) => {
                if let Some((repeat, stop)) = &self.stop_in
                    && *repeat == self.repeats
                    && view.load.flows[0].acked > 0
                {
                    stop.request();
                }
                "load".to_owned()
            }
            RunEvent::Outage(message) => format!("outage {message}"),
            RunEvent::RepeatEnds { key, outcome } => match outcome {
                RepeatOutcome::Complete => format!("repeat {} ends", key.repeat),
                other => format!("repeat {}: {other:?}", key.repeat),
            },
            RunEvent::LoadJudged(judgement) => format!("load {}", judgement.load.rate),
            RunEvent::TunePhaseBegins(record) => format!("phase {}", record.phases.len()),
            RunEvent::TuneMeasured(_) => "measured".to_owned(),
            RunEvent::PairMeasured(test) => format!("pair {}", test.pairs),
            RunEvent::TrialFailed { name, why } => format!("{name} failed: {why}"),
            RunEvent::Closing { error } => format!("closing {error:?}"),
            RunEvent::Closed => "closed".to_owned(),
        };
        if self.seen.last() != Some(&name) {
            self.seen.push(name);
        }
    }

    fn taps(&mut self) -> RunTaps {
        RunTaps::default()
    }
}

fn a_run_leaves_a_folder(dir: &Path) {
    let question = question(dir);
    let target = RunTarget::parse(RunTarget::DEFAULT, &question).unwrap();
    let out = dir.join("out");
    let request = RunRequest {
        folder: FolderChoice::New(out.clone()),
        seed: Some(7),
        command: vec!["from a test".to_owned()],
        ..RunRequest::new(&question, &target, host(dir))
    };
    let mut observer = Recorder::new();
    let finished = run(&request, &mut observer).unwrap();
    assert_eq!(finished.dir, out);
    assert_eq!(finished.ended.unwrap(), RepeatEnd::Complete);
    assert_eq!(
        observer.seen,
        [
            "starting embedded",
            "announced 2",
            "step 1 of 2",
            "measuring this machine's ceiling",
            "repeat 0 begins",
            "load",
            "repeat 0 ends",
            "step 2 of 2",
            "measuring this machine's ceiling",
            "repeat 1 begins",
            "load",
            "repeat 1 ends",
            "closing None",
            "closed",
        ]
    );
    let (read, summary) = write_results(&out).unwrap();
    assert_eq!(read.head.command, ["from a test"]);
    assert_eq!(read.plan.unwrap().seed, 7);
    let acked = summary.trials[0].counted.iter().map(|one| one.acked);
    assert_eq!(acked.collect::<Vec<_>>(), [400, 400]);
    assert!(out.join("report.html").is_file());
    assert!(
        !out.join("target-data").exists(),
        "what the run wrote is gone"
    );
}

const VERIFIED: &str = "\
kgauge: 1
name: verified
question: Is every record where its ack said?
target: {brokers: 3}
topic: {partitions: 4, replication: 3, config: {min.insync.replicas: 2}}
flows:
  - name: writers
    kind: produce
    producers: 3
    shape: {constant: 4k/s}
    record: {size: 100 B}
    settings: {compression.type: lz4}
  - name: keyed
    kind: produce
    shape: {constant: 1k/s}
    record: {size: {uniform: {from: 50 B, to: 400 B}}, key: {uniform: {keys: 100}}, headers: {count: 2, key-size: 4 B, value-size: 8 B}}
    settings: {enable.idempotence: false}
  - name: echo
    kind: echo
    shape: {constant: 500/s}
    record: {size: 80 B}
  - {name: readers, kind: consume, consumers: 2}
  - {name: members, kind: consume, consumers: 2, group: true}
stages: {warm-up: 0 s, hold: 2 s}
verify: true
repeats: 1
";

/// Runs a verified scenario.
fn verified(dir: &Path, scenario: &str) -> kgauge_analyze::Summary {
    let file = dir.join("verified.yaml");
    fs::write(&file, scenario).unwrap();
    let question = Question::read(file.to_str().unwrap(), &ScenarioChanges::default()).unwrap();
    let target = RunTarget::parse("embedded:3", &question).unwrap();
    let request = RunRequest {
        folder: FolderChoice::New(dir.join("out")),
        ..RunRequest::new(&question, &target, host(dir))
    };
    let finished = run(&request, &mut Recorder::new()).unwrap();
    assert_eq!(finished.ended.unwrap(), RepeatEnd::Complete);
    write_results(&finished.dir).unwrap().1
}

fn every_record_is_read_back(dir: &Path) {
    let summary = verified(dir, VERIFIED);
    let check = summary.verification().unwrap();
    assert_eq!(check.anomalies, []);
    assert_eq!(check.unchecked, []);
    assert!(check.acked > 8_000, "{check:?}");
    assert_eq!(
        (check.confirmed, check.read),
        (check.acked, check.acked),
        "every flow's records, and no others"
    );
    let counted: u64 = summary.trials[0].counted.iter().map(|one| one.acked).sum();
    assert_eq!(check.acked, counted);
    let repeat = summary.trials[0].repeats[0].verification.as_ref().unwrap();
    assert_eq!(
        repeat.replicas_compared, 8,
        "two followers of four partitions"
    );
    assert_eq!(summary.exit_status, 0);
}

const LOSING: &str = "\
kgauge: 1
name: losing
question: What does acks=1 lose when a machine fails?
target: {brokers: 3}
topic: {partitions: 1, replication: 3}
flows:
  - name: writers
    kind: produce
    shape: {constant: 20k/s}
    record: {size: 100 B}
    settings: {acks: ACKS, delivery.timeout.ms: 60000}
stages: {warm-up: 0 s, hold: 6 s, drain: 60 s}
faults:
  - {at: 2 s, node: all, crash: true, restart-after: 1 s}
verify: true
repeats: 1
";

fn a_failed_machine_loses_records(dir: &Path) {
    let summary = verified(dir, &LOSING.replace("ACKS", "1"));
    let check = summary.verification().unwrap();
    // Nothing was flushed, so that everything before the crash is lost; the settings permit that.
    assert!(check.acked - check.confirmed > 1_000, "{check:?}");
    assert_eq!(check.forbidden().count(), 0, "{check:?}");
    assert_eq!(check.unchecked, []);
    let lost = &check.anomalies[0];
    assert_eq!(lost.anomaly, kgauge_results::run::Anomaly::LostWrite);
    assert_eq!(lost.count, check.acked - check.confirmed);
    let fault = lost.examples[0].place.fault.as_deref();
    assert_eq!(fault, Some("all nodes: crash"));
}

fn a_cluster_that_is_gone_at_the_end_is_checked(dir: &Path) {
    let losing = LOSING.replace("ACKS", "1");
    let gone = losing.replace(", restart-after: 1 s", "");
    let gone = gone.replace("hold: 6 s, drain: 60 s", "hold: 4 s, drain: 2 s");
    let summary = verified(dir, &gone);
    let check = summary.verification().unwrap();
    assert!(check.acked - check.confirmed > 1_000, "{check:?}");
    assert_eq!(check.forbidden().count(), 0, "{check:?}");
    assert_eq!(check.unchecked, []);
}

/// Runs a question into the folder `out` until its n-th repeat has sent something.
fn run_until(question: &Question, dir: &Path, repeat: usize) -> Recorder {
    let target = RunTarget::parse(RunTarget::DEFAULT, question).unwrap();
    let request = RunRequest {
        folder: FolderChoice::New(dir.join("out")),
        seed: Some(7),
        ..RunRequest::new(question, &target, host(dir))
    };
    let mut observer = Recorder::new();
    observer.stop_in = Some((repeat, request.stop.clone()));
    let finished = run(&request, &mut observer).unwrap();
    assert_eq!(finished.ended.unwrap(), RepeatEnd::Interrupted);
    observer
}

/// Resumes the run in the folder `out`.
fn resume(dir: &Path) -> Recorder {
    let out = dir.join("out");
    let question = Question::resumed(&out).unwrap();
    let target = RunTarget::parse(RunTarget::DEFAULT, &question).unwrap();
    let request = RunRequest {
        folder: FolderChoice::Resume(out),
        ..RunRequest::new(&question, &target, host(dir))
    };
    let mut observer = Recorder::new();
    let finished = run(&request, &mut observer).unwrap();
    assert_eq!(finished.ended.unwrap(), RepeatEnd::Complete);
    observer
}

fn a_stop_ends_the_load(dir: &Path) {
    let observer = run_until(&question(dir), dir, 1);
    let is_marked = |name: &String| name == "repeat 0: Interrupted";
    assert!(observer.seen.iter().any(is_marked), "{:?}", observer.seen);
    let (read, _) = write_results(&dir.join("out")).unwrap();
    assert_eq!(read.status, RunStatus::Interrupted);
    assert_eq!(read.repeats.len(), 1);
    let is_stop = |event: &kgauge_results::run::Event| event.kind == EventKind::Interrupted;
    assert!(read.events.iter().any(is_stop));
}

fn a_hook_that_fails(dir: &Path) {
    let question = question(dir);
    let target = RunTarget::parse(RunTarget::DEFAULT, &question).unwrap();
    let out = dir.join("out");
    let request = RunRequest {
        folder: FolderChoice::New(out.clone()),
        on_target_ready: Some(&|cluster, _| {
            let brokers = cluster.metadata().brokers.len();
            Err(RunError::input(format!("{brokers} broker is not enough")))
        }),
        ..RunRequest::new(&question, &target, host(dir))
    };
    let mut observer = Recorder::new();
    let error = run(&request, &mut observer).unwrap_err();
    assert_eq!(error.to_string(), "1 broker is not enough");
    assert_eq!(error.subject(), ErrorSubject::Input);
    assert!(!out.exists());
    assert_eq!(observer.seen, ["starting embedded"]);
}

fn an_interrupted_run_goes_on(dir: &Path) {
    run_until(&question(dir), dir, 2);
    let observer = resume(dir);
    assert_eq!(observer.seen[1], "announced 1");
    let (read, _) = write_results(&dir.join("out")).unwrap();
    assert_eq!((read.status, read.repeats.len()), (RunStatus::Complete, 2));
}

/// The node serves 1,000 records per second. Nothing of that is in the search.
const LIMITED: &str = "\
kgauge: 1
name: limited
question: How much can it take?
topic: {partitions: 1}
flows:
  - {name: writers, kind: produce, shape: max, record: {size: 100 B}, settings: {batch.size: 4 KiB, buffer.memory: 256 KiB}}
stages: {warm-up: 1 s, drain: 10 s}
faults:
  - {at: start, node: all, api: produce, capacity: 1k/s}
search: {goals: [p99 <= 40 ms], window: 1 s, duration: 2 s, width: 10 %}
";

fn a_search_finds_a_capacity(dir: &Path) {
    let question = Question::of_text("limited", LIMITED, &ScenarioChanges::default()).unwrap();
    let out = dir.join("out");
    run_until(&question, dir, 3);
    let (read, summary) = write_results(&out).unwrap();
    let before = read.search.unwrap().searches;
    assert_eq!((before.len(), before[0].loads.len()), (1, 1));
    assert_eq!((&before[0].end, summary.exit_status), (&None, 130));

    resume(dir);
    let (read, summary) = write_results(&out).unwrap();
    let searches = read.search.unwrap().searches;
    if let Some(SearchEnd::Void { cause }) = &searches[0].end {
        // Other tests may take the processors of this machine.
        return println!("inconclusive: {cause:?}");
    }
    assert_eq!(
        (searches.len(), &searches[0].end),
        (1, &Some(SearchEnd::Found))
    );
    assert_eq!(searches[0].loads[0], before[0].loads[0]);
    let search = &summary.capacities[0].searches[0];
    let (lower, upper) = (search.strict.lower.unwrap(), search.strict.upper.unwrap());
    // A backlog that grows for two seconds before it takes 40 ms is 2 % of the rate.
    assert!(lower < 1_030.0 && upper > 900.0, "{search:#?}");
    assert!(lower > 500.0, "{search:#?}");
    assert!(search.is_narrow && summary.exit_status == 0, "{search:#?}");
}

fn an_ab_test_finds_a_difference(dir: &Path) {
    // Side B may write 30 % more. Nothing of that is in the test.
    let side = |capacity: &str| {
        let text = format!(
            "kgauge: 1\nname: limited\nquestion: Which is faster?\ntopic: {{partitions: 1}}\nflows:\n  \
             - {{name: writers, kind: produce, shape: max, record: {{size: 100 B}}, settings: \
             {{batch.size: 4 KiB, buffer.memory: 256 KiB}}}}\nstages: {{warm-up: 500 ms, hold: 1 s, \
             drain: 10 s}}\nfaults:\n  - {{at: start, node: all, api: produce, capacity: {capacity}}}\n"
        );
        Question::of_text("limited", &text, &ScenarioChanges::default()).unwrap()
    };
    let wish = AbRequest {
        kind: AbKind::Settings,
        names: ["1k/s".to_owned(), "1.3k/s".to_owned()],
        options: AbOptions::default(),
    };
    let question = two_sides(side("1k/s"), &side("1300/s"), &wish).unwrap();
    let out = dir.join("out");
    run_until(&question, dir, 3);
    let (read, summary) = write_results(&out).unwrap();
    let before = read.ab.unwrap();
    assert_eq!((before.blocks.len(), &before.end), (1, &None));
    assert_eq!(summary.exit_status, 130);

    let observer = resume(dir);
    assert!(observer.seen.iter().any(|seen| seen == "pair 2"));
    let (read, summary) = write_results(&out).unwrap();
    let record = read.ab.unwrap();
    assert_eq!(record.blocks[0], before.blocks[0]);
    let test = summary.ab.unwrap();
    assert_eq!(
        (test.verdict, test.better()),
        (AbVerdict::Different, Some(AbSide::B))
    );
    assert_eq!((record.end, summary.exit_status), (Some(AbEnd::Decided), 0));
    let ratio = test.ratio.unwrap();
    assert!((1.1..1.5).contains(&ratio), "{test:#?}");
    let trials = summary.trials.iter();
    assert!(
        trials
            .map(|trial| trial.repeats_measured)
            .all(|count| count >= 7)
    );
}

fn what_cannot_be_run(dir: &Path) {
    let question = question(dir);
    let error = RunTarget::parse("embeded", &question).unwrap_err();
    assert_eq!(error.subject(), ErrorSubject::Input);
    let changes = ScenarioChanges {
        only: vec!["tiny".to_owned()],
        ..ScenarioChanges::default()
    };
    let file = dir.join("tiny.yaml");
    let error = Question::read(file.to_str().unwrap(), &changes).unwrap_err();
    assert!(error.to_string().contains("--only"), "{error}");
    let error = Question::read("no-such-study", &changes).unwrap_err();
    assert!(error.to_string().contains("no-such-study"), "{error}");
}
