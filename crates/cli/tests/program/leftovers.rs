//! What clusters leave behind when their processes are killed, and what removes it.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::site::{ServingCluster, Site, check_status, children, good, text, wait_until};

/// A secured cluster that serves, and the process of its nodes.
fn up(site: &Site) -> (ServingCluster, Pid) {
    let cluster = ServingCluster::start(site, &["embedded,security=tls"]);
    let nodes = children(cluster.process.id());
    assert_eq!(nodes.len(), 1);
    (cluster, Pid::from_raw(nodes[0]).unwrap())
}

/// What lies in the temporary folder, and in the one for records and keys.
fn left(site: &Site) -> Vec<String> {
    let mut names = names_in(&site.path("tmp"));
    names.extend(names_in(&site.path("state/kgauge/clusters")));
    names
}

fn names_in(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}

#[test]
fn what_killed_processes_left_is_listed_and_removed() {
    let site = Site::new();
    let (mut cluster, nodes) = up(&site);
    let held = text(&site.run(&["cluster", "status"]).stdout);
    assert!(
        held.contains("embedded, not Apache Kafka, 1 process, used by"),
        "{held}"
    );
    let refused = site.run(&["cluster", "down"]);
    assert_eq!(
        text(&refused.stdout),
        "no cluster to stop\n",
        "somebody holds it"
    );
    // A stopped process cannot clean up after the other one.
    let own = Pid::from_child(&cluster.process);
    kill_process(own, Signal::STOP).unwrap();
    kill_process(nodes, Signal::KILL).unwrap();
    kill_process(own, Signal::KILL).unwrap();
    cluster.process.wait().unwrap();
    assert_eq!(left(&site).len(), 3, "{:?}", left(&site));
    wait_until("the cluster is listed as killed", || {
        let listed = text(&site.run(&["cluster", "status"]).stdout);
        listed.contains("killed; files of it are left")
    });
    let down = good(&site.run(&["cluster", "down"]));
    assert!(down.contains("data removed"), "{down}");
    assert!(left(&site).is_empty(), "{:?}", left(&site));
}

#[test]
fn nothing_is_left_of_a_cluster_whose_kgauge_was_killed() {
    let site = Site::new();
    let (mut cluster, _) = up(&site);
    cluster.process.kill().unwrap();
    cluster.process.wait().unwrap();
    wait_until("all files are removed", || left(&site).is_empty());
}

#[test]
fn a_cluster_that_may_open_no_more_files_still_cleans_up() {
    let site = Site::new();
    let limited = [
        "-c",
        "ulimit -n 40 && exec \"$0\" cluster up embedded:3,security=tls",
    ];
    let mut command = Command::new("sh");
    command
        .args(limited)
        .arg(env!("CARGO_BIN_EXE_kgauge"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    site.set_folders(&mut command);
    let cluster = ServingCluster::of(command.spawn().unwrap());
    let servers: Vec<&str> = cluster.servers.split(',').collect();
    let connections: Vec<TcpStream> = (0..100)
        .map(|index| TcpStream::connect(servers[index % servers.len()]).unwrap())
        .collect();
    let nodes = children(cluster.process.id())[0];
    let open = || fs::read_dir(format!("/proc/{nodes}/fd")).unwrap().count();
    wait_until("no file is left to open", || open() >= 39);
    assert_eq!(cluster.end(), Some(0));
    assert!(left(&site).is_empty(), "{:?}", left(&site));
    drop(connections);
}

#[test]
fn nothing_is_left_of_a_cluster_that_ends_in_order() {
    let site = Site::new();
    let (cluster, _) = up(&site);
    assert_eq!(cluster.end(), Some(0));
    assert!(left(&site).is_empty(), "{:?}", left(&site));
}

/// A process that a record names as its cluster.
struct Detached(Child);

impl Detached {
    fn new(site: &Site, name: &str) -> Self {
        let process = Command::new("sleep").arg("600").spawn().unwrap();
        let stat = fs::read_to_string(format!("/proc/{}/stat", process.id())).unwrap();
        let (_, rest) = stat.rsplit_once(')').unwrap();
        let ticks: u64 = rest.split_whitespace().nth(19).unwrap().parse().unwrap();
        let record = json!({
            "name": name, "version": "4.3.1", "kgauge": null, "is_detached": true,
            "bootstrap_servers": "127.0.0.1:9092",
            "processes": [["broker 1", {"pid": process.id(), "started_ticks": ticks}]],
            "conf_dir": site.path(&format!("conf-{name}")), "data_dirs": [],
            "log_dir": site.path(&format!("logs-{name}")),
        });
        let records = site.path("state/kgauge/clusters");
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
    let site = Site::new();
    let mut clusters = ["one", "two", "three"].map(|name| Detached::new(&site, name));
    let refused = site.run(&["cluster", "down"]);
    let stderr = check_status(&refused, 2);
    for words in [
        "3 clusters are running; name those to stop, or pass --all",
        "\n  two  Apache Kafka 4.3.1",
    ] {
        assert!(stderr.contains(words), "{stderr}");
    }
    assert!(clusters.iter_mut().all(Detached::runs));
    good(&site.run(&["cluster", "down", "two"]));
    assert_eq!(clusters.each_mut().map(Detached::runs), [true, false, true]);
    good(&site.run(&["cluster", "down", "--all"]));
    assert_eq!(clusters.each_mut().map(Detached::runs), [false; 3]);
    assert!(left(&site).is_empty(), "{:?}", left(&site));
}
