//! The sampler as a run uses it.

#![allow(clippy::unwrap_used, reason = "tests")]
#![cfg(target_os = "linux")]

use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use kgauge_observe::{Sampler, SamplingPlan, UserSpeed, WatchedProcess};
use kgauge_results::run::{Evidence, EvidenceKind, RepeatKey, Subject};

const KEY: RepeatKey = RepeatKey {
    trial: 3,
    repeat: 1,
};

/// A process that lives until its standard input closes.
fn sleeper() -> Child {
    Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

fn start(watch: SamplingPlan) -> (Sampler, Receiver<Evidence>) {
    let origin = Instant::now();
    let now_ns = move || u64::try_from(origin.elapsed().as_nanos()).unwrap();
    let (sender, receiver) = channel();
    let sink = move |evidence: &Evidence| {
        sender
            .send(evidence.clone())
            .map_err(|_| "nobody listens".to_owned())
    };
    (
        Sampler::start(watch, Vec::new(), now_ns, sink).unwrap(),
        receiver,
    )
}

fn is_cpu(evidence: &Evidence) -> bool {
    matches!(evidence.kind, EvidenceKind::Cpu { .. })
}

#[test]
fn it_looks_at_the_start_and_at_the_stop_and_stops_at_once() {
    let mut child = sleeper();
    let target = WatchedProcess {
        pid: child.id(),
        subject: Subject::Target { broker: Some(2) },
    };
    let watch = SamplingPlan {
        every: Duration::from_secs(3600),
        repeat: Some(KEY),
        targets: vec![target],
        data_dirs: vec![std::env::temp_dir()],
        speeds: Vec::new(),
    };
    let (sampler, receiver) = start(watch);
    let data = receiver.recv().unwrap();
    assert!(matches!(data.kind, EvidenceKind::DataDir(_)), "{data:?}");
    let first = receiver.recv().unwrap();
    assert_eq!(
        (first.repeat, first.subject.clone()),
        (Some(KEY), Subject::Generator)
    );
    let before = Instant::now();
    let report = sampler.stop();
    assert!(before.elapsed() < Duration::from_secs(60));
    assert_eq!((report.looks, report.notes.as_slice()), (2, &[][..]));
    let seen: Vec<Evidence> = std::iter::once(first).chain(receiver).collect();
    for subject in [
        Subject::Generator,
        Subject::Target { broker: Some(2) },
        Subject::Host,
    ] {
        let of = seen
            .iter()
            .filter(|seen| seen.subject == subject && is_cpu(seen));
        assert_eq!(of.count(), 2, "{subject:?}");
    }
    let memory = seen
        .iter()
        .find(|seen| matches!(seen.kind, EvidenceKind::Memory { .. }));
    assert!(memory.is_some());
    let last = &seen.last().unwrap().kind;
    assert!(
        matches!(last, EvidenceKind::Observing { looks: 2, cpu_ns, .. } if *cpu_ns == report.cpu_ns),
        "{last:?}"
    );
    drop(child.stdin.take());
    child.wait().unwrap();
}

#[test]
fn looks_fall_on_multiples_of_the_interval() {
    let every = Duration::from_millis(20);
    let (sampler, receiver) = start(SamplingPlan {
        every,
        repeat: None,
        targets: Vec::new(),
        data_dirs: Vec::new(),
        speeds: Vec::new(),
    });
    let host = |seen: &Evidence| seen.subject == Subject::Host && is_cpu(seen);
    let times: Vec<u64> = receiver
        .iter()
        .filter(host)
        .map(|seen| seen.at_ns.unwrap())
        .take(5)
        .collect();
    drop(sampler);
    for (number, pair) in times.windows(2).enumerate() {
        let slots = (pair[0] / 20_000_000, pair[1] / 20_000_000);
        assert!(slots.1 > slots.0, "look {number}: {times:?}");
    }
}

#[test]
fn all_of_one_look_has_one_time_and_the_whole_machine_is_in_it() {
    let (sampler, receiver) = start(SamplingPlan::each_second(KEY, Vec::new()));
    let first_ns = receiver.recv().unwrap().at_ns;
    sampler.stop();
    let look: Vec<Evidence> = receiver
        .iter()
        .take_while(|seen| seen.at_ns == first_ns)
        .collect();
    let has = |is_it: fn(&EvidenceKind) -> bool| look.iter().any(|seen| is_it(&seen.kind));
    assert!(has(|kind| matches!(kind, EvidenceKind::Process(_))));
    assert!(has(|kind| matches!(kind, EvidenceKind::Idle(_))));
    assert!(has(|kind| matches!(kind, EvidenceKind::HostMemory(_))));
    assert!(has(|kind| matches!(kind, EvidenceKind::Network(_))));
    // Pressure stall information is a kernel setting: it is sampled, or kgauge reports why it is missing.
    let waits = |kind: &EvidenceKind| match kind {
        EvidenceKind::Pressure(_) => true,
        EvidenceKind::NotSeen(not_seen) => not_seen.what.contains("pressure (PSI)"),
        _ => false,
    };
    assert_eq!(look.iter().filter(|seen| waits(&seen.kind)).count(), 3);
    for seen in &look {
        let line = serde_json::to_string(seen).unwrap();
        assert_eq!(&serde_json::from_str::<Evidence>(&line).unwrap(), seen);
    }
}

#[test]
fn a_speed_given_by_the_user_is_emitted_once() {
    let given = UserSpeed {
        interface: "lo".to_owned(),
        bits_per_s: 300_000_000,
    };
    let mut watch = SamplingPlan::each_second(KEY, Vec::new()).with_speeds(vec![given]);
    watch.every = Duration::from_millis(5);
    let (sampler, receiver) = start(watch);
    let mut looks = receiver.iter().filter(|seen| {
        matches!(&seen.kind, EvidenceKind::NetworkSpeed(speed) if speed.interface == "lo")
            || seen.subject == Subject::Host && is_cpu(seen)
    });
    let mut all: Vec<Evidence> = looks.by_ref().take(6).collect();
    sampler.stop();
    all.extend(looks);
    all.retain(|seen| !is_cpu(seen));
    let [speed] = all.as_slice() else {
        panic!("{all:?}");
    };
    assert_eq!(speed.subject, Subject::Host);
    let line = serde_json::to_value(speed).unwrap();
    assert_eq!(line["evidence"], "network-speed");
    assert_eq!(line["bits_per_s"], 300_000_000);
    assert_eq!(line["told_by"], "user");
}

#[test]
fn load_threads_are_identified_by_their_number() {
    let (sender, stop) = channel::<()>();
    let worker = std::thread::Builder::new().name("load-5".to_owned());
    let worker = worker.spawn(move || stop.recv()).unwrap();
    let (sampler, receiver) = start(SamplingPlan::each_second(KEY, Vec::new()));
    let thread = Subject::GeneratorThread { thread: 5 };
    assert!(receiver.iter().any(|seen| seen.subject == thread));
    drop(sampler);
    drop(sender);
    let _ = worker.join().unwrap();
}

#[test]
fn a_target_that_is_gone_is_reported_once() {
    let mut child = sleeper();
    let pid = child.id();
    let every = Duration::from_millis(5);
    let target = Subject::Target { broker: None };
    let subject = target.clone();
    let targets = vec![WatchedProcess { pid, subject }];
    let (sampler, receiver) = start(SamplingPlan {
        every,
        repeat: None,
        targets,
        data_dirs: Vec::new(),
        speeds: Vec::new(),
    });
    assert!(receiver.iter().any(|seen| seen.subject == target));
    drop(child.stdin.take());
    child.wait().unwrap();
    let looks = receiver
        .iter()
        .filter(|seen| seen.subject == Subject::Host && is_cpu(seen))
        .take(3);
    assert_eq!(looks.count(), 3);
    let report = sampler.stop();
    assert_eq!(report.notes, [format!("process {pid} has exited")]);
}

#[test]
fn a_sink_that_complains_is_heard_once() {
    let origin = Instant::now();
    let now_ns = move || u64::try_from(origin.elapsed().as_nanos()).unwrap();
    let watch = SamplingPlan::each_second(KEY, Vec::new());
    let report = Sampler::start(watch, Vec::new(), now_ns, |_| Err("disk full".to_owned()))
        .unwrap()
        .stop();
    assert_eq!(report.notes, ["disk full"]);
}

/// What a look costs, printed: `cargo test -p kgauge-observe -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement of some seconds, for whoever wants the figure"]
fn the_cost_of_looking() {
    let mut child = sleeper();
    let stops: Vec<_> = (0..4)
        .map(|number| {
            let (sender, stop) = channel::<()>();
            let worker = std::thread::Builder::new().name(format!("load-{number}"));
            worker.spawn(move || stop.recv()).unwrap();
            sender
        })
        .collect();
    let every = Duration::from_millis(10);
    let targets = vec![WatchedProcess {
        pid: child.id(),
        subject: Subject::Target { broker: None },
    }];
    let (sampler, receiver) = start(SamplingPlan {
        every,
        repeat: None,
        targets,
        data_dirs: Vec::new(),
        speeds: Vec::new(),
    });
    assert!(
        receiver
            .iter()
            .any(|seen| seen.at_ns.unwrap() > 3_000_000_000)
    );
    let report = sampler.stop();
    let look_us = report.cpu_ns as f64 / report.looks as f64 / 1e3;
    println!(
        "{} looks, {look_us:.0} us each: {:.4} % of a core",
        report.looks,
        look_us / 1e4
    );
    assert!(
        look_us < 10_000.0,
        "more than one percent of a core, once a second"
    );
    drop(stops);
    drop(child.stdin.take());
    child.wait().unwrap();
}
