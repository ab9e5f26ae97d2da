//! The real embedded cluster as a child process of this very test program.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that is its own harness"
)]

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use kgauge_client::admin::CreateTopicError;
use kgauge_client::{ClientConfig, Cluster, Interrupt};
use kgauge_scenario::{CutDirection, CutEnd, Fault, RequestFault, TargetKind};
use kgauge_target::kafka::KafkaSetup;
use kgauge_target::{
    AdoptError, EmbeddedCommand, EmbeddedError, EmbeddedSetup, Injection, Instruction, Layout,
    MakeTopicError, MetricsPlace, NodeState, StartSetup, Target, TargetError, TargetSpec,
    TopicGuard, TopicWish, adopt, embedded_main,
};

/// Gets a directory of its own.
type Test = fn(&Path);

const CHILD: &str = "embedded-cluster";
const PARENT: &str = "parent-that-will-be-killed";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some(CHILD) => {
            let log = std::io::stderr();
            return ExitCode::from(embedded_main(std::io::stdin(), std::io::stdout(), log));
        }
        Some(PARENT) => return be_a_parent(Path::new(&arguments[1])),
        // What cargo test and editors pass on: names are filters, options mean nothing here.
        _ => {}
    }
    let tests: [(&str, Test); 10] = [
        (
            "three_nodes_serve_and_leave_nothing_behind",
            three_nodes_serve_and_leave_nothing_behind,
        ),
        ("facts_and_room_are_told", facts_and_room_are_told),
        (
            "an_existing_topic_is_used_as_it_is",
            an_existing_topic_is_used_as_it_is,
        ),
        (
            "a_killed_child_is_noticed_and_its_data_removed",
            a_killed_child_is_noticed,
        ),
        (
            "a_killed_parent_takes_the_child_along",
            a_killed_parent_takes_the_child_along,
        ),
        (
            "kept_data_is_there_at_the_next_start",
            kept_data_is_there_at_the_next_start,
        ),
        (
            "a_directory_of_somebody_else_is_not_touched",
            a_directory_of_somebody_else,
        ),
        (
            "what_is_asked_of_the_child_is_done_or_refused_in_words",
            what_is_asked_of_the_child_is_done,
        ),
        (
            "nodes_report_their_counts_or_why_they_have_none",
            nodes_report_their_counts,
        ),
        (
            "the_guard_deletes_what_it_made_and_nothing_else",
            the_guard_deletes_what_it_made,
        ),
    ];
    for (name, test) in tests {
        if arguments
            .iter()
            .any(|argument| !argument.starts_with('-') && !name.contains(argument))
        {
            continue;
        }
        let dir = tempfile::tempdir().unwrap();
        let start = Instant::now();
        test(dir.path());
        println!(
            "test {name} ... ok ({:.2} s)",
            start.elapsed().as_secs_f64()
        );
    }
    ExitCode::SUCCESS
}

fn setup(dir: &Path) -> EmbeddedSetup {
    EmbeddedSetup {
        command: EmbeddedCommand::this_program([CHILD]).unwrap(),
        data_dir: dir.join("data"),
        keep_data: false,
        file_reuse: None,
        log_file: dir.join("embedded.log"),
        private_dir: dir.join("private"),
        seed: 7,
        time_limit: Duration::from_secs(60),
    }
}

fn start(spec: &str, setup: &EmbeddedSetup) -> Target {
    try_start(spec, setup).unwrap()
}

fn try_start(spec: &str, setup: &EmbeddedSetup) -> Result<Target, TargetError> {
    let dir = setup.data_dir.parent().unwrap();
    let setup = StartSetup {
        embedded: setup.clone(),
        kafka: KafkaSetup {
            name: "none".to_owned(),
            cache_dir: dir.join("cache"),
            state_dir: dir.join("state"),
            data_dir: dir.join("kafka-data"),
            keep_data: false,
            log_dir: dir.join("kafka-logs"),
            java_home: None,
            path: None,
            time_limit: Duration::from_secs(1),
            remark: |_| (),
        },
    };
    Target::start(&TargetSpec::parse(spec).unwrap(), &setup, &Interrupt::new())
}

fn wish(label: &str) -> TopicWish {
    TopicWish {
        label: label.to_owned(),
        partitions: 3,
        replication_factor: 1,
        configs: Vec::new(),
    }
}

