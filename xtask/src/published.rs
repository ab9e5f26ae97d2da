//! `cargo xtask published`: the command lines of published studies, as they were written but for the
//! hosts, run by kgauge under the tools' names and by the tools of a release, on one cluster of that
//! release: the same exit status, and on stdout the same lines but for the figures in them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::built::ProgramOption;
use crate::interop::drop_in::shape;
use crate::kafka::{self, FinishedJob, Job, ReleaseTools};
use crate::kgauge::Kgauge;
use crate::say::{print_line, remark};

const TIME_MAX: Duration = Duration::from_secs(1_800);

/// A command line, and the releases whose own tools know it.
struct Line {
    /// Where it was published.
    study: &'static str,
    releases: &'static [&'static str],
    words: &'static str,
    beside: Beside,
}

/// What kgauge is compared with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// The release's own tool, called with the same words.
    Tool,
    /// The same with these words at the end, which it wants and the study did not need.
    ToolWith(&'static str),
    /// Nothing: the release's own tool does it for both, because kgauge cannot on brokers of that age.
    Nothing,
}

const OLD: &[&str] = &["0.8.2.2"];
const MIDDLE: &[&str] = &["1.0.2"];
const NEWER: &[&str] = &["1.0.2", "4.3.1"];
const NEWEST: &[&str] = &["4.3.1"];

/// In this order: what is written is read. `{N}` is a number of records that `--divide` makes smaller.
const LINES: &[Line] = &[
    line(
        "linkedin-2014",
        OLD,
        "bin/kafka-topics.sh --zookeeper ZOOKEEPER --create --topic test7 --partitions 6 \
         --replication-factor 1",
    )
    .beside(Beside::Nothing),
    line(
        "linkedin-2014",
        OLD,
        "bin/kafka-topics.sh --zookeeper ZOOKEEPER --create --topic test --partitions 6 \
         --replication-factor 1",
    )
    .beside(Beside::Nothing),
    line(
        "linkedin-2014",
        OLD,
        "bin/kafka-run-class.sh org.apache.kafka.clients.tools.ProducerPerformance test7 {50000000} 100 \
         -1 acks=1 bootstrap.servers=SERVERS buffer.memory=67108864 batch.size=8196",
    ),
    line(
        "linkedin-2014",
        OLD,
        "bin/kafka-run-class.sh org.apache.kafka.clients.tools.ProducerPerformance test {50000000} 100 \
         -1 acks=-1 bootstrap.servers=SERVERS buffer.memory=67108864 batch.size=64000",
    ),
    line(
        "linkedin-2014",
        OLD,
        "bin/kafka-run-class.sh org.apache.kafka.clients.tools.ProducerPerformance test {10485} 100000 \
         -1 acks=1 bootstrap.servers=SERVERS buffer.memory=67108864 batch.size=128000",
    ),
    line(
        "linkedin-2014",
        OLD,
        "bin/kafka-consumer-perf-test.sh --zookeeper ZOOKEEPER --messages {50000000} --topic test7 \
         --threads 1",
    ),
    line(
        "linkedin-2014",
        OLD,
        "bin/kafka-run-class.sh kafka.tools.TestEndToEndLatency SERVERS ZOOKEEPER test 5000",
    )
    // The study's tool was of before the release, which wants the consumer's longest wait and acks too.
    .beside(Beside::ToolWith(" 100 1")),
    line(
        "dcos-2018",
        MIDDLE,
        "kafka-topics --zookeeper ZOOKEEPER --create --topic performancetest --partitions 10 \
         --replication-factor 1",
    ),
    line(
        "dcos-2018",
        NEWEST,
        "kafka-topics --bootstrap-server SERVERS --create --topic performancetest --partitions 10 \
         --replication-factor 1",
    ),
    line(
        "dcos-2018",
        NEWER,
        "kafka-producer-perf-test --topic performancetest --num-records {10000000} --record-size 250 \
         --throughput 1000000 --producer-props acks=1 buffer.memory=67108864 compression.type=none \
         batch.size=8196 linger.ms=0 retries=0 bootstrap.servers=SERVERS",
    ),
    line(
        "dcos-2018",
        NEWER,
        "kafka-producer-perf-test --topic performancetest --num-records {10000000} --record-size 250 \
         --throughput 1000000 --producer-props acks=1 buffer.memory=67108864 compression.type=lz4 \
         batch.size=100000 linger.ms=10 retries=0 bootstrap.servers=SERVERS",
    ),
    line(
        "compose-2024",
        NEWEST,
        "kafka-topics --bootstrap-server SERVERS --create --topic test-topic --partitions 1 \
         --replication-factor 1",
    ),
    line(
        "compose-2024",
        NEWEST,
        "kafka-producer-perf-test --topic test-topic --num-records {1000000} --record-size 1000 \
         --throughput 100000 --producer-props bootstrap.servers=SERVERS",
    ),
    line(
        "compose-2024",
        NEWEST,
        "kafka-producer-perf-test --topic test-topic --num-records {333333} --record-size 1000 \
         --throughput 33333 --producer-props bootstrap.servers=SERVERS",
    ),
    line(
        "compose-2024",
        NEWEST,
        "kafka-consumer-perf-test --bootstrap-server SERVERS --topic test-topic --messages {1000000}",
    ),
];

