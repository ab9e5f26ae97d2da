//! From scenario to plan and share: nothing open, nothing lost, and readable again.

#![allow(clippy::unwrap_used, reason = "tests")]

use kgauge_scenario::{
    AssignmentStrategy, ClusterFacts, ConsumeEnd, ConsumerSettings, FileRead, Files, FlowPlan,
    GoalComparison, GroupPlan, GroupProtocol, Plan, PlanError, PlanReadError, PlanRequest,
    ProduceFlow, Scenario, Shape, Share, Size, Stripe, Studies, TargetKind, Trace, Trial,
};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;

fn cluster(brokers: u32) -> ClusterFacts {
    let cluster_id = "4L6g3nShT-eMCtK--X86sw".to_owned();
    ClusterFacts {
        cluster_id,
        brokers,
        kind: TargetKind::Embedded,
        version: None,
    }
}

fn request(brokers: u32) -> PlanRequest {
    PlanRequest {
        run_id: "r1".to_owned(),
        seed: u64::MAX,
        size: Size::Quick,
        study: None,
        cluster: cluster(brokers),
    }
}

/// A scenario with one produce flow `w`; `flow` and `rest` add keys.
fn scenario(flow: &str, rest: &str) -> Scenario {
    let text = format!(
        "kgauge: 1\nname: small\nquestion: Why?\ntopic: {{partitions: 6}}\nflows:\n  \
         - {{name: w, kind: produce, shape: max, record: {{size: 100 B}}{flow}}}\n{rest}"
    );
    match Scenario::parse("small.yaml", &text) {
        Ok(scenario) => scenario,
        Err(problems) => panic!("{problems}"),
    }
}

fn first(scenario: &Scenario) -> Trial {
    scenario.trials(Size::Default).remove(0)
}

fn producers(scenario: &Scenario) -> ProduceFlow {
    match first(scenario).flows.remove(0) {
        FlowPlan::Produce(flow) => flow,
        other => panic!("{other:?}"),
    }
}

#[test]
fn flows_trials_and_stages_have_defaults() {
    let flow = producers(&scenario("", ""));
    assert_eq!(
        (flow.producers, flow.records_max, flow.skip_after_ns),
        (1, None, 30 * SECOND)
    );
    let trial = first(&scenario("", ""));
    assert_eq!(
        (trial.topic.replication, trial.repeats, trial.name.as_str()),
        (1, 3, "")
    );
    assert_eq!(trial.stages.hold_ns, Some(15 * SECOND));
    assert_eq!(
        (trial.stages.warm_up_ns, trial.stages.drain_ns_max),
        (2 * SECOND, 30 * SECOND)
    );
}

#[test]
fn members_of_a_group_have_kafkas_defaults_and_what_is_written() {
    let group = |rest: &str| {
        let FlowPlan::Consume(flow) = first(&scenario("", rest)).flows.remove(1) else {
            panic!()
        };
        flow.group
    };
    let mut expected = GroupPlan {
        label: "r".to_owned(),
        protocol: GroupProtocol::Classic,
        remote_assignor: None,
        session_timeout_ns: 45 * SECOND,
        heartbeat_ns: 3 * SECOND,
        rebalance_timeout_ns: 300 * SECOND,
        strategies: vec![AssignmentStrategy::Range],
        instance_id: None,
        commit_ns: Some(5 * SECOND),
    };
    assert_eq!(group("  - {name: r, kind: consume}\n"), None);
    assert_eq!(group("  - {name: r, kind: consume, group: false}\n"), None);
    let spare = "  - {name: r, kind: consume, group: true, consumers: 50}\n";
    assert_eq!(group(spare), Some(expected.clone()));
    expected.label = "mine".to_owned();
    expected.strategies = vec![AssignmentStrategy::RoundRobin, AssignmentStrategy::Range];
    expected.instance_id = Some("fixed".to_owned());
    expected.commit_ns = None;
    let written = "  - name: r\n    kind: consume\n    group: mine\n    settings:\n      \
        partition.assignment.strategy: \"org.apache.kafka.clients.consumer.RoundRobinAssignor, \
        range\"\n      group.instance.id: fixed\n      enable.auto.commit: false\n";
    assert_eq!(group(written), Some(expected.clone()));
    let sticky = "  - {name: r, kind: consume, group: mine, settings: {group.instance.id: fixed, \
        enable.auto.commit: false, partition.assignment.strategy: \"cooperative-sticky, StickyAssignor\"}}\n";
    expected.strategies = vec![
        AssignmentStrategy::CooperativeSticky,
        AssignmentStrategy::Sticky,
    ];
    assert_eq!(group(sticky), Some(expected.clone()));
    let anew = "  - {name: r, kind: consume, group: mine, settings: {group.instance.id: fixed, \
        enable.auto.commit: false, group.protocol: CONSUMER, group.remote.assignor: range}}\n";
    expected.strategies = vec![AssignmentStrategy::Range];
    expected.protocol = GroupProtocol::Consumer;
    expected.remote_assignor = Some("range".to_owned());
    assert_eq!(group(anew), Some(expected));
}