/// Whether a process of that number is there and has not ended.
fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

fn three_nodes_serve_and_leave_nothing_behind(dir: &Path) {
    let setup = setup(dir);
    let mut target = start("embedded:3", &setup);
    let mut cluster = target.connect(Interrupt::new()).unwrap();
    assert_eq!(cluster.metadata().brokers.len(), 3);
    let mut guard = TopicGuard::new(target.config().clone(), "run-1").unwrap();
    let topic = guard.create(&mut cluster, &wish("a")).unwrap();
    assert_eq!(cluster.end_offsets(&topic).unwrap(), [0, 0, 0]);
    assert_eq!(
        guard
            .delete_all(&mut cluster, Duration::from_secs(60))
            .len(),
        0
    );
    target.check().unwrap();
    let pid = target.pids()[0];
    assert!(setup.data_dir.exists());
    target.stop().unwrap();
    assert!(!lives(pid));
    assert!(!setup.data_dir.exists());
}

fn facts_and_room_are_told(dir: &Path) {
    let target = start("embedded:2,log.segment.bytes=1048576", &setup(dir));
    let mut cluster = target.connect(Interrupt::new()).unwrap();
    let facts = target.facts(&mut cluster).unwrap();
    assert_eq!(facts.brokers.len(), 2);
    assert_eq!(facts.same_machine, Some(true));
    assert!(facts.version.as_deref().unwrap().starts_with("kgauge "));
    assert_eq!(facts.reported_kind(), TargetKind::Embedded);
    // The same cluster, given by its addresses.
    let mut given = facts.clone();
    given.kind = TargetKind::Existing;
    assert_eq!(given.reported_kind(), TargetKind::ExistingEmbedded);
    given.cluster_id = Some("MkU3OEVBNTcwNTJENDM2Qg".to_owned());
    assert_eq!(given.reported_kind(), TargetKind::Existing);
    assert_eq!(facts.brokers[0].settings["log.segment.bytes"], "1048576");
    assert_eq!(facts.for_plan().brokers, 2);
    let disks = target.disks(&mut cluster).unwrap();
    assert_eq!(disks.len(), 1);
    assert!(disks[0].free_bytes.unwrap() > 0);
    target.stop().unwrap();
}

