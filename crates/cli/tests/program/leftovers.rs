//! What clusters leave behind when somebody kills processes, and who removes it.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::clusters::Somebodys;
use crate::site::{Site, children, text};

/// A site whose temporary and state folders are its own.
struct Place {
    site: Site,
}

impl Place {
    fn new() -> Self {
        let site = Site::new();
        fs::create_dir(site.path("tmp")).unwrap();
        Self { site }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.site.command(arguments);
        command
            .env("TMPDIR", self.site.path("tmp"))
            .env("XDG_STATE_HOME", self.site.path("state"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// A secured cluster that serves, and the process of its nodes.
    fn up(&self) -> (Somebodys, Pid) {
        let mut command = self.command(&["cluster", "up", "embedded,security=tls"]);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let cluster = Somebodys::of(command.spawn().unwrap());
        let nodes = children(cluster.process.id());
        assert_eq!(nodes.len(), 1);
        (cluster, Pid::from_raw(nodes[0]).unwrap())
    }

    /// What lies in the temporary folder, and in the one for records and keys.
    fn left(&self) -> Vec<String> {
        let mut names = names_in(&self.site.path("tmp"));
        names.extend(names_in(&self.site.path("state/kgauge/clusters")));
        names
    }
}

fn names_in(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}

#[test]
fn what_killed_processes_left_is_listed_and_removed() {
    let place = Place::new();
    let (mut cluster, nodes) = place.up();
    let held = text(&place.run(&["cluster", "status"]).stdout);
    assert!(
        held.contains("embedded, not Apache Kafka, 1 process, used by"),
        "{held}"
    );
    let refused = place.run(&["cluster", "down"]);
    assert_eq!(
        text(&refused.stdout),
        "no cluster to stop\n",
        "somebody holds it"
    );
    // One that is stopped cannot clean up after the other.
    let own = Pid::from_child(&cluster.process);
    kill_process(own, Signal::STOP).unwrap();
    kill_process(nodes, Signal::KILL).unwrap();
    kill_process(own, Signal::KILL).unwrap();
    cluster.process.wait().unwrap();
    assert_eq!(place.left().len(), 3, "{:?}", place.left());
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let listed = text(&place.run(&["cluster", "status"]).stdout);
        if listed.contains("killed; files of it are left") {
            break;
        }
        assert!(Instant::now() < deadline, "{listed}");
    }
    let down = place.run(&["cluster", "down"]);
    assert_eq!(down.status.code(), Some(0), "{}", text(&down.stderr));
    assert!(
        text(&down.stdout).contains("data removed"),
        "{}",
        text(&down.stdout)
    );
    assert!(place.left().is_empty(), "{:?}", place.left());
}

#[test]
fn nothing_is_left_of_a_cluster_whose_kgauge_was_killed() {
    let place = Place::new();
    let (mut cluster, _) = place.up();
    cluster.process.kill().unwrap();
    cluster.process.wait().unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while !place.left().is_empty() {
        assert!(Instant::now() < deadline, "{:?}", place.left());
        std::thread::yield_now();
    }
}

#[test]
fn a_cluster_that_may_open_no_more_files_still_cleans_up() {
    let place = Place::new();
    let limited = [
        "-c",
        "ulimit -n 40 && exec \"$0\" cluster up embedded:3,security=tls",
    ];
    let mut command = Command::new("sh");
    command
        .args(limited)
        .arg(env!("CARGO_BIN_EXE_kgauge"))
        .env("TMPDIR", place.site.path("tmp"))
        .env("XDG_STATE_HOME", place.site.path("state"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let cluster = Somebodys::of(command.spawn().unwrap());
    let servers: Vec<&str> = cluster.servers.split(',').collect();
    let connections: Vec<TcpStream> = (0..100)
        .map(|index| TcpStream::connect(servers[index % servers.len()]).unwrap())
        .collect();
    let nodes = children(cluster.process.id())[0];
    let open = || fs::read_dir(format!("/proc/{nodes}/fd")).unwrap().count();
    while open() < 39 {
        std::thread::yield_now();
    }
    assert_eq!(cluster.end(), Some(0));
    assert!(place.left().is_empty(), "{:?}", place.left());
    drop(connections);
}

#[test]
fn nothing_is_left_of_a_cluster_that_ends_in_order() {
    let place = Place::new();
    let (cluster, _) = place.up();
    assert_eq!(cluster.end(), Some(0));
    assert!(place.left().is_empty(), "{:?}", place.left());
}

/// A process that a record names as its cluster.
struct Detached(Child);

impl Detached {
    fn new(place: &Place, name: &str) -> Self {
        let process = Command::new("sleep").arg("600").spawn().unwrap();
        let stat = fs::read_to_string(format!("/proc/{}/stat", process.id())).unwrap();
        let (_, rest) = stat.rsplit_once(')').unwrap();
        let ticks: u64 = rest.split_whitespace().nth(19).unwrap().parse().unwrap();
        let record = json!({
            "name": name, "version": "4.3.1", "kgauge": null, "is_detached": true,
            "bootstrap_servers": "127.0.0.1:9092",
            "processes": [["broker 1", {"pid": process.id(), "started_ticks": ticks}]],
            "conf_dir": place.site.path(&format!("conf-{name}")), "data_dirs": [],
            "log_dir": place.site.path(&format!("logs-{name}")),
        });
        let records = place.site.path("state/kgauge/clusters");
        fs::create_dir_all(&records).unwrap();
        fs::write(records.join(format!("{name}.json")), record.to_string()).unwrap();
        Self(process)
    }

    fn runs(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Detached {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn of_several_clusters_none_is_ended_unless_it_is_named() {
    let place = Place::new();
    let mut clusters = ["one", "two", "three"].map(|name| Detached::new(&place, name));
    let refused = place.run(&["cluster", "down"]);
    let stderr = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{stderr}");
    for words in [
        "3 clusters are running; name those to stop, or pass --all",
        "\n  two  Apache Kafka 4.3.1",
    ] {
        assert!(stderr.contains(words), "{stderr}");
    }
    assert!(clusters.iter_mut().all(Detached::runs));
    let ended = place.run(&["cluster", "down", "two"]);
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    assert_eq!(clusters.each_mut().map(Detached::runs), [true, false, true]);
    let ended = place.run(&["cluster", "down", "--all"]);
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    assert_eq!(clusters.each_mut().map(Detached::runs), [false; 3]);
    assert!(place.left().is_empty(), "{:?}", place.left());
}
