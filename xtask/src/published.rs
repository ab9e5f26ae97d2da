//! `cargo xtask published`: runs the command lines of published studies, except for their hosts, by kgauge under the
//! tools' names and by the tools of a release, on one cluster of that release. Both must end with the same exit status
//! and print the same lines on stdout, except for the figures.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::built::ProgramOption;
use crate::interop::drop_in::same_output;
use crate::kafka::{self, Job, ReleaseTools};
use crate::kgauge::Kgauge;
use crate::say::{print_line, remark};
use crate::stop;

const TIME_MAX: Duration = Duration::from_secs(1_800);

/// Command lines of a study, and the releases whose tools support them.
struct PublishedLines {
    study: &'static str,
    releases: &'static [&'static str],
    /// One per line. `{N}` is a number of records, which `--divide` reduces. Only the release's own tool gets the words
    /// in brackets; it runs a line that begins with `own` for both, because kgauge cannot on brokers of that age.
    lines: &'static str,
}

/// In this order: later lines read what earlier ones write.
const LINES: &[PublishedLines] = &[
    // The study's latency tool was older than the release, which also wants the consumer's longest wait and acks.
    PublishedLines {
        study: "linkedin-2014",
        releases: &["0.8.2.2"],
        lines: "\
own bin/kafka-topics.sh --zookeeper ZOOKEEPER --create --topic test7 --partitions 6 --replication-factor 1
own bin/kafka-topics.sh --zookeeper ZOOKEEPER --create --topic test --partitions 6 --replication-factor 1
bin/kafka-run-class.sh org.apache.kafka.clients.tools.ProducerPerformance test7 {50000000} 100 \
-1 acks=1 bootstrap.servers=SERVERS buffer.memory=67108864 batch.size=8196
bin/kafka-run-class.sh org.apache.kafka.clients.tools.ProducerPerformance test {50000000} 100 \
-1 acks=-1 bootstrap.servers=SERVERS buffer.memory=67108864 batch.size=64000
bin/kafka-run-class.sh org.apache.kafka.clients.tools.ProducerPerformance test {10485} 100000 \
-1 acks=1 bootstrap.servers=SERVERS buffer.memory=67108864 batch.size=128000
bin/kafka-consumer-perf-test.sh --zookeeper ZOOKEEPER --messages {50000000} --topic test7 --threads 1
bin/kafka-run-class.sh kafka.tools.TestEndToEndLatency SERVERS ZOOKEEPER test 5000 [100 1]",
    },
    PublishedLines {
        study: "dcos-2018",
        releases: &["1.0.2"],
        lines: "kafka-topics --zookeeper ZOOKEEPER --create --topic performancetest --partitions 10 \
                --replication-factor 1",
    },
    PublishedLines {
        study: "dcos-2018",
        releases: &["4.3.1"],
        lines: "kafka-topics --bootstrap-server SERVERS --create --topic performancetest --partitions 10 \
                --replication-factor 1",
    },
    PublishedLines {
        study: "dcos-2018",
        releases: &["1.0.2", "4.3.1"],
        lines: "\
kafka-producer-perf-test --topic performancetest --num-records {10000000} --record-size 250 --throughput 1000000 \
--producer-props acks=1 buffer.memory=67108864 compression.type=none batch.size=8196 linger.ms=0 retries=0 \
bootstrap.servers=SERVERS
kafka-producer-perf-test --topic performancetest --num-records {10000000} --record-size 250 --throughput 1000000 \
--producer-props acks=1 buffer.memory=67108864 compression.type=lz4 batch.size=100000 linger.ms=10 retries=0 \
bootstrap.servers=SERVERS",
    },
    PublishedLines {
        study: "compose-2024",
        releases: &["4.3.1"],
        lines: "\
kafka-topics --bootstrap-server SERVERS --create --topic test-topic --partitions 1 --replication-factor 1
kafka-producer-perf-test --topic test-topic --num-records {1000000} --record-size 1000 --throughput 100000 \
--producer-props bootstrap.servers=SERVERS
kafka-producer-perf-test --topic test-topic --num-records {333333} --record-size 1000 --throughput 33333 \
--producer-props bootstrap.servers=SERVERS
kafka-consumer-perf-test --bootstrap-server SERVERS --topic test-topic --messages {1000000}",
    },
];

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