fn kill(pid: u32) {
    let status = Command::new("kill")
        .args(["-9", &pid.to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

fn a_killed_child_is_noticed(dir: &Path) {
    let setup = setup(dir);
    let mut target = start("embedded", &setup);
    kill(target.pids()[0]);
    let begin = Instant::now();
    let error = loop {
        match target.check() {
            Ok(()) => assert!(begin.elapsed().as_secs() < 20, "the death went unnoticed"),
            Err(error) => break error,
        }
        std::thread::yield_now();
    };
    let TargetError::Embedded(EmbeddedError::Ended { status, .. }) = &error else {
        panic!("{error}");
    };
    assert!(status.contains("SIGKILL"), "{status}");
    assert!(target.stop().is_err());
    assert!(!setup.data_dir.exists());
}

/// Starts a cluster, tells the child's pid, and waits to be killed.
fn be_a_parent(dir: &Path) -> ExitCode {
    let target = start("embedded", &setup(dir));
    println!("{}", target.pids()[0]);
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    ExitCode::SUCCESS
}

fn a_killed_parent_takes_the_child_along(dir: &Path) {
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args([PARENT, dir.to_str().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut output = std::io::BufReader::new(parent.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut output, &mut line).unwrap();
    let child: u32 = line.trim().parse().unwrap();
    assert!(lives(child) && dir.join("data").exists());
    parent.kill().unwrap();
    parent.wait().unwrap();
    let limit = Instant::now() + Duration::from_secs(60);
    while lives(child) {
        assert!(Instant::now() < limit, "the child outlived its parent");
        std::thread::yield_now();
    }
    assert!(!dir.join("data").exists(), "the child removed its data");
}

fn kept_data_is_there_at_the_next_start(dir: &Path) {
    let setup = EmbeddedSetup {
        keep_data: true,
        ..setup(dir)
    };
    let target = start("embedded", &setup);
    let mut cluster = target.connect(Interrupt::new()).unwrap();
    let mut guard = TopicGuard::new(target.config().clone(), "run-2").unwrap();
    let topic = guard.create(&mut cluster, &wish("kept")).unwrap();
    assert_eq!(guard.keep(), [topic.as_str()]);
    target.stop().unwrap();
    let target = start("embedded", &setup);
    let mut cluster = target.connect(Interrupt::new()).unwrap();
    assert_eq!(cluster.end_offsets(&topic).unwrap(), [0, 0, 0]);
    target.stop().unwrap();
    assert!(setup.data_dir.exists());
}

fn a_directory_of_somebody_else(dir: &Path) {
    let setup = setup(dir);
    std::fs::create_dir(&setup.data_dir).unwrap();
    std::fs::write(setup.data_dir.join("mine"), "precious").unwrap();
    let error = try_start("embedded", &setup).unwrap_err();
    assert!(error.to_string().contains("cannot create"), "{error}");
    assert_eq!(
        std::fs::read_to_string(setup.data_dir.join("mine")).unwrap(),
        "precious"
    );
}

fn topics_of(config: &ClientConfig, names: &[&str]) -> Vec<bool> {
    let mut cluster = Cluster::bootstrap(config.clone()).unwrap();
    let metadata = cluster.refresh(names).unwrap();
    names
        .iter()
        .map(|name| metadata.topic(name).is_some_and(|t| t.error.is_none()))
        .collect()
}

fn the_guard_deletes_what_it_made(dir: &Path) {
    let target = start("embedded", &setup(dir));
    let mut cluster = target.connect(Interrupt::new()).unwrap();
    let guard = |run| TopicGuard::new(target.config().clone(), run).unwrap();
    let mut owner = guard("same");
    let theirs = owner.create(&mut cluster, &wish("x")).unwrap();
    let mut late = guard("same");
    let error = late.create(&mut cluster, &wish("x")).unwrap_err();
    assert!(
        matches!(
            &error,
            MakeTopicError::Wire(CreateTopicError::Exists { .. })
        ),
        "{error}"
    );
    let own = late.create(&mut cluster, &wish("y")).unwrap();
    late.delete(&mut cluster, &theirs).unwrap();
    assert_eq!(topics_of(target.config(), &[&theirs, &own]), [true, true]);
    drop(late);
    assert_eq!(topics_of(target.config(), &[&theirs, &own]), [true, false]);
    assert_eq!(
        owner
            .delete_all(&mut cluster, Duration::from_secs(60))
            .len(),
        0
    );
    target.stop().unwrap();
}

fn an_existing_topic_is_used_as_it_is(dir: &Path) {
    let target = start("embedded", &setup(dir));
    let mut cluster = target.connect(Interrupt::new()).unwrap();
    let mut owner = TopicGuard::new(target.config().clone(), "owner").unwrap();
    let topic = owner.create(&mut cluster, &wish("x")).unwrap();
    let layout = |partitions, replicas| Layout {
        partitions,
        replicas,
    };
    adopt(&mut cluster, &topic, layout(3, 1)).unwrap();
    let error = adopt(&mut cluster, &topic, layout(4, 1)).unwrap_err();
    let words = error.to_string();
    assert!(
        words.contains("has 3 partitions, but the trial wants 4"),
        "{words}"
    );
    let error = adopt(&mut cluster, &topic, layout(3, 2)).unwrap_err();
    let words = error.to_string();
    assert!(words.contains("has 1 replicas of partition 0, but the trial wants 2"));
    let error = adopt(&mut cluster, "nowhere", layout(3, 1)).unwrap_err();
    assert!(matches!(error, AdoptError::Missing { .. }), "{error}");
    assert_eq!(
        topics_of(target.config(), &[&topic, "nowhere"]),
        [true, false]
    );
    assert_eq!(
        owner
            .delete_all(&mut cluster, Duration::from_secs(60))
            .len(),
        0
    );
    target.stop().unwrap();
}

fn injection(node: u16, fault: Fault) -> Injection {
    Injection {
        key: 0,
        node: Some(node),
        fault,
        seed: 0,
    }
}

fn inject(node: u16, fault: Fault) -> Instruction {
    Instruction::Inject(injection(node, fault))
}

#[track_caller]
fn refused(target: &mut Target, instruction: Instruction, words: &str) {
    let error = target.instruct(&instruction).unwrap_err().to_string();
    assert!(error.contains(words), "{error}");
}

fn what_is_asked_of_the_child_is_done(dir: &Path) {
    let mut target = start("embedded:3", &setup(dir));
    let mut cluster = target.connect(Interrupt::new()).unwrap();
    let stall = |key, length_ms: u64| {
        let length_ns = length_ms * 1_000_000;
        let fault = Fault::Requests {
            api: Some("metadata".to_owned()),
            times: None,
            what: RequestFault::Stall { length_ns },
        };
        let (node, seed) = (None, 1);
        Injection {
            key,
            node,
            fault,
            seed,
        }
    };
    target
        .instruct(&Instruction::Inject(stall(7, 300)))
        .unwrap();
    let begin = Instant::now();
    cluster.refresh(&[]).unwrap();
    assert!(begin.elapsed() >= Duration::from_millis(250), "it stalled");
    let long = stall(8, 600_000);
    target.instruct(&Instruction::Inject(long.clone())).unwrap();
    target.instruct(&Instruction::Lift(long)).unwrap();
    cluster.refresh(&[]).unwrap();
    assert!(begin.elapsed() < Duration::from_secs(60), "it was lifted");

    let again = Instruction::Inject(stall(7, 1));
    refused(&mut target, again, "fault 7 already exists");
    refused(&mut target, inject(9, Fault::Crash), "there is no node 9");
    let resume = Instruction::Lift(injection(1, Fault::Pause));
    refused(&mut target, resume, "is not paused");

    let states = |target: &mut Target| -> Vec<NodeState> {
        let done = target.instruct(&Instruction::Sample).unwrap();
        done.nodes.iter().map(|node| node.state).collect()
    };
    assert_eq!(states(&mut target), [NodeState::Up; 3]);
    let crashed = target.instruct(&inject(2, Fault::Crash)).unwrap();
    assert!(crashed.lost_bytes.is_some());
    refused(&mut target, inject(2, Fault::Crash), "node 2 is down");
    assert_eq!(states(&mut target)[1], NodeState::Down);
    let (direction, end) = (CutDirection::To, CutEnd::Controller);
    for instruction in [
        inject(1, Fault::Cut { direction, end }),
        inject(3, Fault::Pause),
        inject(1, Fault::ClockOffset { ahead_ms: 5 }),
        inject(3, Fault::DiskFull { after_bytes: 5 }),
        Instruction::Restore,
    ] {
        target.instruct(&instruction).unwrap();
    }
    while states(&mut target) != [NodeState::Up; 3] {
        std::thread::yield_now();
    }
    target.stop().unwrap();
}

fn nodes_report_their_counts(dir: &Path) {
    const LIMIT: Duration = Duration::from_secs(20);
    let mut target = start("embedded:3", &setup(dir));
    assert_eq!(target.metrics(), Ok(MetricsPlace::Cluster));
    let mut cluster = target.connect(Interrupt::new()).unwrap();
    let mut guard = TopicGuard::new(target.config().clone(), "counted").unwrap();
    guard.create(&mut cluster, &wish("x")).unwrap();
    let leaders = |target: &mut Target| -> u64 {
        let reports = target.counts(LIMIT).unwrap();
        reports
            .iter()
            .map(|one| one.counts.as_ref().map_or(0, |counts| counts.leaders))
            .sum()
    };
    // Its three partitions are led by somebody.
    while leaders(&mut target) < 3 {
        std::thread::yield_now();
    }
    target.instruct(&inject(2, Fault::Crash)).unwrap();
    target.instruct(&inject(3, Fault::Pause)).unwrap();
    let reports = target.counts(LIMIT).unwrap();
    assert!(reports[0].counts.is_ok());
    assert_eq!(reports[1].counts, Err("node 2 is down".to_owned()));
    assert_eq!(reports[2].counts, Err("it stands still".to_owned()));
    target.instruct(&Instruction::Restore).unwrap();
    let reports = target.counts(LIMIT).unwrap();
    assert!(reports.iter().all(|one| one.counts.is_ok()), "{reports:?}");
    target.stop().unwrap();

    let mut target = start("embedded,metrics=off", &setup(&dir.join("off")));
    let off = Err("the target sets metrics=off".to_owned());
    assert_eq!(target.metrics(), off);
    let reports = target.counts(LIMIT).unwrap();
    assert_eq!(reports[0].counts, Err("the nodes count nothing".to_owned()));
    target.stop().unwrap();
}
