//! Breaking real Kafka on purpose: stop, kill, pause, resume, restart. It needs Java and Maven:
//!
//! `cargo test -p kgauge-target --test kafka_faults -- --ignored --test-threads=2`

#![allow(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use kgauge_client::{Cluster, Interrupt};
use kgauge_target::NodeState;
use kgauge_target::kafka::{KafkaSetup, KafkaSpec, KafkaTarget, ProcessId, clusters};

/// A cluster that starts quickly: without Java's second compiler, which gains nothing here.
fn spec(text: &str) -> KafkaSpec {
    KafkaSpec::parse(&format!("{text},heap=384M,jvm=-XX:TieredStopAtLevel=1")).unwrap()
}

fn setup(dir: &Path) -> KafkaSetup {
    KafkaSetup {
        name: "faults".to_owned(),
        cache_dir: PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cache/kgauge"),
        state_dir: dir.join("state"),
        data_dir: dir.join("data"),
        keep_data: false,
        log_dir: dir.join("logs"),
        java_home: std::env::var_os("JAVA_HOME").map(Into::into),
        path: std::env::var_os("PATH"),
        time_limit: Duration::from_secs(120),
        remark: |_| (),
    }
}

/// Waits for a line. Without one, the test was ended by a signal: kills what runs in its folder, and removes that.
const WATCH: &str = "read -r line && exit
for process in /proc/[0-9]*; do
    case $(readlink \"$process/cwd\" 2>/dev/null) in
        \"$1\"/*) kill -KILL \"${process#/proc/}\" ;;
    esac
done
rm -rf \"$1\"";

/// Ends the brokers of a test that a signal ends: nobody drops their handles then.
struct SignalWatch(Child);

impl SignalWatch {
    fn start(dir: &Path) -> Self {
        let watch = Command::new("sh")
            .args(["-c", WATCH, "sh"])
            .arg(dir.canonicalize().unwrap())
            .stdin(Stdio::piped())
            // The signals of a terminal do not reach it.
            .process_group(0)
            .spawn();
        Self(watch.unwrap())
    }
}

impl Drop for SignalWatch {
    fn drop(&mut self) {
        if let Some(mut stdin) = self.0.stdin.take() {
            let _ = stdin.write_all(b"\n");
        }
        let _ = self.0.wait();
    }
}

/// The pause between two looks. A wait without pauses would take a processor from the brokers.
const PAUSE: Duration = Duration::from_millis(20);

/// Waits until a broker that was told to start is registered.
fn wait_until_up(target: &mut KafkaTarget, id: u16) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !target.sample().unwrap().contains(&(id, NodeState::Up)) {
        assert!(Instant::now() < deadline, "broker {id} does not come back");
        std::thread::sleep(PAUSE);
    }
}

/// Waits until the cluster lists this many brokers.
fn wait_for_brokers(cluster: &mut Cluster, expected: usize) {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let seen = cluster.refresh(&[]).map(|metadata| metadata.brokers.len());
        if seen.as_ref().is_ok_and(|count| *count == expected) {
            return;
        }
        assert!(
            Instant::now() < deadline,
            "{seen:?} brokers, not {expected}"
        );
        std::thread::sleep(PAUSE);
    }
}

fn state(pid: u32) -> char {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(')').unwrap();
    rest.trim_start().chars().next().unwrap()
}

