//! The parent's side, against children that misbehave: small shell scripts in place of a cluster.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::time::{Duration, Instant};

use kgauge_client::Interrupt;
use kgauge_target::{
    EmbeddedCommand, EmbeddedError, EmbeddedSetup, EmbeddedSpec, EmbeddedTarget, ListenOptions,
};

const READY: &str = r#"read -r order; echo '{"ready":{"bootstrap_servers":"127.0.0.1:9"}}';"#;

fn setup(dir: &Path, script: &str) -> EmbeddedSetup {
    EmbeddedSetup {
        command: EmbeddedCommand {
            program: "sh".into(),
            arguments: vec!["-c".into(), script.into()],
        },
        data_dir: dir.join("data"),
        keep_data: false,
        file_reuse: None,
        log_file: dir.join("logs/embedded.log"),
        private_dir: dir.join("private"),
        seed: 1,
        time_limit: Duration::from_secs(20),
    }
}

fn start(setup: &EmbeddedSetup) -> Result<EmbeddedTarget, EmbeddedError> {
    EmbeddedTarget::start(&EmbeddedSpec::default(), setup, &Interrupt::new())
}

/// Whether a process of that number is there and has not ended.
fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn a_child_serves_until_its_input_closes() {
    let dir = tempfile::tempdir().unwrap();
    let script = format!("{READY} cat; echo bye >&2");
    let mut target = start(&setup(dir.path(), &script)).unwrap();
    assert_eq!(
        target.config().bootstrap_servers[0].to_string(),
        "127.0.0.1:9"
    );
    target.check().unwrap();
    let (pid, log) = (target.pid(), target.log_file().to_owned());
    assert!(lives(pid));
    target.stop().unwrap();
    assert!(!lives(pid));
    assert_eq!(std::fs::read_to_string(log).unwrap(), "bye\n");
}

#[test]
fn dropping_ends_and_reaps_the_child() {
    let dir = tempfile::tempdir().unwrap();
    let target = start(&setup(dir.path(), &format!("{READY} cat"))).unwrap();
    let pid = target.pid();
    drop(target);
    assert!(!lives(pid));
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
}

#[test]
fn the_child_has_a_process_group_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let target = start(&setup(dir.path(), &format!("{READY} cat"))).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", target.pid())).unwrap();
    let group = stat
        .rsplit_once(") ")
        .unwrap()
        .1
        .split(' ')
        .nth(2)
        .unwrap()
        .to_owned();
    assert_eq!(group, target.pid().to_string());
    target.stop().unwrap();
}

#[test]
fn the_first_line_describes_the_cluster() {
    let dir = tempfile::tempdir().unwrap();
    let script = r#"read -r order; echo "$order" >&2; echo '{"failed":{"words":"not today"}}'"#;
    let setup = setup(dir.path(), script);
    let spec = EmbeddedSpec {
        nodes: 3,
        is_count_written: true,
        settings: [("a".to_owned(), "b".to_owned())].into(),
        listening: ListenOptions {
            port: Some(9092),
            ..ListenOptions::default()
        },
        ..EmbeddedSpec::default()
    };
    let error = EmbeddedTarget::start(&spec, &setup, &Interrupt::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the embedded cluster did not start: not today"
    );
    let data = dir.path().join("data");
    assert_eq!(
        std::fs::read_to_string(&setup.log_file).unwrap(),
        format!(
            "{{\"nodes\":3,\"settings\":{{\"a\":\"b\"}},\"data_dir\":\"{}\",\"data\":\"remove\",\
             \"listening\":{{\"port\":9092}},\"seed\":1,\"record\":\"{}\",\"log_file\":\"{}\"}}\n",
            data.display(),
            dir.path().join("private.json").display(),
            setup.log_file.display()
        )
    );
    assert!(!dir.path().join("private.json").exists(), "nothing is left");
}

#[test]
fn the_error_of_a_child_that_ends_at_the_start_has_its_last_log_lines() {
    let dir = tempfile::tempdir().unwrap();
    let error = start(&setup(dir.path(), "echo 'out of luck' >&2; exit 7")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the embedded cluster exited unexpectedly (exit status: 7); the last lines of its log:\nout \
         of luck"
    );
}

#[test]
fn a_child_that_dies_in_mid_run_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let script = format!("{READY} echo 'disk full' >&2; exit 4");
    let mut target = start(&setup(dir.path(), &script)).unwrap();
    let begin = Instant::now();
    let error = loop {
        match target.check() {
            Ok(()) => assert!(begin.elapsed().as_secs() < 20, "the death went unnoticed"),
            Err(error) => break error,
        }
        std::thread::yield_now();
    };
    assert!(matches!(error, EmbeddedError::Ended { .. }), "{error}");
    assert!(error.to_string().ends_with("disk full"), "{error}");
    assert!(target.stop().is_err());
}