#[test]
fn consumers_have_kafkas_defaults_too() {
    let rest = "  - {name: r, kind: consume}\n";
    let FlowPlan::Consume(flow) = first(&scenario("", rest)).flows.remove(1) else {
        panic!()
    };
    let expected = ConsumerSettings {
        fetch_bytes_min: 1,
        fetch_wait_ns_max: 500 * MS,
        fetch_bytes_max: 52_428_800,
        partition_fetch_bytes_max: 1_048_576,
        check_crcs: true,
        read_committed: false,
        request_timeout_ns: 30 * SECOND,
        receive_buffer_bytes: Some(65_536),
        send_buffer_bytes: Some(131_072),
        client_id: "kgauge-r".to_owned(),
    };
    assert_eq!(
        (flow.settings.clone(), flow.records),
        (expected, ConsumeEnd::StageEnd)
    );
    let split: Vec<Vec<u32>> = (0..1).map(|i| flow.partitions_of(i, 6).collect()).collect();
    assert_eq!(split, [[0, 1, 2, 3, 4, 5]]);
}

#[test]
fn a_record_that_just_fits_is_not_refused() {
    // 1048576 - (61 + 21 + 1 + 3 + 1): the largest value that Kafka's producer takes by default.
    let largest = scenario(
        "",
        "stages: {hold: 1 s}\nvary: {w.record.size: [1048489 B]}\n",
    );
    assert_eq!(producers(&largest).record.value_bytes, 1_048_489);
    let text = largest.text().replace("1048489", "1048490");
    assert!(Scenario::parse("too-large", &text).is_err());
}

#[test]
fn factors_are_crossed_and_published_figures_find_their_trial() {
    let rest = "vary:\n  w.record.size: [10 B, 100 B]\n  w.settings.acks: [1, all]\n\
                published:\n  - {figure: w.throughput, value: 1k/s, trial: {w.record.size: 100 B}}\n\
                goals: [w.failed <= 0, w.throughput.bytes > 1.5 MB/s]\n";
    let trials = scenario("", rest).trials(Size::Full);
    let seen: Vec<(u32, &str, usize)> = trials
        .iter()
        .map(|trial| (trial.index, trial.name.as_str(), trial.published.len()))
        .collect();
    assert_eq!(
        seen,
        [
            (0, "w.record.size=10 B, w.settings.acks=1", 0),
            (1, "w.record.size=10 B, w.settings.acks=all", 0),
            (2, "w.record.size=100 B, w.settings.acks=1", 1),
            (3, "w.record.size=100 B, w.settings.acks=all", 1),
        ]
    );
    let pair = |path: &str, value: &str| (path.to_owned(), value.to_owned());
    assert_eq!(
        trials[3].factors,
        [
            pair("w.record.size", "100 B"),
            pair("w.settings.acks", "all")
        ]
    );
    let goal = &trials[0].goals[1];
    assert_eq!(goal.figure.to_string(), "w.throughput.bytes");
    assert_eq!(
        (goal.comparison, goal.value),
        (GoalComparison::Greater, 1_500_000.0)
    );
}

