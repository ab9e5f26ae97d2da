//! The child's side of an embedded cluster: it serves as long as its standard input is open.
//!
//! A parent that ends, for whatever reason, closes the pipe, and so ends the child. Until then it writes instructions
//! for the cluster into the pipe ([`crate::instrument`]).

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use kgauge_broker::cluster::{
    ClusterConfig, ClusterDisk, ClusterHandle, EmbeddedCluster, ListenAddress,
};
use kgauge_broker::ids::NodeId;

use crate::instrument::Instrument;
use crate::log_tail::remove_empty_log;
use crate::messages::{ClusterOrder, ClusterReply, ClusterRequest, DataAtEnd, LINE_BYTES_MAX};

/// The cluster must be polled for failed nodes; this is the interval.
const FAILURE_LOOK: Duration = Duration::from_millis(250);

/// A node may still be writing to the directory that is being removed.
const REMOVE_ATTEMPTS: u32 = 5;

/// Files of removed logs are kept up to the machine's memory, or its free disk space, divided by this. What has left
/// the memory is of no use.
const SPARE_DIVISOR: u64 = 4;

/// Segments of logs whose files are used again. A log that outgrew its file would go on in fresh memory.
const REUSED_FILE_BYTES: u64 = 64 << 20;

/// Clean end.
const GOOD: u8 = 0;
/// The cluster did not start.
const NOT_STARTED: u8 = 1;
/// A node failed during the run.
const NODE_FAILED: u8 = 4;
/// The data could not be removed.
const DATA_LEFT: u8 = 5;

/// Starts the cluster that the first line of `input` describes, answers with one line on `output`, serves until `input`
/// ends, and returns the process's exit status. `log` takes all other output.
///
/// The caller must exit with that status at once: without `keep` the cluster's threads are still running, so that
/// nothing is flushed that was already removed.
pub fn embedded_main(
    input: impl Read + Send + 'static,
    mut output: impl Write,
    mut log: impl Write,
) -> u8 {
    let mut input = BufReader::new(input);
    let started = read_order(&mut input).and_then(|order| Ok((start(&order)?, order)));
    let (cluster, order) = match started {
        Ok(started) => started,
        Err(words) => {
            let _ = writeln!(log, "the embedded cluster did not start: {words}");
            let _ = answer(&mut output, &ClusterReply::Failed { words });
            return NOT_STARTED;
        }
    };
    let ready = ClusterReply::Ready {
        bootstrap_servers: cluster.bootstrap_servers(),
    };
    // A parent that no longer reads has closed the other pipe as well.
    let _ = answer(&mut output, &ready);
    let requests = request_channel(input);
    let (cluster, mut status) = serve(Instrument::new(cluster), &requests, &mut output, &mut log);
    let mut left = remove_all(&order);
    match order.data {
        DataAtEnd::Remove if left.is_empty() => std::mem::forget(cluster),
        // The cluster's threads may use all file handles of this process.
        DataAtEnd::Remove => {
            let _ = cluster.stop();
            left = remove_all(&order);
        }
        DataAtEnd::Keep => {
            if let Err(failure) = cluster.stop() {
                let _ = writeln!(log, "{failure}");
                status = NODE_FAILED;
            }
        }
    }
    for (dir, error) in &left {
        let _ = writeln!(log, "cannot remove {}: {error}", dir.display());
        if *dir == order.data_dir {
            status = status.max(DATA_LEFT);
        }
    }
    if left.is_empty() {
        remove_remains(&order);
    }
    status
}

/// Removes the temporary folders of a cluster. Returns those that could not be removed.
fn remove_all(order: &ClusterOrder) -> Vec<(PathBuf, io::Error)> {
    let data_dir = (order.data == DataAtEnd::Remove).then_some(&order.data_dir);
    let dirs = order.private_dir.iter().chain(data_dir);
    dirs.filter_map(|dir| Some((dir.clone(), remove(dir).err()?)))
        .collect()
}

/// Removes what remains of a cluster besides its data: a killed parent cannot.
fn remove_remains(order: &ClusterOrder) {
    if let Some(record) = &order.record {
        let _ = fs::remove_file(record);
    }
    if let Some(log_file) = &order.log_file {
        remove_empty_log(log_file);
    }
}

fn read_order(input: &mut impl BufRead) -> Result<ClusterOrder, String> {
    let mut line = String::new();
    let limit = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
    input
        .take(limit)
        .read_line(&mut line)
        .map_err(|error| error.to_string())?;
    serde_json::from_str(&line).map_err(|error| format!("invalid order: {error}"))
}

/// Bytes of files that may wait for the next log.
fn spare_bytes_max(data_dir: &Path) -> u64 {
    let info = rustix::system::sysinfo();
    let memory = info.totalram.saturating_mul(u64::from(info.mem_unit));
    let free = rustix::fs::statvfs(data_dir).map_or(0, |stat| stat.f_bavail * stat.f_frsize);
    memory.min(free) / SPARE_DIVISOR
}