#[test]
fn a_silent_child_is_given_up_in_time() {
    let dir = tempfile::tempdir().unwrap();
    let mut setup = setup(dir.path(), "echo warming up >&2; cat >/dev/null");
    setup.time_limit = Duration::from_millis(300);
    let error = start(&setup).unwrap_err();
    assert!(
        matches!(&error, EmbeddedError::TimedOut { log, .. } if log == "warming up"),
        "{error}"
    );
}

#[test]
fn nonsense_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    let error = start(&setup(dir.path(), "echo hello; cat >/dev/null")).unwrap_err();
    assert_eq!(error.to_string(), "the embedded cluster answered \"hello\"");
    let script = r#"echo '{"ready":{"bootstrap_servers":"nowhere"}}'; cat >/dev/null"#;
    let error = start(&setup(dir.path(), script)).unwrap_err();
    assert!(matches!(error, EmbeddedError::Addresses(_)), "{error}");
}

#[test]
fn an_interrupt_ends_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let setup = setup(dir.path(), "cat >/dev/null");
    let interrupt = Interrupt::new();
    interrupt.raise();
    let begin = Instant::now();
    let error = EmbeddedTarget::start(&EmbeddedSpec::default(), &setup, &interrupt).unwrap_err();
    assert!(matches!(error, EmbeddedError::Interrupted), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_child_that_does_not_want_to_end_is_killed_and_its_data_removed() {
    let dir = tempfile::tempdir().unwrap();
    let script = format!("{READY} touch {0}/log; exec sleep 1000", "data");
    let mut setup = setup(
        dir.path(),
        &format!("cd {}; {script}", dir.path().display()),
    );
    setup.time_limit = Duration::from_secs(2);
    let target = start(&setup).unwrap();
    let pid = target.pid();
    let error = target.stop().unwrap_err();
    assert!(matches!(error, EmbeddedError::Killed { .. }), "{error}");
    assert!(!lives(pid));
    assert!(!setup.data_dir.exists());
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let mut setup = setup(dir.path(), "");
    setup.command.program = "/no/such/kgauge".into();
    let error = start(&setup).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("cannot start /no/such/kgauge"),
        "{error}"
    );
    setup.log_file = "/proc/no/log".into();
    let error = start(&setup).unwrap_err();
    assert!(
        error.to_string().starts_with("cannot create /proc/no"),
        "{error}"
    );
}

#[test]
fn counts_that_come_late_are_given_up_and_not_asked_for_twice() {
    let dir = tempfile::tempdir().unwrap();
    let go = dir.path().join("go");
    let count = r#"{"node":1,"counts":{"Err":"it is new"}}"#;
    let done = |number: u32, counts: &str| {
        format!(r#"echo '{{"done":{{"number":{number},"done":{{"counts":[{counts}]}}}}}}'"#)
    };
    let wait = format!("while [ ! -e {} ]; do sleep 0.01; done", go.display());
    // The second question is only read after the first answer.
    let script = format!(
        "{READY} read -r a; {wait}; {}; read -r b; echo \"$b\" >&2; {}; cat >/dev/null",
        done(1, ""),
        done(2, count)
    );
    let mut target = start(&setup(dir.path(), &script)).unwrap();
    for _ in 0..3 {
        let late = target.counts(Duration::from_millis(50)).unwrap_err();
        assert_eq!(late, "no answer within 50 ms");
    }
    std::fs::write(&go, "").unwrap();
    let reports = target.counts(Duration::from_secs(20)).unwrap();
    assert_eq!(reports[0].counts, Err("it is new".to_owned()));
    let log = target.log_file().to_owned();
    target.stop().unwrap();
    assert_eq!(
        std::fs::read_to_string(log).unwrap(),
        "{\"number\":2,\"instruction\":\"count\"}\n"
    );
}

#[test]
fn a_child_that_is_gone_or_talks_nonsense_reports_no_counts() {
    let dir = tempfile::tempdir().unwrap();
    let mut target = start(&setup(dir.path(), &format!("{READY} read -r a; exit 4"))).unwrap();
    let gone = target.counts(Duration::from_secs(20)).unwrap_err();
    assert_eq!(gone, "the embedded cluster has exited");
    drop(target);
    let dir = tempfile::tempdir().unwrap();
    let script = format!("{READY} read -r a; echo hello; cat >/dev/null");
    let mut target = start(&setup(dir.path(), &script)).unwrap();
    let nonsense = target.counts(Duration::from_secs(20)).unwrap_err();
    assert!(nonsense.contains("answered \"hello\""), "{nonsense}");
}