#[test]
fn sizes_and_sets_change_what_they_name() {
    let rest = "sizes:\n  quick: {stages.hold: 2 s, w.settings.linger.ms: 0}\n  \
                full: {w.records: 1 MiB, stages.hold: none}\n";
    let mut scenario = scenario("", rest);
    let hold = |scenario: &Scenario, size| scenario.trials(size)[0].stages.hold_ns;
    assert_eq!(hold(&scenario, Size::Quick), Some(2 * SECOND));
    assert_eq!(hold(&scenario, Size::Default), Some(15 * SECOND));
    assert_eq!(hold(&scenario, Size::Full), None);
    let FlowPlan::Produce(full) = &scenario.trials(Size::Full)[0].flows[0] else {
        panic!()
    };
    assert_eq!(full.records_max, Some(10_485), "1 MiB of 100 B records");

    scenario.set("stages.hold", "7 s").unwrap();
    scenario.set("w.shape", "{poisson: 50k/s}").unwrap();
    scenario.set("topic.config.retention.bytes", "-1").unwrap();
    for size in [Size::Quick, Size::Default, Size::Full] {
        assert_eq!(hold(&scenario, size), Some(7 * SECOND));
        let trial = &scenario.trials(size)[0];
        assert_eq!(trial.topic.config["retention.bytes"], "-1");
        let FlowPlan::Produce(flow) = &trial.flows[0] else {
            panic!()
        };
        assert_eq!(
            flow.shape,
            Shape::Poisson {
                per_second: 50_000.0
            }
        );
    }
    // --set wins over --quick.
    scenario.set("w.settings.linger.ms", "3").unwrap();
    let FlowPlan::Produce(quick) = &scenario.trials(Size::Quick)[0].flows[0] else {
        panic!()
    };
    assert_eq!(quick.settings.linger_ns, 3 * MS);
}

#[test]
fn a_varied_path_that_is_set_becomes_one_trial() {
    let rest = "vary: {w.record.size: [10 B, 100 B]}\npublished:\n  \
                - {figure: w.throughput, value: 1k/s, trial: {w.record.size: 100 B}}\n";
    let mut scenario = scenario("", rest);
    scenario.set("w.record.size", "100 B").unwrap();
    let trials = scenario.trials(Size::Default);
    assert_eq!((trials.len(), trials[0].published.len()), (1, 1));
    scenario.set("w.record.size", "33 B").unwrap();
    let trials = scenario.trials(Size::Default);
    assert_eq!(
        (trials[0].name.as_str(), trials[0].published.len()),
        ("w.record.size=33 B", 0)
    );
}

#[test]
fn changes_that_only_fit_together_are_checked_together() {
    let mut scenario = scenario("", "");
    let change = |path: &str, value: &str| (path.to_owned(), value.to_owned());
    let batch = change("w.settings.batch.size", "2 MiB");
    let request = change("w.settings.max.request.size", "4 MiB");
    assert!(scenario.set(&batch.0, &batch.1).is_err());
    scenario.set_all(&[batch, request]).unwrap();
    assert_eq!(producers(&scenario).settings.batch_bytes, 2 << 20);
    let wrong = [change("repeats", "none"), change("stages.hold", "5")];
    assert_eq!(scenario.set_all(&wrong).unwrap_err().count(), 2);
}

#[test]
fn a_setting_of_one_flow_needs_no_path() {
    let reader = "  - {name: r, kind: consume}\n";
    let mut scenario = scenario("", reader);
    scenario.set("linger.ms", "20").unwrap();
    assert_eq!(producers(&scenario).settings.linger_ns, 20 * MS);
    // Both flows have it; the one that sends comes first.
    scenario.set("client.id", "me").unwrap();
    assert_eq!(producers(&scenario).settings.client_id, "me");
    scenario.set("fetch.min.bytes", "7").unwrap();
    assert!(scenario.has_path("acks") && !scenario.has_path("ack"));
    let error = scenario.set("linger.ms", "soon").unwrap_err().to_string();
    assert!(error.contains("w.settings.linger.ms=soon"), "{error}");
}

#[test]
fn a_setting_of_several_flows_names_their_paths() {
    let other = "  - {name: x, kind: echo, shape: {constant: 1/s}, record: {size: 48 B}}\n";
    let mut scenario = scenario("", other);
    let error = scenario.set("linger.ms", "20").unwrap_err().to_string();
    for words in [
        "several flows",
        "w.settings.linger.ms, x.settings.linger.ms",
    ] {
        assert!(error.contains(words), "{error}");
    }
    scenario.set("x.settings.linger.ms", "20").unwrap();
}