fn start(order: &ClusterOrder) -> Result<ClusterHandle, String> {
    let mut config = ClusterConfig::new(&order.data_dir).with_nodes(order.nodes);
    config.seed = order.seed;
    config.counts = !order.without_counts;
    for (name, value) in &order.settings {
        config = config.with_setting(name, value);
    }
    for (node, settings) in &order.node_settings {
        for (name, value) in settings {
            config = config.with_node_setting(NodeId(i32::from(*node)), name, value);
        }
    }
    if let Some(listeners) = &order.listeners {
        config = config.with_security(listeners.security()?);
    }
    let listening = &order.listening;
    let address = |index: u16| {
        let port = match listening.port {
            Some(first) => first.checked_add(index),
            None => Some(0),
        };
        let port = port.ok_or("the ports exceed 65535")?;
        Ok(SocketAddr::from((listening.bound(), port)))
    };
    let addresses: Result<Vec<SocketAddr>, &str> = (0..order.nodes).map(address).collect();
    config.listen = ListenAddress::Addresses(addresses?);
    config
        .advertised_host
        .clone_from(&listening.advertised_host);
    config.advertised_port = listening.advertised_port;
    if let Some(reuse) = order.file_reuse {
        let spare_bytes_max = spare_bytes_max(&order.data_dir);
        config.disk = ClusterDisk::Reusing {
            spare_bytes_max,
            prepared_bytes: reuse.prepared_bytes.min(spare_bytes_max / 2),
            file_bytes: REUSED_FILE_BYTES,
        };
        let segment_bytes = config.settings.entry("log.segment.bytes".to_owned());
        segment_bytes.or_insert_with(|| REUSED_FILE_BYTES.to_string());
    }
    if order.data == DataAtEnd::Remove {
        // Only own folders may be removed at the end.
        let dir = &order.data_dir;
        let cannot = |error: io::Error| format!("cannot use {}: {error}", dir.display());
        if fs::read_dir(dir).map_err(cannot)?.next().is_some() {
            return Err(format!("{} is not empty", dir.display()));
        }
    }
    EmbeddedCluster::start(config).map_err(|error| {
        if order.data == DataAtEnd::Remove {
            let _ = remove(&order.data_dir);
        }
        error.to_string()
    })
}

fn answer(output: &mut impl Write, answer: &ClusterReply) -> io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()
}

/// A channel with the incoming requests, as far as they can be parsed. It closes with the input.
fn request_channel(
    mut input: impl BufRead + Send + 'static,
) -> Receiver<Result<ClusterRequest, String>> {
    let (to, requests) = channel();
    let wait = move || {
        while let Some(line) = read_line(&mut input) {
            let ask = serde_json::from_slice(&line);
            // The receiver is gone when the cluster ends.
            let _ = to.send(ask.map_err(|error| format!("invalid instruction: {error}")));
        }
    };
    // Without a thread the channel closes at once, and the cluster ends in order.
    let _ = std::thread::Builder::new()
        .name("parent-watch".to_owned())
        .spawn(wait);
    requests
}

/// The next line, truncated to the maximum length; `None` at the end.
fn read_line(input: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    let limit = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
    let count = input.take(limit).read_until(b'\n', &mut line).ok()?;
    (count > 0).then_some(line)
}

fn serve(
    mut instrument: Instrument,
    requests: &Receiver<Result<ClusterRequest, String>>,
    output: &mut impl Write,
    log: &mut impl Write,
) -> (ClusterHandle, u8) {
    loop {
        match requests.recv_timeout(FAILURE_LOOK) {
            Ok(request) => {
                let reply = answer_to(&mut instrument, request);
                // A parent that no longer reads has closed the other pipe as well.
                let _ = answer(output, &reply);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return (instrument.cluster, GOOD),
        }
        for (node, notice) in instrument.cluster.notices() {
            let _ = writeln!(log, "node {node}: {notice}");
        }
        if let Some(failure) = instrument.cluster.failures().first() {
            let _ = writeln!(log, "{failure}");
            return (instrument.cluster, NODE_FAILED);
        }
    }
}

fn answer_to(instrument: &mut Instrument, asked: Result<ClusterRequest, String>) -> ClusterReply {
    let (number, done) = match asked {
        Ok(ask) => (Some(ask.number), instrument.carry_out(&ask.instruction)),
        Err(words) => (None, Err(words)),
    };
    match (number, done) {
        (Some(number), Ok(done)) => ClusterReply::Done { number, done },
        (number, Ok(_)) => ClusterReply::Refused {
            number,
            words: String::new(),
        },
        (number, Err(words)) => ClusterReply::Refused { number, words },
    }
}

/// Removes a directory while nodes may still write into it.
fn remove(dir: &Path) -> io::Result<()> {
    let mut result = Ok(());
    for _ in 0..REMOVE_ATTEMPTS {
        result = fs::remove_dir_all(dir);
        match &result {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(_) => {}
        }
    }
    result
}
