//! The texts below the options of each `--help`: examples first, then facts that no option covers.
//!
//! Each paragraph is one line, so that clap wraps it to the terminal. Examples must fit 80 columns: wrapped ones
//! cannot be copied.

pub(crate) const KGAUGE: &str = "\
Examples:
  kgauge run latency --target host:9092 --rate 20k/s   # an existing cluster
  kgauge run linkedin-2014 --quick               # on the embedded cluster
  kgauge run linkedin-2014 --target kafka:4.3.1  # on Apache Kafka 4.3.1
  kgauge init my-scenario.yaml                   # a scenario to start from
  kgauge check my-scenario.yaml                  # its plan, without load
  kgauge run my-scenario.yaml --repeat 5         # your own scenario
  kgauge runs                                    # earlier runs
  kgauge capacity --goal 'p99 <= 20 ms'          # highest rate with that p99
  kgauge ab --a linger.ms=0 --b linger.ms=5      # which is better?
  kgauge tune --target kafka:4.3.1               # which settings help?
  kgauge checkup --target host:9092              # what should be improved?
  kgauge size --from RUN --rate 50MB/s --record 1kB  # how many machines?
  kgauge report kgauge-runs/RUN                  # report an earlier run
  kgauge truth                                   # test kgauge itself
  kgauge audit run.log                           # check another tool's results

Drop-in replacements for Kafka's tools, with each release's flags and output:
  kafka-producer-perf-test, kafka-consumer-perf-test, kafka-e2e-latency,
  kafka-topics, kafka-verifiable-producer, kafka-verifiable-consumer,
  kafka-run-class CLASS

Guide: kgauge help scenario | targets | kubernetes | marks | exit-codes";

pub(crate) const AGENT: &str = "\
Examples:
  openssl rand -hex 32 > token                   # the same file everywhere
  kgauge agent --listen 0.0.0.0:7700 --token-file token
  kgauge run s.yaml --target host:9092 --agents load1:7700,load2:7700 \\
      --agents-token-file token                  # on the lead
  kgauge agent --join lead:7700 --token-file token
  kgauge run s.yaml --target host:9092 --agents join:2 --agents-token-file token

Lead and agents prove to each other over TLS 1.3 that they know the token. An agent that loses its lead stops its load \
within a second. The exit status of --join is 0 when the run is over, 1 when the lead was lost, and 2 when the lead \
refused the agent or could not be reached.";

pub(crate) const AGENTS_MANIFEST: &str = "\
Examples:
  kgauge agents manifest k8s:replicas=5,namespace=perf throughput \\
      --target kafka.perf.svc:9092 \\
      | kubectl apply -f -
  kgauge agents manifest \\
      k8s:replicas=25,namespace=perf,image=registry.example/kgauge:1,cpu=4 \\
      my-scenario.yaml --target strimzi:kafka/my-cluster,user=kgauge \\
      > nightly.yaml

The objects are a Secret, a ConfigMap with the plan, a Service, one Job for the agents and one for the lead, which \
plans and merges. With user= there is also the KafkaUser. Guide: kgauge help kubernetes";

pub(crate) const INIT: &str = "\
Examples:
  kgauge init my-scenario.yaml
  kgauge init -                                  # print it
  kgauge init load.yaml --from-perf-test 'kafka-producer-perf-test.sh \\
      --topic t --num-records 1000000 --record-size 100 --throughput -1 \\
      --producer-props bootstrap.servers=b1:9092 acks=1'

The new file has every common key, each with a comment. A translated file names the flag of each value, and lists flags \
that have no counterpart in a scenario. Passwords and other connection settings are not copied.";

/// `--json` of `kgauge run`, which may have several targets.
pub(crate) const JSON_OF_RUN: &str =
    "Print summary.json (comparison.json for several targets) instead of the table";

