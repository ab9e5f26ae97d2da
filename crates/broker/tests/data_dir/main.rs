//! What a cluster does with a data directory that is not as it left it: after damage of every kind it
//! serves what it served before, or refuses in words. What a single log does is in `log_suite`.
#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod base;
#[path = "../harness/mod.rs"]
mod harness;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base::*;
use kgauge_broker::ids::NodeId;
use kgauge_broker::node::Notice;
use kgauge_broker::{EmbeddedCluster, StartError};
use kgauge_wire::codec::Str;
use kgauge_wire::messages::delete_topics::{DeleteTopicState, DeleteTopicsRequest};

#[test]
fn an_untouched_folder_is_gone_on_with() {
    let base = Base::make();
    base.is_served_from(base.copy().path(), "none");
}

#[test]
fn damaged_offset_indexes_are_rebuilt() {
    damaged("index");
}

#[test]
fn damaged_time_indexes_are_rebuilt() {
    damaged("timeindex");
}

#[test]
fn a_damaged_log_state_only_costs_a_recovery() {
    damaged("log-state");
}

#[test]
fn damaged_leader_epochs_lose_nothing() {
    damaged("leader-epoch-checkpoint");
}

#[test]
fn damaged_producer_snapshots_lose_nothing() {
    damaged("snapshot");
}

#[test]
fn a_damaged_id_of_a_partition_stops_its_node_in_words() {
    let base = Base::make();
    for (how, damage) in DAMAGES {
        let copy = base.copy();
        for path in of_node_1(copy.path(), "partition.metadata") {
            damage(&path);
        }
        if how == "missing" {
            // A crash leaves a folder so when the log was just made.
            base.is_served_from(copy.path(), "ids missing");
            continue;
        }
        let until = Instant::now() + Duration::from_secs(60);
        let words = match EmbeddedCluster::start(config(copy.path())) {
            Err(error) => error.to_string(),
            Ok(mut cluster) => loop {
                if let Some(failure) = cluster.failures().first() {
                    break failure.to_string();
                }
                assert!(Instant::now() < until, "{how}: nobody says anything");
                std::thread::yield_now();
            },
        };
        assert!(
            words.contains("node 1") && words.contains("partition.metadata"),
            "{words}"
        );
    }
}

#[test]
fn damaged_checkpoints_of_a_node_lose_nothing() {
    let base = Base::make();
    for (how, damage) in DAMAGES {
        let copy = base.copy();
        let node = copy.path().join("node-1");
        let mut some = false;
        for entry in fs::read_dir(&node).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if path.is_file() && name.ends_with("checkpoint") {
                damage(&path);
                some = true;
            }
        }
        assert!(some);
        base.is_served_from(copy.path(), &format!("checkpoints {how}"));
    }
}

/// Damages the newest segment of every partition on node 1 after a crash: the others have it all.
#[test]
fn what_a_crash_took_from_the_newest_segment_comes_from_the_others() {
    let base = Base::make();
    let more: [Damage; 3] = [
        ("garbage behind it", |path| {
            let mut bytes = fs::read(path).unwrap();
            bytes.extend([0xff; 100]);
            fs::write(path, bytes).unwrap();
        }),
        ("zeros behind it", |path| {
            let mut bytes = fs::read(path).unwrap();
            bytes.extend([0; 5000]);
            fs::write(path, bytes).unwrap();
        }),
        ("a flipped bit", |path| {
            let mut bytes = fs::read(path).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(path, bytes).unwrap();
        }),
    ];
    for (how, damage) in DAMAGES.into_iter().chain(more) {
        let copy = base.copy();
        lose_mark(copy.path());
        for partition in 0..PARTITIONS {
            let logs = files(&copy.path().join(format!("node-1/t-{partition}")), "log");
            assert!(logs.len() > 2);
            damage(logs.last().unwrap());
            // As after a crash, nothing says that it was closed.
            let state = copy.path().join(format!("node-1/t-{partition}/log-state"));
            let _ = fs::remove_file(state);
        }
        base.is_served_from(copy.path(), &format!("newest segment: {how}"));
    }
}

