//! What thousands of partitions do to a cluster of three nodes: how long requests wait at most, whether
//! leaders change without a fault, and how long stopping takes.
//!
//! ```text
//! cargo run --release -p kgauge-broker --example many_partitions -- --seconds 600
//! ```
//!
//! Every node is asked every 10 ms: it appends one record (acks=1) and answers. First many small topics
//! are created and deleted in one request each; then one topic of many partitions is created, left
//! alone, and written to. The exit status is 1 when a bound was broken; on a machine that others use,
//! look at the longest wait of the quiet cluster before you believe it.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for people who work on the cluster"
)]

mod ask;
mod probe;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use ask::{Asker, Failure};
use kgauge_broker::{ClusterConfig, ClusterHandle, EmbeddedCluster};
use probe::Probes;

/// The bounds that are kept.
const FREEZE_MS_MAX: u128 = 100;
const TOPICS_MS_MAX: u128 = 500;
const DELAY_BY_TOPICS_MS_MAX: u128 = 20;
const STOP_MS_MAX: u128 = 5_000;

const PROBED: &str = "probed";
const LARGE: &str = "large";

struct Options {
    partitions: i32,
    topics: usize,
    time: Duration,
    /// Of how many partitions of the large topic the load writes to.
    loaded: i32,
    data: Option<std::path::PathBuf>,
}

fn options() -> Result<Options, Failure> {
    let mut options = Options {
        partitions: 10_000,
        topics: 1_000,
        time: Duration::from_secs(60),
        loaded: 1_000,
        data: None,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().ok_or(format!("{word} needs a value"))?;
        match word.as_str() {
            "--partitions" => options.partitions = value.parse()?,
            "--topics" => options.topics = value.parse()?,
            "--seconds" => options.time = Duration::from_secs(value.parse()?),
            "--loaded" => options.loaded = value.parse()?,
            "--data" => options.data = Some(value.into()),
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    options.loaded = options.loaded.min(options.partitions);
    Ok(options)
}

fn main() -> ExitCode {
    let run = || match options()? {
        Options {
            data: Some(ref dir),
            ..
        } => measure(&options()?, dir),
        options => measure(&options, tempfile::tempdir()?.path()),
    };
    run().unwrap_or_else(|failure| {
        eprintln!("{failure}");
        ExitCode::from(2)
    })
}

/// What was measured, and whether it kept its bounds.
#[derive(Default)]
struct Report {
    broken: u32,
}

impl Report {
    fn say(&mut self, what: &str, took: Duration, max_ms: Option<u128>) {
        let broken = max_ms.is_some_and(|max| took.as_millis() > max);
        self.broken += u32::from(broken);
        let bound = match max_ms {
            None => String::new(),
            Some(max) if broken => format!(" (over the bound of {max} ms)"),
            Some(max) => format!(" (at most {max} ms)"),
        };
        println!("{what:<58} {:>9.1} ms{bound}", took.as_secs_f64() * 1e3);
    }
}

fn measure(options: &Options, dir: &std::path::Path) -> Result<ExitCode, Failure> {
    let mut report = Report::default();
    let cluster = EmbeddedCluster::start(ClusterConfig::new(dir).with_nodes(3))?;
    let mut asker = Asker::connect(cluster.addresses()[0])?;
    asker.create_topics(&[PROBED.to_owned()], 3, 3)?;
    let probes = Probes::start(&cluster, PROBED)?;
    std::thread::sleep(Duration::from_secs(5));
    report.say(
        "quiet cluster: longest wait of a request",
        probes.longest(),
        None,
    );
    topics(options, &mut asker, &probes, &mut report)?;
    partitions(options, &cluster, &mut asker, &probes, &mut report)?;
    let last_request = probes.stop();
    report.say(
        "until the end: longest wait of a request",
        last_request,
        Some(FREEZE_MS_MAX),
    );
    let begin = Instant::now();
    cluster.stop()?;
    report.say("orderly stop", begin.elapsed(), Some(STOP_MS_MAX));
    let begin = Instant::now();
    let cluster = EmbeddedCluster::start(ClusterConfig::new(dir).with_nodes(3))?;
    report.say("start on the same folder", begin.elapsed(), None);
    cluster.stop()?;
    Ok(match report.broken {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// Creates and deletes many topics in one request each.
fn topics(
    options: &Options,
    asker: &mut Asker,
    probes: &Probes,
    report: &mut Report,
) -> Result<(), Failure> {
    for factor in [1, 3] {
        let names: Vec<String> = (0..options.topics)
            .map(|number| format!("small_{factor}.{number}"))
            .collect();
        let count = names.len();
        for create in [true, false] {
            let begin = Instant::now();
            if create {
                asker.create_topics(&names, 1, factor)?;
            } else {
                asker.delete_topics(&names)?;
            }
            let took = begin.elapsed();
            let verb = if create { "creating" } else { "deleting" };
            let what = format!("{verb} {count} topics, replication factor {factor}");
            report.say(&what, took, Some(TOPICS_MS_MAX));
            std::thread::sleep(Duration::from_secs(1));
            report.say(
                "    longest wait of another request",
                probes.longest(),
                Some(DELAY_BY_TOPICS_MS_MAX),
            );
        }
    }
    Ok(())
}

/// Creates one topic of many partitions, leaves it alone, and writes to some of them.
fn partitions(
    options: &Options,
    cluster: &ClusterHandle,
    asker: &mut Asker,
    probes: &Probes,
    report: &mut Report,
) -> Result<(), Failure> {
    let count = options.partitions;
    let begin = Instant::now();
    asker.create_topics(&[LARGE.to_owned()], count, 3)?;
    let what = format!("creating a topic of {count} partitions x 3");
    report.say(&what, begin.elapsed(), None);
    let phases = [
        ("after its creation", Duration::from_secs(5), 0),
        ("left alone", options.time / 2, 0),
        ("under load", options.time / 2, options.loaded),
    ];
    for (phase, time, loaded) in phases {
        let before = elections(cluster)?;
        match loaded {
            0 => std::thread::sleep(time),
            loaded => probe::load(cluster, LARGE, loaded, time)?,
        }
        let what = format!("{phase}, {:.0} s: longest wait", time.as_secs_f64());
        report.say(&what, probes.longest(), Some(FREEZE_MS_MAX));
        let elections = elections(cluster)? - before;
        report.broken += u32::from(elections > 0);
        println!("    {elections} elections");
    }
    Ok(())
}

/// How many elections there were: each raises a leader epoch.
fn elections(cluster: &ClusterHandle) -> Result<i64, Failure> {
    let image = cluster.image()?;
    let partitions = image.topics.values().flat_map(|topic| &topic.partitions);
    Ok(partitions
        .map(|partition| i64::from(partition.leader_epoch))
        .sum())
}
