//! The names of Kafka's own tools, on an embedded cluster: lines, exit statuses, links.

use std::os::unix::fs::symlink;
use std::process::Output;

use crate::site::{ServingCluster, Site, check_status, good, text};

/// What a call prints, and how it ends.
fn call(site: &Site, servers: &str, line: &str) -> Output {
    let line = line.replace("SERVERS", servers);
    let words: Vec<&str> = line.split_whitespace().collect();
    site.run(&words)
}

/// Every run of digits, with its points, as one `N`.
fn shape(line: &str) -> String {
    let mut shape = String::new();
    for letter in line.chars() {
        let is_in_number = shape.ends_with('N');
        if !(letter.is_ascii_digit() || letter == '.' && is_in_number) {
            shape.push(letter);
        } else if !is_in_number {
            shape.push('N');
        }
    }
    shape
}

#[test]
fn a_topic_is_made_filled_read_and_deleted_by_the_names_of_kafkas_tools() {
    let site = Site::new();
    let cluster = ServingCluster::start(&site, &[]);
    let run = |line: &str| call(&site, &cluster.servers, line);
    let topics = "kafka-topics --bootstrap-server SERVERS";
    let made = run(&format!(
        "{topics} --create --topic mine --partitions 2 --replication-factor 1"
    ));
    assert_eq!(good(&made), "Created topic mine.\n");
    let again = run(&format!("{topics} --create --topic mine"));
    check_status(&again, 1);
    assert!(
        text(&again.stdout).starts_with("Error while executing topic command : "),
        "{}",
        text(&again.stdout)
    );
    let forgiven = run(&format!("{topics} --create --topic mine --if-not-exists"));
    assert_eq!(good(&forgiven), "");

    let sent = good(&run(
        "kafka-producer-perf-test.sh --topic mine --num-records 2000 --record-size 100 \
         --throughput 1000 --reporting-interval 1000 --producer-props \
         bootstrap.servers=SERVERS acks=1 --as-of 2.8.2",
    ));
    let lines: Vec<&str> = sent.lines().collect();
    let last = lines[lines.len() - 1];
    assert!(last.starts_with("2000 records sent, "), "{sent}");
    assert_eq!(
        shape(last),
        "N records sent, N records/sec (N MB/sec), N ms avg latency, N ms max latency, N ms Nth, \
         N ms Nth, N ms Nth, N ms Nth."
    );
    assert_eq!(
        shape(lines[0]),
        "N records sent, N records/sec (N MB/sec), N ms avg latency, N ms max latency."
    );

    let row = good(&run(
        "kafka-consumer-perf-test --topic mine --messages 2000 --broker-list SERVERS \
         --hide-header --as-of 0.11.0.3",
    ));
    let columns: Vec<&str> = row.trim_end().split(", ").collect();
    assert_eq!(columns.len(), 6, "{row}");
    assert_eq!(
        (columns[2], columns[4]),
        ("0.1907", "2000"),
        "2,000 x 100 B"
    );

    let trip = good(&run(
        "kafka-e2e-latency --bootstrap-server SERVERS --topic mine --num-records 20 \
         --producer-acks all --record-size 10",
    ));
    assert_eq!(
        shape(&trip),
        "N\tN\nAvg latency: N ms\nPercentiles: Nth = N, Nth = N, Nth = N\n"
    );
    let described = good(&run(&format!("{topics} --describe --topic mine")));
    assert!(
        described.contains("\tPartitionCount: 2\tReplicationFactor: 1\t"),
        "{described}"
    );
    assert_eq!(good(&run(&format!("{topics} --delete --topic mine"))), "");
    let gone = run(&format!("{topics} --describe --topic mine"));
    assert_eq!(
        text(&gone.stdout),
        "Error while executing topic command : Topic 'mine' does not exist as expected\n"
    );
    cluster.end();
}