/// Cuts a log file of each partition on node 1, and leaves the mark of an orderly stop.
fn cut_logs(dir: &Path, choose: fn(&[PathBuf]) -> &PathBuf) {
    for partition in 0..PARTITIONS {
        let logs = files(&dir.join(format!("node-1/t-{partition}")), "log");
        let path = choose(&logs);
        let bytes = fs::read(path).unwrap();
        fs::write(path, &bytes[..bytes.len() - 10]).unwrap();
    }
}

#[test]
fn a_mark_of_an_orderly_stop_that_lies_is_not_believed() {
    let base = Base::make();
    let copy = base.copy();
    cut_logs(copy.path(), |logs| logs.last().unwrap());
    // Whoever led, the others have it all.
    base.is_served_from(copy.path(), "a lying mark");
}

#[test]
fn an_older_segment_that_became_shorter_comes_from_the_other_replicas() {
    let base = Base::make();
    let copy = base.copy();
    cut_logs(copy.path(), |logs| &logs[1]);
    let mut cluster = EmbeddedCluster::start(config(copy.path())).unwrap();
    until_whole(&cluster);
    let notices = cluster.notices();
    for index in 0..PARTITIONS {
        let topic = "t".into();
        let notice = (NodeId(1), Notice::SetAside { topic, index });
        assert!(notices.contains(&notice), "{notices:?}");
    }
    cluster.stop().unwrap();
    base.is_served_from(copy.path(), "an older segment");
    let names = fs::read_dir(copy.path().join("node-1")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let strays = names.filter(|name| name.starts_with("t-") && name.ends_with("-stray"));
    assert_eq!(strays.count(), 3, "the damaged folders are kept");
}

#[test]
fn records_that_a_leader_lost_are_reported_when_the_others_cut_theirs() {
    let base = Base::make();
    let copy = base.copy();
    // All crashed at once: whoever led last leads, as with Kafka.
    for node in 1..=3 {
        let mark = copy
            .path()
            .join(format!("node-{node}/.kafka_cleanshutdown"));
        fs::remove_file(mark).unwrap();
    }
    cut_logs(copy.path(), |logs| logs.last().unwrap());
    let mut cluster = EmbeddedCluster::start(config(copy.path())).unwrap();
    until_whole(&cluster);
    let notices = cluster.notices();
    let (last, end) = ((BATCHES - 1) * RECORDS_OF_BATCH, BATCHES * RECORDS_OF_BATCH);
    for node in [2, 3] {
        let reported = notices.iter().any(|(by, notice)| {
            let leader = NodeId(1);
            let Notice::Cut {
                leader: led,
                from,
                to,
                ..
            } = notice
            else {
                return false;
            };
            *by == NodeId(node) && *led == leader && (*from, *to) == (last, end)
        });
        assert!(reported, "node {node}: {notices:?}");
    }
    cluster.stop().unwrap();
}

#[test]
fn files_and_folders_of_others_are_left_alone() {
    let base = Base::make();
    let copy = base.copy();
    let foreign = [
        "notes.txt",
        "node-1/notes.txt",
        "node-1/t-0/notes.txt",
        "node-1/lost+found/x",
    ];
    for name in foreign {
        let path = copy.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "mine").unwrap();
    }
    base.is_served_from(copy.path(), "foreign files");
    for name in foreign {
        assert_eq!(
            fs::read_to_string(copy.path().join(name)).unwrap(),
            "mine",
            "{name}"
        );
    }
}