/// Runs the command. Returns false when the output of a line differs.
pub(crate) fn run(options: &PublishedOptions) -> Result<bool> {
    let binary = options.program.kgauge()?;
    let folder = tempfile::tempdir()?;
    let mut is_good = true;
    for release in &options.releases {
        is_good &= compare_release(release, options, &binary, folder.path())?;
    }
    Ok(is_good)
}

/// Runs the lines of a release. Returns false when the output of one differs.
fn compare_release(
    release: &str,
    options: &PublishedOptions,
    binary: &Path,
    folder: &Path,
) -> Result<bool> {
    let folder = folder.join(release);
    links(binary, &folder)?;
    let kgauge = Kgauge {
        binary,
        folder: &folder,
    };
    remark(&format!("starting Apache Kafka {release}"));
    // Without Java's second compiler it starts sooner, and no figure is compared.
    let target = format!("kafka:{release},jvm=-XX:TieredStopAtLevel=1");
    let cluster = kgauge.start("cluster", &["cluster", "up", &target])?;
    let servers = cluster.servers()?;
    let zookeeper = if release.starts_with('4') {
        String::new()
    } else {
        cluster.value("zookeeper.connect")?
    };
    let setup = PublishedRun {
        release,
        servers,
        zookeeper,
        tools: kafka::tools(release)?.with_quick_start(),
        folder: &folder,
    };
    let mut is_good = true;
    for published in LINES {
        if !published.releases.contains(&release) {
            continue;
        }
        for line in published.lines.lines() {
            let line = divided(line, options.divide);
            let study = published.study;
            print_line(&format!("\n{study} on Apache Kafka {release}\n$ {line}"));
            let compared = compare(&line, &setup);
            stop::check()?;
            if let Err(error) = compared {
                is_good = false;
                print_line(&format!("DIFFERENT: {error:#}"));
            }
        }
    }
    Ok(is_good)
}

/// Links with the tools' names, where the command lines expect them.
fn links(binary: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder.join("bin"))?;
    for tool in [
        "kafka-topics",
        "kafka-run-class",
        "kafka-producer-perf-test",
        "kafka-consumer-perf-test",
    ] {
        symlink(binary, folder.join(tool))?;
        symlink(binary, folder.join(format!("bin/{tool}.sh")))?;
    }
    Ok(())
}

/// The line with its numbers of records divided.
fn divided(line: &str, divide: u64) -> String {
    let word = |word: &str| {
        let digits = word
            .strip_prefix('{')
            .and_then(|word| word.strip_suffix('}'));
        let number: Option<u64> = digits.and_then(|digits| digits.parse().ok());
        number.map_or(word.to_owned(), |number| {
            (number / divide).max(1).to_string()
        })
    };
    line.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// The cluster and the tools of a release.
struct PublishedRun<'a> {
    release: &'a str,
    servers: String,
    zookeeper: String,
    tools: ReleaseTools,
    folder: &'a Path,
}

impl PublishedRun<'_> {
    /// The words of a line, with the hosts of this cluster and a prefix for the topics.
    fn here(&self, line: &str, topics: &str) -> Vec<String> {
        let line = line
            .replace("SERVERS", &self.servers)
            .replace("ZOOKEEPER", &self.zookeeper);
        let renamed = |word: &str| {
            let prefix = if TOPICS.contains(&word) { topics } else { "" };
            format!("{prefix}{word}")
        };
        line.split(' ').map(renamed).collect()
    }
}

/// Prefixes of the topics of each side, of the same length.
const THEIRS: &str = "theirs-";
const OURS: &str = "kgauge-";

/// The topics in the lines. Each side gets its own.
const TOPICS: [&str; 4] = ["test7", "test", "performancetest", "test-topic"];