#[test]
fn every_record_of_the_verifiable_producer_is_printed_and_read_once() {
    let site = Site::new();
    let cluster = ServingCluster::start(&site, &[]);
    let run = |line: &str| call(&site, &cluster.servers, line);
    let made = "kafka-topics --bootstrap-server SERVERS --create --topic v --partitions 1 \
                --replication-factor 1";
    good(&run(made));
    let sent = good(&run(
        "kafka-verifiable-producer --bootstrap-server SERVERS --topic v \
                          --max-messages 30 --repeating-keys 3",
    ));
    let events: Vec<serde_json::Value> = sent
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events.len(), 33);
    assert_eq!(events[1]["name"], "producer_send_success");
    assert_eq!(
        (&events[2]["key"], &events[2]["value"]),
        (&"1".into(), &"1".into())
    );
    assert_eq!(events[30]["offset"], 29);
    assert_eq!(
        (&events[32]["sent"], &events[32]["acked"]),
        (&30.into(), &30.into())
    );

    let read = good(&run(
        "kafka-verifiable-consumer --bootstrap-server SERVERS --topic v \
                          --group-id g --max-messages 20 --verbose",
    ));
    let values: Vec<String> = read
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|event| event["name"] == "record_data")
        .map(|event| event["value"].as_str().unwrap().to_owned())
        .collect();
    let expected: Vec<String> = (0..20).map(|value| value.to_string()).collect();
    assert_eq!(values, expected);
    // The group's next member continues at its offset.
    let rest = good(&run(
        "kafka-verifiable-consumer --bootstrap-server SERVERS --topic v \
                          --group-id g --max-messages 10",
    ));
    assert!(rest.contains("\"count\":10,\"partitions\":[{\"topic\":\"v\",\"partition\":0,\"count\":10,\"minOffset\":20,\"maxOffset\":29}]"), "{rest}");
    cluster.end();
}

#[test]
fn values_of_a_file_are_what_arrives() {
    let site = Site::new();
    let cluster = ServingCluster::start(&site, &[]);
    let run = |line: &str| call(&site, &cluster.servers, line);
    site.write("payload.txt", "one;three;");
    good(&run(
        "kafka-topics --bootstrap-server SERVERS --create --topic f --partitions 1 \
               --replication-factor 1",
    ));
    let sent = good(&run(
        "kafka-producer-perf-test --topic f --num-records 50 --payload-file payload.txt \
         --payload-delimiter ; --throughput -1 --bootstrap-server SERVERS",
    ));
    assert!(
        sent.contains("Number of records read: 2\n50 records sent, "),
        "{sent}"
    );
    let read = good(&run(
        "kafka-verifiable-consumer --bootstrap-server SERVERS --topic f \
                          --group-id g --max-messages 50 --verbose",
    ));
    let values =
        read.matches("\"value\":\"one\"").count() + read.matches("\"value\":\"three\"").count();
    assert_eq!(values, 50, "{read}");
    cluster.end();
}

#[test]
fn a_link_with_the_name_of_a_script_is_that_tool() {
    let site = Site::new();
    let link = site.path("kafka-topics.sh");
    symlink(env!("CARGO_BIN_EXE_kgauge"), &link).unwrap();
    let version = std::process::Command::new(&link)
        .arg("--version")
        .output()
        .unwrap();
    assert_eq!(good(&version), "4.3.1\n");
    let class = site.run(&["kafka-run-class", "kafka.admin.TopicCommand", "--version"]);
    assert_eq!(good(&class), "3.4.1\n", "the last release with that class");
}

#[test]
fn zookeeper_stands_for_the_servers_of_the_environment() {
    let site = Site::new();
    let cluster = ServingCluster::start(&site, &[]);
    let line = [
        "kafka-topics.sh",
        "--zookeeper",
        "z:2181",
        "--create",
        "--topic",
        "old",
        "--partitions",
        "1",
        "--replication-factor",
        "1",
        "--as-of",
        "1.0.2",
    ];
    let refused = site
        .command(&line)
        .env_remove("KGAUGE_BOOTSTRAP_SERVERS")
        .output()
        .unwrap();
    check_status(&refused, 1);
    assert!(text(&refused.stderr).contains("KGAUGE_BOOTSTRAP_SERVERS=host:9092"));
    let mut command = site.command(&line);
    command.env("KGAUGE_BOOTSTRAP_SERVERS", &cluster.servers);
    assert_eq!(good(&command.output().unwrap()), "Created topic \"old\".\n");
    cluster.end();
}