#[test]
#[ignore = "real Kafka"]
fn brokers_are_stopped_killed_paused_and_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let _watch = SignalWatch::start(dir.path());
    let spec = spec("4.3.1,brokers=3,controllers=1");
    let setup = setup(dir.path());
    let mut target = KafkaTarget::start(&spec, &setup, &Interrupt::new()).unwrap();
    assert_eq!(target.pids().len(), 4, "three brokers and a controller");
    assert!(!format!("{target:?}").contains("password"));
    let mut cluster = Cluster::bootstrap(target.config().clone()).unwrap();
    wait_for_brokers(&mut cluster, 3);

    target.begin_stop(1).unwrap();
    wait_for_brokers(&mut cluster, 2);
    assert!(target.begin_stop(1).is_err(), "it does not run");
    target.check().unwrap();
    target.begin_restart(1).unwrap();
    wait_until_up(&mut target, 1);
    wait_for_brokers(&mut cluster, 3);

    target.kill_broker(2).unwrap();
    wait_for_brokers(&mut cluster, 2);
    target.check().unwrap();
    target.begin_restart(2).unwrap();
    wait_until_up(&mut target, 2);
    wait_for_brokers(&mut cluster, 3);

    let third = target.pids()[2];
    target.pause_broker(3).unwrap();
    assert_eq!(state(third), 'T', "its clock stands still");
    target.resume_broker(3).unwrap();
    assert_ne!(state(third), 'T');
    assert!(target.resume_broker(3).is_err(), "it is not paused");
    assert!(target.kill_broker(4).is_err(), "there is none");

    // A paused one ends like the others.
    target.pause_broker(3).unwrap();
    let ids: Vec<ProcessId> = target
        .pids()
        .into_iter()
        .filter_map(ProcessId::of)
        .collect();
    assert_eq!(ids.len(), 4);
    target.stop().unwrap();
    assert!(ids.iter().all(|id| !id.is_alive()));
    assert!(!dir.path().join("data").exists());
    assert!(clusters(&setup.state_dir).unwrap().is_empty());
}

#[test]
#[ignore = "real Kafka"]
fn a_cluster_with_zookeeper_ends_in_order_too() {
    let dir = tempfile::tempdir().unwrap();
    let _watch = SignalWatch::start(dir.path());
    let spec = spec("2.8.2,brokers=2");
    let setup = setup(dir.path());
    let mut target = KafkaTarget::start(&spec, &setup, &Interrupt::new()).unwrap();
    assert_eq!(target.pids().len(), 3, "two brokers and ZooKeeper");
    target.kill_broker(2).unwrap();
    target.begin_restart(2).unwrap();
    wait_until_up(&mut target, 2);
    let ids: Vec<ProcessId> = target
        .pids()
        .into_iter()
        .filter_map(ProcessId::of)
        .collect();
    // Dropped without a word, as in a panic.
    drop(target);
    assert!(ids.iter().all(|id| !id.is_alive()));
    assert!(!dir.path().join("data").exists());
}

#[test]
#[ignore = "real Kafka"]
fn a_broker_that_crashes_loses_what_was_not_flushed_and_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let _watch = SignalWatch::start(dir.path());
    let mut spec = spec("4.3.1,brokers=1,controllers=1");
    spec.means.preload = true;
    let mut target = KafkaTarget::start(&spec, &setup(dir.path()), &Interrupt::new()).unwrap();
    let mut cluster = Cluster::bootstrap(target.config().clone()).unwrap();
    wait_for_brokers(&mut cluster, 1);
    // Nothing was written but what Kafka itself flushes.
    let lost = target.crash_broker(1).unwrap();
    assert!(lost < 1 << 20, "{lost} bytes");
    target.check().unwrap();
    target.begin_restart(1).unwrap();
    wait_until_up(&mut target, 1);
    target.stop().unwrap();
}

#[test]
#[ignore = "real Kafka"]
fn brokers_behind_a_proxy_form_a_cluster() {
    for text in [
        "4.3.1,brokers=3",
        "3.9.1,brokers=2,controllers=1",
        "1.0.2,brokers=2",
    ] {
        let dir = tempfile::tempdir().unwrap();
        let _watch = SignalWatch::start(dir.path());
        let mut spec = spec(text);
        spec.means.proxy = true;
        let mut target = KafkaTarget::start(&spec, &setup(dir.path()), &Interrupt::new()).unwrap();
        let mut cluster = Cluster::bootstrap(target.config().clone()).unwrap();
        wait_for_brokers(&mut cluster, usize::from(spec.brokers));
        target.check().unwrap();
        target.stop().unwrap();
    }
}