fn compare(line: &str, setup: &PublishedRun<'_>) -> Result<()> {
    if let Some(line) = line.strip_prefix("own ") {
        for topics in [THEIRS, OURS] {
            theirs(&setup.here(line, topics), setup)?.run()?.success()?;
        }
        print_line("the release's own tool ran for both");
        return Ok(());
    }
    let (line, more) = line.split_once(" [").unwrap_or((line, ""));
    let own_line = format!("{line} {}", more.trim_end_matches(']'));
    let theirs = theirs(&setup.here(own_line.trim_end(), THEIRS), setup)?.run()?;
    let ours = ours(&setup.here(line, OURS), setup).run()?;
    for (who, finished) in [("its own tool", &theirs), ("kgauge", &ours)] {
        let code = finished.status.and_then(|status| status.code());
        print_line(&format!("--- {who}, exit status {:?}", code.unwrap_or(-1)));
        let lines: Vec<&str> = finished.stdout.lines().collect();
        let (first, last) = (lines.iter().take(3), lines.iter().skip(3).rev().take(1));
        for line in first.chain(last) {
            print_line(line);
        }
        if lines.len() > 4 {
            print_line(&format!("({} lines in all)", lines.len()));
        }
    }
    same_output((&theirs, THEIRS), (&ours, OURS))?;
    print_line("the shapes are the same");
    Ok(())
}

/// The release's own tool.
fn theirs(words: &[String], setup: &PublishedRun<'_>) -> Result<Job> {
    let (script, rest) = words.split_first().context("an empty line")?;
    let script = script.trim_start_matches("bin/").trim_end_matches(".sh");
    let (class, rest) = match script {
        "kafka-run-class" => {
            let (class, rest) = rest.split_first().context("a class is missing")?;
            (class.as_str(), rest)
        }
        _ => (class(script, setup.release)?, rest),
    };
    let mut command = setup.tools.command(class);
    command.args(rest).current_dir(setup.folder);
    Ok(Job::new(class.to_owned(), command, TIME_MAX))
}

/// The class that a script of a release starts.
fn class(script: &str, release: &str) -> Result<&'static str> {
    let is_new = release.starts_with('4');
    Ok(match script {
        "kafka-topics" if is_new => "org.apache.kafka.tools.TopicCommand",
        "kafka-topics" => "kafka.admin.TopicCommand",
        "kafka-producer-perf-test" => "org.apache.kafka.tools.ProducerPerformance",
        "kafka-consumer-perf-test" if is_new => "org.apache.kafka.tools.ConsumerPerformance",
        "kafka-consumer-perf-test" => "kafka.tools.ConsumerPerformance",
        _ => bail!("no tool {script}"),
    })
}

fn ours(words: &[String], setup: &PublishedRun<'_>) -> Job {
    let mut command = Command::new(setup.folder.join(&words[0]));
    command
        .args(&words[1..])
        .env("KGAUGE_BOOTSTRAP_SERVERS", &setup.servers)
        .current_dir(setup.folder);
    // By default, a tool that still exists prints as its newest release does.
    if setup.release != "4.3.1" && !words[0].ends_with("run-class.sh") {
        command.args(["--as-of", setup.release]);
    }
    Job::new(words.join(" "), command, TIME_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_braces_are_divided_and_nothing_else() {
        assert_eq!(divided("a {5000} 100 -1", 50), "a 100 100 -1");
        assert_eq!(divided("{3}", 50), "1");
        assert_eq!(divided("{3} b=4", 1), "3 b=4");
    }

    #[test]
    fn every_line_calls_a_tool_that_its_releases_have() {
        for published in LINES {
            for line in published.lines.lines() {
                let line = line.trim_start_matches("own ");
                let script = line.split(' ').next().unwrap();
                let script = script.trim_start_matches("bin/").trim_end_matches(".sh");
                for release in published.releases {
                    let is_known = class(script, release).is_ok();
                    assert!(is_known || script == "kafka-run-class", "{line}");
                }
            }
        }
    }
}