/// `--goal` and `--duration` of a search, which does not judge a whole repeat.
pub(crate) const GOAL_OF_SEARCH: &str =
    "Goal that the rate must keep, such as `p99 <= 20 ms`; may be repeated";
pub(crate) const DURATION_OF_SEARCH: &str =
    "How long the load at a bound is measured [default: 60 s]";

/// `--duration` of A/B tests and tuning: many short repeats show more than few long ones.
pub(crate) const DURATION_OF_PAIRS: &str =
    "How long the load is measured per repeat [default: 10 s, with --quick 5 s]";

/// `kgauge size` prints another answer than a run.
pub(crate) const JSON_OF_SIZE: &str = "Print the answer as JSON instead of tables";
pub(crate) const VERBOSE_OF_SIZE: &str =
    "Also print each resource, and the CPU time of each kind of work";
pub(crate) const QUIET_OF_SIZE: &str = "Print only the answer, the tables and the caveats";

/// A comparison has other details than a run.
pub(crate) const VERBOSE_OF_COMPARE: &str = "Also print all other figures, a sentence per figure, \
                                             reasons why figures are not comparable, and the method";
pub(crate) const QUIET_OF_COMPARE: &str = "Print only the summary and the table";

pub(crate) const STUDIES: &str = "\
Examples:
  kgauge studies
  kgauge run linkedin-2014 --quick               # run one of them
  kgauge check linkedin-2014                     # its trials, without load";

pub(crate) const SCHEMA: &str = "\
Examples:
  kgauge schema > kgauge.schema.json             # for an editor
  kgauge schema summary                          # fields of summary.json

A first line `# yaml-language-server: $schema=kgauge.schema.json` in a scenario makes editors that use the YAML language \
server complete and check its keys.";