#[test]
fn a_plan_reads_back_as_it_was() {
    for study in Studies::list() {
        for size in [Size::Quick, Size::Default, Size::Full] {
            let request = PlanRequest {
                size,
                study: Some(study.about.clone()),
                ..request(3)
            };
            let plan = Plan::new(request, &study.scenarios).unwrap();
            let indexes: Vec<u32> = plan.trials.iter().map(|trial| trial.index).collect();
            assert_eq!(indexes, (0..indexes.len() as u32).collect::<Vec<u32>>());
            if study.about.name == "linkedin-2014" {
                assert_eq!(indexes.len(), 16);
            }
            assert_eq!(Plan::from_json(&plan.to_json()).unwrap(), plan);
        }
    }
    let rest = "  - {name: r, kind: consume, records: 5}\n";
    let scenarios = [scenario(", producers: 3, records: 7", rest)];
    let mut plan = Plan::new(request(1), &scenarios).unwrap();
    let FlowPlan::Produce(flow) = &mut plan.trials[0].flows[0] else {
        panic!()
    };
    flow.shape = Shape::Constant {
        per_second: 0.1 + 0.2,
    };
    assert_eq!(Plan::from_json(&plan.to_json()).unwrap(), plan);
}

#[test]
fn a_plan_that_somebody_broke_is_refused_in_words() {
    let plan = Plan::new(request(1), &[scenario("", "")]).unwrap();
    let text = plan.to_json();
    let broken = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        Plan::from_json(&text.replace(from, to))
            .unwrap_err()
            .to_string()
    };
    assert!(broken("\"format\": 1", "\"format\": 9").contains("format 9"));
    assert!(broken("\"producers\": 1", "\"producers\": 0").contains("without producers"));
    assert!(broken("\"partitions\": 6", "\"partitions\": 0").contains("without partitions"));
    assert!(broken("\"index\": 0", "\"index\": 1").contains("its index is 1"));
    assert!(broken("\"hold_ns\": 15000000000", "\"hold_ns\": null").contains("never ends"));
    assert!(broken("\"acks\":", "\"ack\":").contains("unknown field"));
    assert!(broken("\"producers\": 1,", "\"producers\": 1, \"typo\": 1,").contains("typo"));
    assert!(matches!(Plan::from_json("{}"), Err(PlanReadError::Json(_))));
    assert!(matches!(
        Plan::from_json(&"[".repeat(100_000)),
        Err(PlanReadError::Json(_))
    ));
}

#[test]
fn a_cluster_that_is_too_small_is_named_with_every_scenario() {
    let mut large = scenario("", "");
    large.set("target.brokers", "3").unwrap();
    let other = large.text().replace("name: small", "name: other");
    let mut other = Scenario::parse("other.yaml", &other).unwrap();
    other.set("target.brokers", "3").unwrap();
    let scenarios = [large, other];
    let error = Plan::new(request(2), &scenarios).unwrap_err();
    let needed = vec![("small".to_owned(), 3), ("other".to_owned(), 3)];
    assert_eq!(error, PlanError::TooFewBrokers { present: 2, needed });
    assert!(
        error
            .to_string()
            .contains("2 brokers, but scenario `small` needs 3")
    );
    assert!(Plan::new(request(3), &scenarios).is_ok());
    assert_eq!(Plan::new(request(3), &[]), Err(PlanError::NoScenario));
}

#[test]
fn shares_divide_the_members_and_agree_on_the_schedule() {
    let scenarios = [scenario(", producers: 7", "")];
    let plan = Plan::new(request(1), &scenarios).unwrap();
    let agents: Vec<_> = (0..3)
        .map(|index| plan.share(0, 1, Stripe { index, count: 3 }).unwrap())
        .collect();
    let mut members: Vec<u32> = agents
        .iter()
        .flat_map(|share| share.members("w", 7).map(|stripe| stripe.index))
        .collect();
    members.sort_unstable();
    assert_eq!(members, [0, 1, 2, 3, 4, 5, 6]);
    let seeds: Vec<u64> = agents.iter().map(|share| share.flow_seed("w")).collect();
    assert!(seeds.iter().all(|seed| *seed == seeds[0]));
    assert_ne!(
        seeds[0],
        agents[0].flow_seed("r"),
        "flows arrive independently"
    );
    let other = plan.share(0, 2, Stripe::WHOLE).unwrap();
    assert_ne!(seeds[0], other.flow_seed("w"), "repeats are different");
    assert!(plan.share(1, 0, Stripe::WHOLE).is_none());
    assert!(
        plan.share(0, 3, Stripe::WHOLE).is_none(),
        "there are three repeats"
    );
    let json = serde_json::to_string(&other).unwrap();
    assert_eq!(
        serde_json::from_str::<kgauge_scenario::Share>(&json).unwrap(),
        other
    );
}