#[test]
fn mistakes_and_failed_sends_end_with_their_status() {
    let site = Site::new();
    let status = |line: &str| {
        let output = call(&site, "127.0.0.1:1", line);
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let (code, out, stderr) = status(
        "kafka-producer-perf-test --num-records 1 --record-size 1 \
                                    --throughput 1 --bootstrap-server SERVERS",
    );
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(
        stderr.contains("kafka-producer-perf-test: error: argument --topic is required"),
        "{stderr}"
    );
    let (code, out, stderr) = status("kafka-consumer-perf-test --nope");
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(
        stderr.starts_with("nope is not a recognized option\n"),
        "{stderr}"
    );
    let (code, _, stderr) = status(
        "kafka-producer-perf-test --topic t --num-records 1 --record-size 1 \
                                  --throughput 1 --bootstrap-server SERVERS",
    );
    assert_eq!(code, Some(1));
    assert!(stderr.contains("refused"), "nobody is there: {stderr}");
    let (code, help, _) = status("kafka-producer-perf-test");
    assert_eq!(code, Some(0), "argparse4j's help is a result");
    assert!(help.contains("--payload-monotonic"), "{help}");

    let cluster = ServingCluster::start(&site, &[]);
    let made = call(
        &site,
        &cluster.servers,
        "kafka-topics --bootstrap-server SERVERS --create \
                     --topic small --partitions 1 --replication-factor 1 --config max.message.bytes=100",
    );
    good(&made);
    let transactional = "kafka-producer-perf-test --topic small --num-records 1 --record-size 1 \
                         --throughput 1 --bootstrap-server SERVERS --transactional-id x";
    let refused = call(&site, &cluster.servers, transactional);
    assert_eq!(refused.status.code(), Some(1), "as Kafka's tool ends");
    assert!(text(&refused.stderr).contains("does not support transactions"));
    let fails = "kafka-producer-perf-test --topic small --num-records 5 --record-size 500 \
                 --throughput -1 --bootstrap-server SERVERS";
    let failed = call(&site, &cluster.servers, fails);
    check_status(&failed, 1);
    assert_eq!(
        text(&failed.stdout).lines().last().unwrap(),
        "0 records sent, 0.000000 records/sec (0.00 MB/sec), NaN ms avg latency, 0.00 ms max \
         latency, 0 ms 50th, 0 ms 95th, 0 ms 99th, 0 ms 99.9th."
    );
    let forgiven = call(
        &site,
        &cluster.servers,
        &format!("{fails} --exit-zero-on-failures"),
    );
    assert_eq!(
        forgiven.status.code(),
        Some(0),
        "{}",
        text(&forgiven.stderr)
    );
    cluster.end();
}

#[test]
fn topics_that_a_pattern_fits_are_read_together() {
    let site = Site::new();
    let cluster = ServingCluster::start(&site, &[]);
    let run = |line: &str| call(&site, &cluster.servers, line);
    for (topic, partitions) in [("in-b", 2), ("in-a", 3), ("out-a", 1)] {
        good(&run(&format!(
            "kafka-topics --bootstrap-server SERVERS --create --topic {topic} --partitions {partitions} \
             --replication-factor 1"
        )));
        good(&run(&format!(
            "kafka-producer-perf-test --topic {topic} --num-records 1000 --record-size 100 \
             --throughput -1 --bootstrap-server SERVERS"
        )));
    }
    let tool = "kafka-consumer-perf-test --bootstrap-server SERVERS --hide-header";
    let row = good(&run(&format!(
        "{tool} --include in-[ab] --num-records 2000"
    )));
    let columns: Vec<&str> = row.trim_end().split(", ").collect();
    assert_eq!(
        (columns[2], columns[4]),
        ("0.1907", "2000"),
        "2 x 1,000 x 100 B: {row}"
    );
    // A group has offsets for all topics, so a later member reads only the third topic's records.
    let of_group = format!("{tool} --group g --num-records");
    let first = run(&format!("{of_group} 2000 --include in-.*"));
    assert_eq!(good(&first).split(", ").nth(4), Some("2000"));
    assert!(text(&first.stderr).contains("reads in-a, in-b\n"));
    let rest = good(&run(&format!("{of_group} 1000 --include .*-a|in-b")));
    assert_eq!(rest.split(", ").nth(4), Some("1000"), "{rest}");

    let none = run(&format!("{tool} --include nothing.* --num-records 1"));
    assert!(
        good(&none).starts_with("WARNING: Exiting before consuming the expected number of records")
    );
    assert!(text(&none.stderr).contains("no topic's name matches nothing.*"));
    let refused = run(&format!("{tool} --include (?!in).* --num-records 1"));
    assert_eq!(refused.status.code(), Some(2), "kgauge cannot do it");
    assert!(text(&refused.stderr).contains("look-around"));
    let wrong = run(&format!("{tool} --include (in --num-records 1"));
    check_status(&wrong, 1);
    assert_eq!(text(&wrong.stderr), "--include (in: unclosed group\n");
    cluster.end();
}