pub(crate) const CHECK: &str = "\
Examples:
  kgauge check my-scenario.yaml
  kgauge check my-scenario.yaml --quick --set linger.ms=20
  kgauge check latency --rate 20k/s --producers 4
  kgauge check scenarios/*.yaml --json
  kgauge check linkedin-2014 --seed 42           # with the order of repeats

kgauge shows trials, repeats, time and bytes written, and contacts no cluster. The exit status is 2 if a file has a \
mistake, with the same messages as `kgauge run`.";

pub(crate) const SIZE: &str = "\
Examples:
  kgauge size --measure --target kafka:4.3.1,brokers=3 --rate 50MB/s \\
      --record 1kB --peak 3x --fan-out 3
  kgauge size --from kgauge-runs/RUN --rate 50MB/s --record 1kB --peak 3x
  kgauge size --from RUN1 RUN2 --rate 20MB/s --record 400kB --fan-out 2 \\
      --retention 3d --lose 1 --prices machines.csv --page size.html

kgauge determines from the trials how much CPU time requests, batches and bytes cost the brokers. It then counts the \
machines that hold the peak while --lose brokers are down. The runs must be of one release on one kind of machine and \
vary batch and record sizes. They must have replicas and consumers if you need those. kgauge lists missing trials.

The first line of a table of machine types names its columns: name, vcpus and memory_gib, and optionally \
network_gbit_per_s, disk_mb_per_s, disk_gb, price_per_hour, disk_price_per_gb_month and zone_price_per_gb.

The exit status is 0 if there is an answer, 2 if there is none, and 3 if the target failed while it was measured.";

pub(crate) const RUNS: &str = "\
Examples:
  kgauge runs                                    # below kgauge-runs
  kgauge runs --json
  kgauge runs --prune --older-than 30d           # asks first
  kgauge runs --prune --keep 10 --yes

With both --older-than and --keep, --prune removes runs that are older and not among the newest N. It removes only run \
folders, and none that a running kgauge uses.";

pub(crate) const HELP: &str = "\
Examples:
  kgauge help scenario                           # every key of a scenario
  kgauge help marks                              # marks next to latencies
  kgauge help targets                            # embedded, Kafka, yours
  kgauge help kubernetes                         # Strimzi, load from pods
  kgauge help exit-codes
  kgauge help cluster up                         # as with --help";

pub(crate) const RUN: &str = "\
Examples:
  kgauge run latency --target b1:9092 --rate 20k/s --record-size '1 kB'
  kgauge run throughput --producers 4 --write-scenario my-scenario.yaml
  kgauge run linkedin-2014 --quick
  kgauge run linkedin-2014 --target kafka:4.3.1,brokers=3
  kgauge run linkedin-2014 --target kafka:0.8.2.2 --target kafka:4.3.1
  kgauge run linkedin-2014 --target 10.0.0.1:9092,10.0.0.2:9092 --yes
  kgauge run linkedin-2014 --target client.properties
  kgauge run my-scenario.yaml --set linger.ms=20 --name linger-20
  kgauge run my-scenario.yaml --set writers.settings.acks=all
  kgauge run my-scenario.yaml --set stages.hold='60 s' --repeat 5
  kgauge run my-scenario.yaml --target kafka:4.3.1 \\
      --set broker.num.network.threads=4
  kgauge run my-scenario.yaml --target b1:9092 --yes \\
      --metrics http://b1:9404/metrics,http://b2:9404/metrics
  kgauge run my-scenario.yaml --target b1:9092 --network-speed eth0=10Gbit
  kgauge run my-scenario.yaml --driver kgauge --driver java
  kgauge run my-scenario.yaml --target small:9092 --price 0.69 \\
      --target large:9092 --price 2.75
  kgauge run kgauge-runs/RUN/plan.json           # repeat a run
  kgauge run --resume kgauge-runs/RUN            # finish an interrupted run
  kgauge run my-scenario.yaml --serve 0          # watch in a browser

kgauge prints the table to stdout and everything else to stderr. Ctrl-C stops the load within a second, deletes the \
run's topics and writes the report. A second Ctrl-C skips waiting for responses; a third exits at once.";

pub(crate) const CAPACITY: &str = "\
Examples:
  kgauge capacity --target b1:9092 --goal 'p99 <= 20 ms'
  kgauge capacity --goal 'p99 <= 20 ms' --record-size '1 kB' --producers 4
  kgauge capacity end-to-end --goal 'p99 <= 50 ms' --budget '15 min'
  kgauge capacity my-scenario.yaml --goal 'p99.9 <= 100 ms' --repeat 3
  kgauge capacity my-scenario.yaml               # with its own `search`
  kgauge capacity --resume kgauge-runs/RUN       # continue a search

Goals: p50 to p99.99, mean and max (response of producers, end to end of echo flows), FLOW.FIGURE as in `kgauge run`, \
`failed <= N`, `skipped <= N`, `consumers keep up`, `followers keep up`. If there are several, a rate must keep all.

Ctrl-C prints the bounds so far. The exit status is 1 if no rate keeps the goals, and 2 if no bound was found.";

pub(crate) const AB: &str = "\
Examples:
  kgauge ab --a linger.ms=0 --b linger.ms=5      # throughput at full speed
  kgauge ab latency --b acks=1 --rate 20k/s      # p99, against acks=all
  kgauge ab my-scenario.yaml --a batch.size=16KiB --b batch.size=64KiB
  kgauge ab before.yaml after.yaml --metric target-cpu --width '2 %'
  kgauge ab --target kafka:4.2.0 --target kafka:4.3.1 --budget '1 h'
  kgauge ab latency --target x:9092 --target y:9092 --duet
  kgauge ab --aa --target b1:9092                # what can a test detect here?
  kgauge ab --resume kgauge-runs/RUN             # more pairs

Each pair is one repeat of both sides, in random order. The test ends as soon as the sides differ, as soon as they \
differ by less than the width, or when the budget is spent. You may watch and stop it at any time without raising the \
rate of false answers, which is at most 5 %.

Ctrl-C prints the result so far. The exit status is 0 if the answer is clear, whichever it is, and 2 if it is not.";

pub(crate) const TUNE: &str = "\
Examples:
  kgauge tune --target kafka:4.3.1 --budget '30 min'
  kgauge tune latency --rate 20k/s --goal latency --try client
  kgauge tune my-scenario.yaml --goal cost --keep 'writers.latency.p99 <= 20 ms'
  kgauge tune --target kafka:2.8.2 --candidate topic.partitions=8 \\
      --candidate broker.num.network.threads=4
  kgauge tune --preset latency --rate 20k/s
  kgauge tune --preset durability --durability-may-change \\
      --target kafka:4.3.1,brokers=3
  kgauge tune --resume kgauge-runs/RUN           # continue a search

kgauge measures the settings in force and their bottleneck. It screens settings that act on the bottleneck, and \
compares the best ones. It then measures the winner again next to the settings in force, and only recommends what \
passes this proof. Settings that decide what an ack means never change without --durability-may-change. Broker \
settings of existing clusters never change.

The exit status is 0 if the answer is clear, also if nothing helps. It is 1 if the settings in force miss a condition, \
and 2 if there is no clear answer or the settings in force cannot be judged.";

pub(crate) const CHECKUP: &str = "\
Examples:
  kgauge checkup --target b1:9092 --dry-run      # facts and limits, no load
  kgauge checkup --target b1:9092
  kgauge checkup --target client.properties --goal 'p99 <= 50 ms'
  kgauge checkup --target b1:9092 --max-rate 50k/s --max-disk '20 GB'
  kgauge checkup --target b1:9092 --budget '5 min' --yes \\
      --metrics http://b1:9404/metrics,http://b2:9404/metrics
  kgauge checkup --target kafka:4.3.1,brokers=3

Before any load, kgauge shows the topics, bytes and time that the checkup needs. On an existing cluster it asks for \
confirmation. It respects quotas and deletes its topics, even after Ctrl-C.

On an existing cluster, kgauge ends the load if partitions fall out of sync or a disk is more than 85 % full. With \
--metrics, it also does so if request handlers are less than 10 % idle. A cluster that is not healthy gets no load.

The exit status is 1 if no rate keeps the goal, 2 if no bound was found, and 3 if the load was ended to protect the \
cluster, or the cluster was not healthy.";

pub(crate) const REPORT: &str = "\
Examples:
  kgauge report kgauge-runs/RUN                  # table, new report.html
  kgauge report kgauge-runs/RUN --as markdown    # for a pull request
  kgauge report kgauge-runs/RUN --as csv --out figures.csv
  kgauge report kgauge-runs/RUN --as hdr --out logs

`csv` has one row per trial, flow and repeat. `hdr` writes interval logs for HdrHistogram's tools. With --as, kgauge \
leaves the run folder unchanged.

The exit status is that of the run: 0 success, 1 a goal or a send failed, 3 the target failed, 130 interrupted. It is \
2 for bad arguments or if the report cannot be written.";

pub(crate) const CEILING: &str = "\
Examples:
  kgauge ceiling                                 # 128 KiB and 16 KiB batches
  kgauge ceiling --set writers.record.size='1 kB'
  kgauge ceiling --set writers.settings.compression.type=lz4
  kgauge ceiling --set stages.hold='5 s' --json

kgauge generates, batches, compresses, checksums and times records as in any run. `in the process` discards them; \
`over loopback` sends them to a thread that responds at once and stores nothing. Every run measures this maximum for \
its own flows, and its report shows the share that was used.";

pub(crate) const AUDIT: &str = "\
Examples:
  kafka-producer-perf-test.sh ... | kgauge audit -
  kgauge audit run.log notes.md --buffer-memory 64MiB
  kgauge audit blog.md --nic 1G --brokers 3 --replication 3
  kgauge audit runs/*.log --as-of 1.0.2 --partitions 10 --json
  kgauge audit omb-result.json

kgauge reads output of kafka-producer-perf-test and kafka-consumer-perf-test of any release, also inside logs, \
Markdown or prose. It also reads output of rdkafka_performance and results of OpenMessaging Benchmark.

The exit status is 0 without contradictions, 1 if figures contradict each other, and 2 if there is nothing to audit.";

pub(crate) const TRUTH: &str = "\
Examples:
  kgauge truth                                   # all, about four minutes
  kgauge truth --quick                           # about one minute
  kgauge truth --only stall,recorder             # only these checks
  kgauge truth --again kgauge-runs/truth-RUN     # judge an earlier suite again
  kgauge truth --again DIR --doubt recorder      # deliberate error: must fail

Checks: stall, stalls, capacity, delay, counts, little, recorder, slices, kafka-tool. Each runs a scenario with faults \
on the embedded cluster; arithmetic gives the expected figures.

The exit status is 0 if every figure is as expected and 1 if one is wrong. It is 2 if none is wrong but some are \
inconclusive because other programs used the machine.";

pub(crate) const COMPARE: &str = "\
Examples:
  kgauge compare kgauge-runs/A kgauge-runs/B
  kgauge compare --baseline 2 A B C
  kgauge compare A1 A2 A3 --with B1 B2 B3        # several runs on each side
  kgauge compare A B --between-runs 5            # assume a deviation of 5 %
  kgauge compare before=A after=B                # name the sides
  kgauge compare A B --out before-and-after      # write HTML and JSON
  kgauge compare A B --as markdown               # for a pull request
  kgauge compare A B --fail-if-worse 10%         # CI gate
  kgauge compare A B --fail-if-worse 10% --metric records/s,p99=30%

The exit status is 0 whether the runs differ or not. With --fail-if-worse it is 0 if the runs rule out a regression of \
that size for every figure. It is 1 if a figure is significantly worse by at least that much, and 2 if the runs are \
inconclusive.";

pub(crate) const CLUSTER_UP: &str = "\
Examples:
  kgauge cluster up                              # one node, temporary data
  kgauge cluster up embedded:3 --data ./data     # three nodes, data is kept
  kgauge cluster up embedded:3,security=mtls     # with certificates
  kgauge cluster up embedded:3 --port 9092       # ports 9092, 9093 and 9094
  kgauge cluster up embedded,log.flush.interval.messages=1
  kgauge cluster up --port 9092 --listen 0.0.0.0   # for containers
  kgauge cluster up --config server.properties   # a Kafka broker's settings
  kgauge cluster up kafka:4.3.1,brokers=3        # Apache Kafka, three brokers
  kgauge cluster up kafka:0.8.2.2 --detach       # stop: kgauge cluster down
  kgauge cluster up kafka:4.3.1,security=mtls    # with certificates";

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};

    use crate::args::Arguments;

    /// Columns of a small terminal.
    const COLUMNS: usize = 80;

    fn check(command: &mut Command) {
        let name = command.get_name().to_owned();
        let epilogue = command.get_after_help().map(ToString::to_string);
        let shown = command.render_help().to_string();
        for line in shown.lines() {
            assert!(line.chars().count() <= COLUMNS, "{name}: {line}");
        }
        // If clap wrapped an example, its line no longer appears unchanged.
        for line in epilogue.unwrap_or_default().lines() {
            let is_example = line.starts_with("  ");
            assert!(
                !is_example || shown.contains(&format!("\n{line}\n")) || shown.ends_with(line),
                "{name}: {line}"
            );
        }
        // Nobody reads the help of what kgauge calls itself.
        let below = command.get_subcommands_mut();
        below.filter(|one| !one.is_hide_set()).for_each(check);
    }

    #[test]
    fn every_help_fits_80_columns() {
        let mut command = Arguments::command().term_width(COLUMNS);
        command.build();
        check(&mut command);
    }
}
