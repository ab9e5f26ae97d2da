//! The thread that asks brokers, where nobody answers as a broker should.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use kgauge_broker::cluster::{ClusterConfig, EmbeddedCluster as Embedded};
use kgauge_broker::fault::{self, InjectedFault, RequestFault};
use kgauge_client::admin::TopicSpec;
use kgauge_client::{ClientConfig, Cluster};
use kgauge_observe::{TopicObservation, WireWatch, WireWatcher};
use kgauge_results::run::{Evidence, EvidenceKind, RepeatKey, Subject, TopicSample};

/// A server that does `serve` with each connection; its address.
fn server(serve: impl Fn(TcpStream) + Send + Sync + Clone + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let serve = serve.clone();
            std::thread::spawn(move || serve(connection));
        }
    });
    address
}

fn start(address: &str) -> (WireWatcher, Receiver<Evidence>) {
    let watch = WireWatch {
        repeat: RepeatKey {
            trial: 0,
            repeat: 0,
        },
        client: ClientConfig::from_servers(address).unwrap(),
        topic: "t".to_owned(),
        replication_factor: 3,
        groups: vec!["g".to_owned()],
    };
    let origin = Instant::now();
    let now_ns = move || u64::try_from(origin.elapsed().as_nanos()).unwrap();
    let (sender, receiver) = channel();
    let sink = move |observation: TopicObservation<'_>| {
        if let TopicObservation::Evidence(evidence) = observation {
            sender.send(evidence.clone()).unwrap();
        }
        Ok(())
    };
    (WireWatcher::start(watch, now_ns, sink).unwrap(), receiver)
}

/// Ends it, which takes no time, and gives what it wrote.
fn end(watcher: WireWatcher, receiver: Receiver<Evidence>) -> Vec<Evidence> {
    let before = Instant::now();
    let notes = watcher.stop();
    // A tenth of a second; a busy machine may need longer, but never as long as answers are waited for in all.
    assert!(before.elapsed() < Duration::from_secs(20), "{notes:?}");
    let seen: Vec<Evidence> = receiver.into_iter().collect();
    let cluster = Subject::Cluster { broker: None };
    assert!(seen.iter().all(|one| one.subject == cluster), "{seen:?}");
    let last = seen.last().map(|one| &one.kind);
    assert!(
        matches!(last, Some(EvidenceKind::Observing { looks: 0, .. })),
        "{seen:?}"
    );
    seen
}

fn why(seen: &[Evidence]) -> Option<&str> {
    seen.iter().find_map(|one| match &one.kind {
        EvidenceKind::NotSeen(not_seen) => Some(not_seen.why.as_str()),
        _ => None,
    })
}

#[test]
fn a_server_that_never_answers_is_not_waited_for_at_the_end() {
    let (sender, requests) = channel();
    let address = server(move |mut connection| {
        let mut bytes = [0; 64];
        while let Ok(1..) = connection.read(&mut bytes) {
            let _ = sender.send(());
        }
    });
    let (watcher, receiver) = start(&address);
    requests.recv().unwrap();
    let seen = end(watcher, receiver);
    // That the run ended is no fact about the cluster.
    let why = why(&seen);
    assert!(
        why.is_none_or(|why| !why.contains("interrupted")),
        "{seen:?}"
    );
}

#[test]
fn junk_and_closed_connections_are_reported() {
    for answer in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], &[0xff; 64], &[]] {
        let (sender, requests) = channel();
        let address = server(move |mut connection| {
            let mut bytes = [0; 64];
            let _ = connection.read(&mut bytes);
            let _ = connection.write_all(answer);
            drop(connection);
            let _ = sender.send(());
        });
        let (watcher, receiver) = start(&address);
        // A look connects a few times at most, to find out what it is that answers so: the sixth connection is a later
        // look's, and the first one is over.
        for _ in 0..6 {
            requests.recv().unwrap();
        }
        let seen = end(watcher, receiver);
        let why = why(&seen);
        assert!(why.is_some_and(|why| !why.is_empty()), "{seen:?}");
    }
}

#[test]
fn a_cluster_that_is_gone_is_reported_at_most_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let (watcher, receiver) = start(&address);
    // Nothing tells when it was refused; a raised interrupt before it leaves nothing to say.
    let seen = end(watcher, receiver);
    let not_seen = seen
        .iter()
        .filter(|one| matches!(one.kind, EvidenceKind::NotSeen(_)));
    assert!(not_seen.count() <= 1, "{seen:?}");
}

#[test]
fn a_coordinator_that_is_silent_is_not_waited_for_in_each_look() {
    let dir = tempfile::tempdir().unwrap();
    let handle = Embedded::start(ClusterConfig::new(dir.path().join("data"))).unwrap();
    let servers = handle.bootstrap_servers();
    let mut client = Cluster::bootstrap(ClientConfig::from_servers(&servers).unwrap()).unwrap();
    let topic = TopicSpec {
        name: "t".to_owned(),
        partitions: 1,
        replication_factor: 1,
        configs: Vec::new(),
    };
    client.create_topic(&topic).unwrap();
    let (_, api) = fault::api_names()
        .find(|(name, _)| name == "offset-fetch")
        .unwrap();
    let silence = InjectedFault {
        api: Some(api),
        action: RequestFault::Delay(Duration::from_secs(3_600).into()),
        times: None,
        seed: 0,
    };
    handle.fault(None, silence).unwrap();
    let (watcher, receiver) = start(&servers);
    let mut looks = receiver.iter().filter_map(|seen| match seen.kind {
        EvidenceKind::Topic(look) => Some(look),
        _ => None,
    });
    // An answer may take a second, and the first look waits for it.
    let is_slow = |look: &TopicSample| look.took_ns >= 1_000_000_000;
    let first = looks.find(is_slow).unwrap();
    assert_eq!((first.partitions, first.leaderless), (1, 0));
    let quick = looks.take(30).find(|look| !is_slow(look));
    assert!(quick.is_some(), "each look waits for it");
    watcher.stop();
}