#[test]
fn the_folder_of_a_deleted_topic_is_set_aside() {
    let base = Base::make();
    let copy = base.copy();
    let cluster = EmbeddedCluster::start(config(copy.path())).unwrap();
    until_whole(&cluster);
    let request = DeleteTopicsRequest {
        topics: vec![DeleteTopicState {
            name: Some(Str::Borrowed("t")),
            ..DeleteTopicState::default()
        }],
        timeout_ms: 20_000,
        ..DeleteTopicsRequest::default()
    };
    let answer = client_of(&cluster, 1).ask(6, &request);
    assert_eq!(answer.responses[0].error_code, 0);
    cluster.stop().unwrap();
    // A node that was down when the topic was deleted still has it.
    let (from, to) = (base.dir.path(), copy.path());
    copy_all(&from.join("node-1/t-0"), &to.join("node-1/t-0"));
    let cluster = EmbeddedCluster::start(config(to)).unwrap();
    assert!(cluster.image().unwrap().topic("t").is_none());
    client_of(&cluster, 1).create_topic("t", 3);
    assert_eq!(
        leader(&cluster, 0).fetch("t", 0, 0),
        [0; 0],
        "the old topic's records"
    );
    cluster.stop().unwrap();
    let aside = fs::read_dir(to.join("node-1")).unwrap();
    let names = aside.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let strays = names.filter(|name| name.starts_with("t-0.") && name.ends_with("-stray"));
    assert_eq!(strays.count(), 1);
}

/// The words of a start that must fail, and that name what they are about.
fn refusal(dir: &Path, about: &str) -> StartError {
    let error = EmbeddedCluster::start(config(dir)).unwrap_err();
    let words = error.to_string();
    assert!(words.contains(about), "{words}");
    error
}

#[test]
fn a_folder_of_another_cluster_or_node_is_refused_in_words() {
    let base = Base::make();
    let node = "node-1/meta.properties";
    for (file, name, value) in [
        (node, "cluster.id", "somebody-elses"),
        (node, "node.id", "2"),
        ("meta.properties", "cluster.id", "somebody-elses"),
    ] {
        let copy = base.copy();
        let path = copy.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().map(|line| match line.split_once('=') {
            Some((known, _)) if known == name => format!("{name}={value}\n"),
            _ => format!("{line}\n"),
        });
        fs::write(&path, lines.collect::<String>()).unwrap();
        let error = refusal(copy.path(), name);
        assert!(matches!(error, StartError::Foreign { .. }), "{error:?}");
        // Nothing was changed: with the right words it starts.
        fs::write(&path, text).unwrap();
        base.is_served_from(copy.path(), name);
    }
}

#[test]
fn a_node_without_its_properties_gets_them_again() {
    let base = Base::make();
    let copy = base.copy();
    fs::remove_file(copy.path().join("node-1/meta.properties")).unwrap();
    base.is_served_from(copy.path(), "meta.properties missing");
    fs::write(copy.path().join("node-1/meta.properties"), [0xff; 50]).unwrap();
    refusal(copy.path(), "meta.properties");
}

#[test]
fn a_damaged_journal_is_refused_and_kept() {
    let base = Base::make();
    let copy = base.copy();
    let path = copy.path().join("controller/metadata.journal");
    let good = fs::read(&path).unwrap();
    let ends: Vec<usize> = (0..good.len()).filter(|at| good[*at] == b'\n').collect();
    let (last, others) = ends.split_last().unwrap();
    assert!(others.len() > 2);
    for (line, end) in (1..).zip(others) {
        let mut flipped = good.clone();
        flipped[end - 3] ^= 1;
        fs::write(&path, &flipped).unwrap();
        let about = format!("line {line} of {} is damaged", path.display());
        refusal(copy.path(), &about);
        assert!(
            fs::read(&path).unwrap() == flipped,
            "it may still be mended by hand"
        );
    }
    assert_eq!(*last, good.len() - 1);
    // Without any journal it would be a new cluster, to which these folders do not belong.
    for nothing in [Some(&b""[..]), None] {
        match nothing {
            Some(bytes) => fs::write(&path, bytes).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        refusal(copy.path(), "cluster.id");
    }
    fs::write(&path, &good).unwrap();
    base.is_served_from(copy.path(), "the journal is back");
}

#[test]
fn what_a_crash_left_half_written_of_the_journal_is_cut() {
    let base = Base::make();
    let copy = base.copy();
    let path = copy.path().join("controller/metadata.journal");
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend(b"deadbeef {\"half of a");
    fs::write(&path, bytes).unwrap();
    base.is_served_from(copy.path(), "half a line");
}