#[test]
fn each_load_of_a_search_is_a_new_sample() {
    let mut plan = Plan::new(request(1), &[scenario("", "")]).unwrap();
    let mut load = plan.trials[0].clone();
    load.load = Some(1_000.0);
    plan.trials.clear();
    for index in 0..2 {
        load.index = index;
        plan.trials.push(load.clone());
    }
    let seeds = [0, 1].map(|trial| plan.share(trial, 0, Stripe::WHOLE).unwrap().seed);
    assert_ne!(seeds[0], seeds[1], "the same rate, measured again");
}

#[test]
fn a_name_with_a_byte_order_mark_and_windows_line_ends_is_read() {
    let text = scenario("", "").text().replace('\n', "\r\n");
    let scenario = Scenario::parse("w.yaml", &format!("\u{feff}{text}")).unwrap();
    assert_eq!((scenario.name(), scenario.question()), ("small", "Why?"));
    assert_eq!(
        (scenario.source(), scenario.text()),
        ("w.yaml", text.as_str())
    );
}

#[test]
fn broker_settings_come_from_the_scenario_or_from_set_and_may_be_varied() {
    let text = "target: {config: {num.io.threads: 4, log.dirs.note: a b}}\n";
    let mut scenario = scenario("", text);
    assert_eq!(first(&scenario).cluster.config["num.io.threads"], "4");
    scenario.set("broker.num.network.threads", "2").unwrap();
    scenario.set("target.config.num.io.threads", "8").unwrap();
    let config = first(&scenario).cluster.config;
    let expected = [
        ("log.dirs.note", "a b"),
        ("num.io.threads", "8"),
        ("num.network.threads", "2"),
    ];
    let found: Vec<_> = config
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    assert_eq!(found, expected);

    let varied = self::scenario("", "vary: {broker.num.io.threads: [1, 8]}\n");
    let trials = varied.trials(Size::Default);
    let values: Vec<_> = trials
        .iter()
        .map(|trial| trial.cluster.config["num.io.threads"].as_str())
        .collect();
    assert_eq!(values, ["1", "8"]);
    assert_eq!(trials[0].name, "broker.num.io.threads=1");
}

#[test]
fn broker_settings_hold_no_secrets_and_one_line() {
    let refused = |path: &str, value: &str| {
        let mut scenario = scenario("", "");
        scenario.set(path, value).unwrap_err().to_string()
    };
    for key in [
        "ssl.keystore.password",
        "listener.name.x.plain.sasl.jaas.config",
    ] {
        let words = refused(&format!("broker.{key}"), "canary");
        assert!(words.contains("is a secret"), "{words}");
        assert!(!words.contains("canary"), "{words}");
    }
    assert!(refused("broker.a b", "1").contains("not a valid name of a broker setting"));
    assert!(refused("broker.num.io.threads", "\"1\\n2\"").contains("has one line"));
}

#[test]
fn a_release_without_idempotence_gets_none_unless_it_was_asked_for() {
    let asked = scenario(", settings: {enable.idempotence: true}", "");
    let silent = scenario("", "");
    let mut plan = Plan::new(request(1), &[asked, silent]).unwrap();
    assert_eq!(plan.without_idempotence(), ["w"]);
    let is_on = |index: usize| match &plan.trials[index].flows[0] {
        FlowPlan::Produce(flow) => flow.settings.idempotence,
        _ => panic!("no consumer was written"),
    };
    assert!(is_on(0), "asked for: refusing it is somebody else's task");
    assert!(!is_on(1));
    assert!(Plan::from_json(&plan.to_json()).is_ok());
}