const fn line(study: &'static str, releases: &'static [&'static str], words: &'static str) -> Line {
    Line {
        study,
        releases,
        words,
        beside: Beside::Tool,
    }
}

impl Line {
    const fn beside(mut self, beside: Beside) -> Line {
        self.beside = beside;
        self
    }
}

/// Which releases and lines run.
#[derive(Debug, clap::Args)]
pub(crate) struct PublishedOptions {
    /// Divide the numbers of records by this
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    divide: u64,
    /// Releases of Apache Kafka; repeatable
    #[arg(long = "release", value_name = "V", default_values = ["0.8.2.2", "1.0.2", "4.3.1"])]
    releases: Vec<String>,
    #[command(flatten)]
    program: ProgramOption,
}

/// Runs the command.
pub(crate) fn run(options: &PublishedOptions) -> Result<ExitCode> {
    let binary = options.program.kgauge()?;
    let folder = tempfile::tempdir()?;
    let mut failed = 0;
    for release in &options.releases {
        failed += on(release, options, &binary, folder.path())?;
    }
    Ok(match failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// All lines that a release's own tools know; gives how many differ.
fn on(release: &str, options: &PublishedOptions, binary: &Path, folder: &Path) -> Result<u32> {
    let folder = folder.join(release);
    links(binary, &folder)?;
    let kgauge = Kgauge {
        binary,
        folder: &folder,
    };
    remark(&format!("starting Apache Kafka {release}"));
    let cluster = kgauge.start("cluster", &["cluster", "up", &format!("kafka:{release}")])?;
    let servers = cluster.servers()?;
    let zookeeper = match release.starts_with('4') {
        true => String::new(),
        false => cluster.value("zookeeper.connect")?,
    };
    let site = PublishedRun {
        release,
        servers,
        zookeeper,
        tools: kafka::tools(release)?,
        folder: &folder,
    };
    let mut failed = 0;
    for line in LINES.iter().filter(|line| line.releases.contains(&release)) {
        let words = written(line.words, options.divide);
        print_line(&format!(
            "\n{} on Apache Kafka {release}\n$ {words}",
            line.study
        ));
        if let Err(error) = compare(&words, line.beside, &site) {
            failed += 1;
            print_line(&format!("DIFFERENT: {error:#}"));
        }
    }
    Ok(failed)
}

/// The tools' names, as links to kgauge, where the command lines look for them.
fn links(binary: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder.join("bin"))?;
    let tools = [
        "kafka-topics",
        "kafka-run-class",
        "kafka-producer-perf-test",
    ];
    for tool in tools.into_iter().chain(["kafka-consumer-perf-test"]) {
        symlink(binary, folder.join(tool))?;
        symlink(binary, folder.join(format!("bin/{tool}.sh")))?;
    }
    Ok(())
}

/// The line with its numbers of records divided.
fn written(words: &str, divide: u64) -> String {
    let number = |word: &str| {
        let digits = word.strip_prefix('{')?.strip_suffix('}')?;
        let number: u64 = digits.parse().ok()?;
        Some((number / divide).max(1).to_string())
    };
    let words = words
        .split(' ')
        .map(|word| number(word).unwrap_or_else(|| word.to_owned()));
    words.collect::<Vec<_>>().join(" ")
}

struct PublishedRun<'a> {
    release: &'a str,
    servers: String,
    zookeeper: String,
    tools: ReleaseTools,
    folder: &'a Path,
}

impl PublishedRun<'_> {
    /// A line with the hosts of this site.
    fn here(&self, words: &str, topics: &str) -> Vec<String> {
        let words = words
            .replace("SERVERS", &self.servers)
            .replace("ZOOKEEPER", &self.zookeeper);
        let mut words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        for word in &mut words {
            if TOPICS.contains(&word.as_str()) {
                *word = format!("{topics}{word}");
            }
        }
        words
    }
}

