//! The texts below the options of each `--help`: examples first, then what the options do not say.
//!
//! A paragraph is one line here, which clap wraps at the terminal's width. Examples must fit 80 columns, so that
//! they can be copied.

pub(crate) const KGAUGE: &str = "\
Examples:
  kgauge run linkedin-2014 --quick               # on the embedded cluster
  kgauge run linkedin-2014 --target kafka:4.3.1  # on Apache Kafka 4.3.1
  kgauge run linkedin-2014 --target host:9092    # on an existing cluster
  kgauge run my-scenario.yaml --repeat 5         # a scenario of your own
  kgauge report kgauge-runs/RUN                  # an earlier run again
  kgauge truth                                   # known answers for kgauge
  kgauge audit run.log                           # check another tool's figures

Kafka's own tools, under their names, with the flags and output of every release:
  kafka-producer-perf-test, kafka-consumer-perf-test, kafka-e2e-latency,
  kafka-topics, kafka-verifiable-producer, kafka-verifiable-consumer,
  kafka-run-class CLASS

Exit status:
    0  good
    1  a goal or a send failed
    2  bad input, or results that cannot be written
    3  the target failed
    4  a defect of kgauge
  130  interrupted";

pub(crate) const RUN: &str = "\
Examples:
  kgauge run linkedin-2014 --quick
  kgauge run linkedin-2014 --target kafka:4.3.1,brokers=3
  kgauge run linkedin-2014 --target kafka:0.8.2.2 --target kafka:4.3.1
  kgauge run linkedin-2014 --target 10.0.0.1:9092,10.0.0.2:9092 --yes
  kgauge run linkedin-2014 --target client.properties
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
  kgauge run my-scenario.yaml --serve 0          # watch it in a browser

The table goes to stdout, everything else to stderr. Ctrl-C ends the run within a second, deletes its topics and still writes the \
report. A second Ctrl-C does not wait for answers, a third ends kgauge at once.";

pub(crate) const REPORT: &str = "\
Examples:
  kgauge report kgauge-runs/RUN                  # the table, report.html anew
  kgauge report kgauge-runs/RUN --as markdown    # for a pull request
  kgauge report kgauge-runs/RUN --as csv --out figures.csv
  kgauge report kgauge-runs/RUN --as hdr --out logs

`csv` has a row per trial, flow and repeat; `hdr` writes interval logs for HdrHistogram's tools. With --as nothing is written into the \
run folder.

The exit status is that of the run: 0 good, 1 a goal or a send failed, 3 the target failed, 130 interrupted. It is 2 for bad \
arguments, and if the report cannot be written.";

pub(crate) const CEILING: &str = "\
Examples:
  kgauge ceiling                                 # 128 KiB and 16 KiB batches
  kgauge ceiling --set writers.record.size='1 kB'
  kgauge ceiling --set writers.settings.compression.type=lz4
  kgauge ceiling --set stages.hold='5 s' --json

Records are made, batched, compressed, checksummed and timed as in any run. `in the process` throws them away; `over loopback` sends \
them to a thread that answers at once and keeps nothing. Each run measures the same for its own flows, and its report shows how much \
of it was used.";

pub(crate) const AUDIT: &str = "\
Examples:
  kafka-producer-perf-test.sh ... | kgauge audit -
  kgauge audit run.log notes.md --buffer-memory 64MiB
  kgauge audit blog.md --nic 1G --brokers 3 --replication 3
  kgauge audit runs/*.log --as-of 1.0.2 --partitions 10 --json
  kgauge audit omb-result.json

Reads lines of kafka-producer-perf-test and kafka-consumer-perf-test of any release, also inside logs, Markdown or prose; lines of \
rdkafka_performance; and results of OpenMessaging Benchmark. The exit status is 1 if figures contradict each other.";

pub(crate) const TRUTH: &str = "\
Examples:
  kgauge truth                                   # all, about four minutes
  kgauge truth --quick                           # shorter holds, about a minute
  kgauge truth --only stall,recorder             # these checks only
  kgauge truth --again kgauge-runs/truth-RUN     # judge an earlier suite again
  kgauge truth --again DIR --doubt recorder      # a wrong recorder: must fail

Checks: stall, stalls, capacity, delay, counts, little, recorder, slices, kafka-tool. Each is a scenario with faults on the embedded \
cluster, whose figures follow from arithmetic; docs/guide/truth.md explains how.

The exit status is 0 if every figure is what it must be, 1 if one is not, and 2 if none is wrong but some are inconclusive, because \
other programs used the machine.";

pub(crate) const COMPARE: &str = "\
Examples:
  kgauge compare kgauge-runs/A kgauge-runs/B
  kgauge compare --baseline 2 A B C
  kgauge compare A1 A2 A3 --with B1 B2 B3        # several runs on each side
  kgauge compare A B --between-runs 5            # equal runs differ by 5 %
  kgauge compare before=A after=B                # names for the two
  kgauge compare A B --out before-and-after      # writes page and JSON
  kgauge compare A B --as markdown               # for a pull request
  kgauge compare A B --fail-if-worse 10%         # a gate for builds
  kgauge compare A B --fail-if-worse 10% --metric records/s,p99=30%

The exit status is 0 whether the runs differ or not. With --fail-if-worse it is 0 if a change for the worse of that size is excluded for \
every figure, 1 if a figure is worse by that size or more and not by chance, and 2 if the runs show neither.";

pub(crate) const CLUSTER_UP: &str = "\
Examples:
  kgauge cluster up                              # one node, data is temporary
  kgauge cluster up embedded:3 --data ./data     # three nodes, data is kept
  kgauge cluster up embedded:3,security=mtls     # with certificates
  kgauge cluster up embedded:3 --port 9092       # ports 9092, 9093 and 9094
  kgauge cluster up embedded,log.flush.interval.messages=1
  kgauge cluster up --port 9092 --listen 0.0.0.0   # for containers
  kgauge cluster up --config server.properties   # a Kafka broker's settings
  kgauge cluster up kafka:4.3.1,brokers=3        # Apache Kafka, three brokers
  kgauge cluster up kafka:0.8.2.2 --detach       # `kgauge cluster down` ends it
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
        // A wrapped example has another line break than here.
        for line in epilogue.unwrap_or_default().lines() {
            let is_example = line.starts_with("  ");
            assert!(
                !is_example || shown.contains(&format!("\n{line}\n")) || shown.ends_with(line),
                "{name}: {line}"
            );
        }
        for below in command.get_subcommands_mut() {
            check(below);
        }
    }

    #[test]
    fn every_help_reads_well_at_80_columns() {
        let mut command = Arguments::command().term_width(COLUMNS);
        command.build();
        check(&mut command);
    }
}