#[test]
fn a_ramp_takes_as_long_as_the_hold_and_a_trace_is_kept_in_the_plan() {
    let text = "kgauge: 1\nname: a\nquestion: b\ntopic: {partitions: 1}\nflows:\n  \
         - {name: w, kind: produce, record: {size: 1 B}, shape: {ramp: {from: 0/s, to: 5/s}}}\n  \
         - {name: t, kind: produce, record: {file: r.txt}, shape: {replay: {rates: t.txt}}}\n\
         stages: {hold: 7 s}\n";
    let files = Files::by(|path| {
        let bytes = match path {
            "t.txt" => b"2\n3\n".to_vec(),
            "r.txt" => b"one\nthree\n".to_vec(),
            _ => return Err("there is no such file".to_owned()),
        };
        let path = format!("/there/{path}");
        Ok(FileRead { path, bytes })
    });
    let mut scenario = Scenario::parse_with("a.yaml", text, files).unwrap();
    scenario.set("stages.hold", "9 s").unwrap();
    let trial = scenario.trials(Size::Default).remove(0);
    let shape = |index: usize| match &trial.flows[index] {
        FlowPlan::Produce(flow) => (flow.shape.clone(), flow.record.clone()),
        _ => panic!("a produce flow"),
    };
    let (ramp, _) = shape(0);
    assert!(
        matches!(
            ramp,
            Shape::Ramp {
                over_ns: 9_000_000_000,
                ..
            }
        ),
        "{ramp:?}"
    );
    let (replay, record) = shape(1);
    let trace = Trace::Rates([2.0, 3.0].into());
    let file = "t.txt".to_owned();
    assert_eq!(replay, Shape::Replay { file, trace });
    let file = record.file.unwrap();
    assert_eq!(
        (file.path.as_str(), file.records, record.value_bytes),
        ("/there/r.txt", 2, 4)
    );
    // The plan alone repeats it: no file is read any more.
    let text = serde_json::to_string(&trial).unwrap();
    assert_eq!(serde_json::from_str::<Trial>(&text).unwrap(), trial);
    let problems = scenario
        .set("t.shape.replay.rates", "none.txt")
        .unwrap_err();
    assert!(
        problems.to_string().contains("there is no such file"),
        "{problems}"
    );
}

#[test]
fn the_share_of_an_agent_is_the_plans_and_an_echo_flow_has_one_agent() {
    let plan = Plan::new(request(1), &[scenario(", producers: 4", "")]).unwrap();
    let whole = plan.share(0, 1, Stripe::WHOLE).unwrap();
    for count in [1, 2, 5] {
        let agents = (0..count).map(|index| Stripe { index, count });
        for agent in agents {
            assert_eq!(Some(whole.of_agent(agent)), plan.share(0, 1, agent));
        }
    }
    let names: Vec<&str> = whole.trial.flows.iter().map(|flow| flow.name()).collect();
    for (position, name) in names.iter().enumerate() {
        let runs = (0..3_u32).filter(|index| {
            let agent = Stripe {
                index: *index,
                count: 3,
            };
            whole.of_agent(agent).runs_echo(name)
        });
        assert_eq!(runs.collect::<Vec<_>>(), [position as u32 % 3]);
    }
}

#[test]
fn an_echo_flow_is_spread_over_several_agents_unless_it_has_transactions() {
    let flow = "kind: echo, shape: {constant: 1k/s}, record: {size: 100 B}";
    let text = format!(
        "kgauge: 1\nname: a\nquestion: b\ntopic: {{partitions: 6}}\nflows:\n  - {{name: plain, {flow}}}\n  - {{name: \
         commits, {flow}, transaction: 100 ms, consumer-settings: {{isolation.level: read_committed}}}}\nstages: \
         {{warm-up: 0 s, hold: 1 s}}\n"
    );
    let scenario = Scenario::parse("a.yaml", &text).unwrap_or_else(|problems| panic!("{problems}"));
    let trial = scenario.trials(Size::Default).remove(0);
    let whole = Share {
        spreads_echoes: true,
        ..Share::of_trial(trial, 1)
    };
    let spread = |share: &Share| -> Vec<bool> {
        let echoes = share.trial.flows.iter().filter_map(|flow| match flow {
            FlowPlan::Echo(flow) => Some(share.spreads_echo(flow)),
            _ => None,
        });
        echoes.collect()
    };
    let first = Stripe { index: 0, count: 3 };
    assert_eq!(spread(&whole.of_agent(first)), [true, false]);
    assert_eq!(spread(&whole), [false, false], "there is one agent");
    let text = serde_json::to_string(&whole).unwrap();
    assert_eq!(serde_json::from_str::<Share>(&text).unwrap(), whole);
}