/// Before the topics of either; one is as long as the other.
const THEIRS: &str = "theirs-";
const OURS: &str = "kgauge-";

/// Whatever is a topic in the lines: whoever runs second gets topics of its own.
const TOPICS: [&str; 4] = ["test7", "test", "performancetest", "test-topic"];

fn compare(words: &str, beside: Beside, site: &PublishedRun<'_>) -> Result<()> {
    if beside == Beside::Nothing {
        for topics in [THEIRS, OURS] {
            theirs(&site.here(words, topics), site)?.run()?.success()?;
        }
        print_line("done by its own tool");
        return Ok(());
    }
    let more = match beside {
        Beside::ToolWith(more) => more,
        _ => "",
    };
    let theirs = theirs(&site.here(&format!("{words}{more}"), THEIRS), site)?.run()?;
    let ours = ours(&site.here(words, OURS), site).run()?;
    let code = |finished: &FinishedJob| finished.status.and_then(|status| status.code());
    for (who, finished) in [("its own tool", &theirs), ("kgauge", &ours)] {
        print_line(&format!(
            "--- {who}, exit status {:?}",
            code(finished).unwrap_or(-1)
        ));
        let lines: Vec<&str> = finished.stdout.lines().collect();
        let (first, last) = (lines.iter().take(3), lines.iter().skip(3).rev().take(1));
        for line in first.chain(last) {
            print_line(line);
        }
        if lines.len() > 4 {
            print_line(&format!("({} lines in all)", lines.len()));
        }
    }
    ensure!(
        code(&theirs) == code(&ours),
        "the exit statuses differ; its own tool says\n{}\nkgauge says\n{}",
        theirs.stderr,
        ours.stderr
    );
    let (wanted, got) = (shape(&theirs.stdout, THEIRS), shape(&ours.stdout, OURS));
    ensure!(
        wanted == got,
        "its own tool prints\n{}\nkgauge prints\n{}",
        wanted.join("\n"),
        got.join("\n")
    );
    print_line("the shapes are the same");
    Ok(())
}

/// The release's own tool.
fn theirs(words: &[String], site: &PublishedRun<'_>) -> Result<Job> {
    let (script, rest) = words.split_first().context("an empty line")?;
    let script = script.trim_start_matches("bin/").trim_end_matches(".sh");
    let is_new = site.release.starts_with('4');
    let (class, rest) = match script {
        "kafka-run-class" => rest
            .split_first()
            .map(|(class, rest)| (class.as_str(), rest)),
        "kafka-topics" if is_new => Some(("org.apache.kafka.tools.TopicCommand", rest)),
        "kafka-topics" => Some(("kafka.admin.TopicCommand", rest)),
        "kafka-producer-perf-test" => Some(("org.apache.kafka.tools.ProducerPerformance", rest)),
        "kafka-consumer-perf-test" if is_new => {
            Some(("org.apache.kafka.tools.ConsumerPerformance", rest))
        }
        "kafka-consumer-perf-test" => Some(("kafka.tools.ConsumerPerformance", rest)),
        _ => None,
    }
    .with_context(|| format!("no tool {script}"))?;
    let mut command = site.tools.command(class);
    command.args(rest).current_dir(site.folder);
    Ok(Job::new(class.to_owned(), command, TIME_MAX))
}

fn ours(words: &[String], site: &PublishedRun<'_>) -> Job {
    let mut command = Command::new(site.folder.join(&words[0]));
    command
        .args(&words[1..])
        .env("KGAUGE_BOOTSTRAP_SERVERS", &site.servers)
        .current_dir(site.folder);
    // A tool that is still there would print as its newest release does.
    if site.release != "4.3.1" && !words[0].ends_with("run-class.sh") {
        command.args(["--as-of", site.release]);
    }
    Job::new(words.join(" "), command, TIME_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_braces_are_divided_and_nothing_else() {
        assert_eq!(written("a {5000} 100 -1", 50), "a 100 100 -1");
        assert_eq!(written("{3}", 50), "1");
        assert_eq!(written("{3} b=4", 1), "3 b=4");
    }
}
