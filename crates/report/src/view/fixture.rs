//! A report with realistic figures, for tests: the five scenarios of a study, three repeats each.

use super::*;

fn figure(values: &[f64]) -> Figure {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let spread = values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>();
    let half = 4.303 * (spread / 2.0).sqrt() / 3_f64.sqrt();
    Figure {
        mean,
        interval: Some((mean - half, mean + half)),
        values: values.to_vec(),
    }
}

fn distribution(scale: f64) -> Distribution {
    let curve: Vec<(f64, u64)> = (0..=600)
        .map(|step| f64::from(step) / 100.0)
        .map(|nines| {
            let quantile = 1.0 - 10_f64.powf(-nines);
            let bump = if nines > 2.5 {
                1.0 + (nines - 2.5).powi(2) * 3.0
            } else {
                1.0
            };
            (quantile, (scale * 1e6 * (1.0 + 0.3 * nines) * bump) as u64)
        })
        .collect();
    let at = |quantile: f64| {
        let nines = -(1.0 - quantile).log10();
        curve[((nines * 100.0).round() as usize).min(600)].1
    };
    let percentile = |quantile: f64, beyond| Percentile {
        millionths: (quantile * 1e6).round() as u32,
        ns: at(quantile),
        beyond,
        few: beyond < 100,
    };
    Distribution {
        count: 12_345_678,
        mean_ns: scale * 1.2e6,
        max_ns: curve[600].1 * 2,
        percentiles: vec![
            percentile(0.5, 6_172_839),
            percentile(0.99, 123_456),
            percentile(0.999, 12_345),
            percentile(0.9999, 1_234),
            percentile(0.99999, 123),
        ],
        curve,
    }
}

fn timeline(repeat: u64, flows: &[(&str, f64, f64)]) -> Timeline {
    let noise = |second: usize, salt: u64| {
        let mut state = (second as u64 * 7919 + repeat * 104_729 + salt * 31)
            .wrapping_mul(6_364_136_223_846_793_005);
        state ^= state >> 33;
        (state % 1000) as f64 / 1000.0 - 0.5
    };
    Timeline {
        repeat,
        stages: vec![
            Stage {
                name: "warm-up".into(),
                from_s: 0.0,
                to_s: 3.0,
                measured: false,
            },
            Stage {
                name: "hold".into(),
                from_s: 3.0,
                to_s: 23.0,
                measured: true,
            },
            Stage {
                name: "drain".into(),
                from_s: 23.0,
                to_s: 24.2,
                measured: false,
            },
        ],
        seconds_per_point: 1,
        flows: flows
            .iter()
            .enumerate()
            .map(|(salt, (name, rate, ms))| {
                let point = |second: usize| {
                    let slow = if second == 14 && repeat == 2 {
                        8.0
                    } else {
                        1.0
                    };
                    (second as f64 + 0.5, slow, noise(second, salt as u64))
                };
                let rate_at = |second: usize| {
                    let (at_s, slow, wave) = point(second);
                    let ramp = if second == 0 { 0.6 } else { 1.0 };
                    (
                        at_s,
                        rate * ramp * (1.0 + 0.06 * wave) / (1.0 + (slow - 1.0) / 20.0),
                    )
                };
                let times_at = |second: usize| {
                    let (at_s, slow, wave) = point(second);
                    TimesAt {
                        at_s,
                        p50_ns: (ms * 1e6 * (1.0 + 0.1 * wave)) as u64,
                        p99_ns: (ms * 2.2e6 * (1.0 + 0.4 * wave) * slow) as u64,
                        max_ns: (ms * 4e6 * (1.3 + wave) * slow) as u64,
                    }
                };
                FlowTimeline {
                    name: (*name).into(),
                    rates: (0..24).map(rate_at).collect(),
                    times: (0..24).map(times_at).collect(),
                }
            })
            .collect(),
        processes: [("generator", 0.9), ("target", 0.75)]
            .iter()
            .enumerate()
            .map(|(salt, (name, cores))| ProcessTimeline {
                name: (*name).into(),
                cores: (0..24)
                    .map(|second| {
                        (
                            second as f64 + 0.5,
                            cores * (1.0 + 0.1 * noise(second, 9 + salt as u64)),
                        )
                    })
                    .collect(),
            })
            .collect(),
    }
}

struct Made<'a> {
    trial: &'a str,
    id: &'a str,
    flows: &'a [(&'a str, &'a str, f64, f64, f64, Option<f64>)],
}

fn trial(made: &Made<'_>) -> Trial {
    let flows = made.flows.iter().map(|(name, kind, rate, bytes, ms, published)| {
        let rates = [rate * 0.985, rate * 1.004, rate * 1.011];
        let megabytes = rates.map(|rate| rate * bytes / 1e6);
        let mean = figure(&rates).mean;
        Flow {
            name: (*name).into(),
            who: format!("1 {}", name.trim_end_matches('s')),
            load: "full speed, closed loop".into(),
            rate: Some(figure(&rates)),
            megabytes: Some(figure(&megabytes)),
            published: published
                .iter()
                .map(|value| Published {
                    metric: "throughput".into(),
                    text: format!("{} records/s", crate::format::count(*value as u64)),
                    ratio: Some(mean / value),
                    ratio_interval: Some((mean * 0.95 / value, mean * 1.05 / value)),
                    word: match mean / value {
                        high if high > 1.1 => PublishedWord::Higher,
                        low if low < 0.9 => PublishedWord::Lower,
                        _ => PublishedWord::Agrees,
                    },
                    reason: "other hardware".into(),
                })
                .collect(),
            latencies: match *kind {
                "produce" => vec![
                    Latency { kind: LatencyKind::Response, distribution: distribution(*ms) },
                    Latency { kind: LatencyKind::RoundTrip, distribution: distribution(ms * 0.01) },
                ],
                _ => vec![Latency { kind: LatencyKind::FetchRoundTrip, distribution: distribution(*ms) }],
            },
            closed: (*kind == "produce").then(|| {
                "Closed loop: 335,000 records in flight ÷ 1,284,000 records/s = 261 ms; measured mean \
                 262 ms, residual 0.4 %."
                    .into()
            }),
            residual: (*kind == "produce").then_some(0.004),
            little: None,
            late: None,
            counts: Counts { good: 50_000_000, ..Counts::default() },
        }
    });
    let lines: Vec<(&str, f64, f64)> = made
        .flows
        .iter()
        .map(|flow| (flow.0, flow.2, flow.4))
        .collect();
    Trial {
        name: made.trial.into(),
        short: made.trial.trim_start_matches("record.size = ").into(),
        cpu: Cpu {
            generator_ns: Some(figure(&[44.0, 45.0, 46.0])),
            target_ns: Some(figure(&[78.0, 80.0, 79.0])),
        },
        id: made.id.into(),
        repeats: 3,
        missing: None,
        flows: flows.collect(),
        timelines: (1..=3).map(|repeat| timeline(repeat, &lines)).collect(),
    }
}

/// The whole report.
pub(crate) fn view() -> View {
    let scenario = |name: &str, question: &str, answer: &str, trials: Vec<Trial>| Scenario {
        name: name.into(),
        factor: None,
        question: question.into(),
        answer: answer.into(),
        trials,
        sweep: None,
    };
    let sizes = [
        (10.0, 2_200_000.0, 1.1e6),
        (100.0, 1_284_000.0, 8e5),
        (1e3, 240_000.0, 1e5),
        (1e4, 30_000.0, 1.1e4),
        (1e5, 3_400.0, 1.2e3),
    ];
    let mut sweep = scenario(
        "message-size",
        "How does throughput depend on the size of a record?",
        "From 10 B to 100 kB, records/s fall from 2,200,000 to 3,400 while MB/s rise from 22.0 to 340.",
        sizes
            .iter()
            .enumerate()
            .map(|(index, (size, rate, published))| {
                trial(&Made {
                    trial: &format!("record.size = {}", crate::format::decimal_bytes(*size)),
                    id: &format!("trial-{}", index + 5),
                    flows: &[("producer", "produce", *rate, *size, 30.0, Some(*published))],
                })
            })
            .collect(),
    );
    sweep.factor = Some("writers.record.size".into());
    sweep.sweep = Some(Sweep {
        factor: "writers.record.size".into(),
        unit: FactorUnit::Bytes,
        flows: vec![SweepFlow {
            name: "producer".into(),
            points: sizes
                .iter()
                .map(|(size, rate, published)| SweepPoint {
                    factor: *size,
                    rate: Some(figure(&[rate * 0.97, *rate, rate * 1.05])),
                    megabytes: Some(figure(&[
                        rate * 0.97 * size / 1e6,
                        rate * size / 1e6,
                        rate * 1.05 * size / 1e6,
                    ])),
                    rate_published: Some(*published),
                    megabytes_published: Some(published * size / 1e6),
                })
                .collect(),
        }],
    });
    View {
        title: "linkedin-2014".into(),
        about: vec!["Benchmarking Apache Kafka: 2 Million Writes Per Second (On Three Cheap Machines), Jay Kreps, LinkedIn, 2014.".into()],
        run: RunHead {
            id: "20261120-231500-7f3a".into(),
            folder: "kgauge-runs/20261120-231500-linkedin-2014".into(),
            started: "2026-11-20 23:15:00 UTC".into(),
            took: Some("4 min 05 s".into()),
            version: "0.1.0".into(),
        },
        notices: vec![Warning {
            level: Level::Grave, words: String::new(),
            items: vec![WarningItem {
                place: String::new(),
                words: "This run was cut short: 4 of 5 scenarios are complete, the figures are of what was measured until then.".into(),
            }],
            remedy: "Run it again for the rest.".into(),
        }],
        target: Target {
            name: "embedded broker, 1 node".into(),
            words: "kgauge's embedded cluster, 1 broker, on the machine that makes the load: not Apache Kafka, and its figures say nothing about Apache Kafka's speed".into(),
            caution: "This is kgauge's own embedded broker, not Apache Kafka. The figures do not carry over to a Kafka cluster.".into(),
            facts: vec![
                Fact { name: "Cluster id".into(), value: "kgauge-7f3a".into() },
                Fact { name: "Brokers".into(), value: "1 on 127.0.0.1".into() },
            ],
        },
        scenarios: vec![
            scenario(
                "single-producer",
                "How fast can one producer write to a topic without replication?",
                "One producer wrote 1,284,000 records/s (± 2.4 %, 128 MB/s), 1.56 times the published 821,557.",
                vec![trial(&Made { trial: "single-producer", id: "trial-1", flows: &[("producer", "produce", 1_284_000.0, 100.0, 261.0, Some(821_557.0))] })],
            ),
            scenario(
                "single-consumer",
                "How fast can one consumer read?",
                "One consumer read 3,912,000 records/s (± 2.4 %, 391 MB/s), 4.16 times the published 940,521.",
                vec![trial(&Made { trial: "single-consumer", id: "trial-2", flows: &[("consumer", "consume", 3_912_000.0, 100.0, 4.0, Some(940_521.0))] })],
            ),
            scenario(
                "three-consumers",
                "Do three consumers read three times as fast?",
                "Three consumers read 5,120,000 records/s (± 2.4 %, 512 MB/s), 1.96 times the published 2,615,968.",
                vec![trial(&Made { trial: "three-consumers", id: "trial-3", flows: &[("consumers", "consume", 5_120_000.0, 100.0, 9.0, Some(2_615_968.0))] })],
            ),
            scenario(
                "producer-and-consumer",
                "Does a consumer slow the producer down?",
                "The consumer read 801,000 records/s while the producer wrote 802,000.",
                vec![trial(&Made {
                    trial: "producer-and-consumer",
                    id: "trial-4",
                    flows: &[("producer", "produce", 802_000.0, 100.0, 410.0, None), ("consumer", "consume", 801_000.0, 100.0, 5.0, Some(795_064.0))],
                })],
            ),
            sweep,
        ],
        verdicts: vec![Verdict { held: Some(true), words: "failed records = 0: 0 of 151,000,000".into() }],
        warnings: vec![
            Warning {
                level: Level::Caution, words: String::new(),
                items: vec![
                    WarningItem {
                        place: "single-consumer".into(),
                        words: "kgauge and the target shared 2 cores; the generator used 92 % of one.".into(),
                    },
                    WarningItem {
                        place: "three-consumers".into(),
                        words: "kgauge and the target shared 2 cores; the generator used 99 % of one.".into(),
                    },
                ],
                remedy: "Run kgauge on another machine than the brokers.".into(),
            },
            Warning {
                level: Level::Note, words: String::new(),
                items: vec![WarningItem { place: String::new(), words: "This is a debug build.".into() }],
                remedy: "Use a release build.".into(),
            },
        ],
        acked: vec!["single-producer: acks=1: the leader had the record in its page cache; no replica, no flush to disk before the ack.".into()],
        sheets: vec![Sheet {
            title: "Environment".into(),
            facts: vec![Fact { name: "Kernel".into(), value: "Linux 6.1".into() }, Fact { name: "CPU".into(), value: "2 × some processor".into() }],
        }],
        texts: vec![Verbatim { title: "Scenario as written".into(), text: "study: linkedin-2014\nscenarios:\n  - single-producer\n".into() }],
        events: vec![Event { at: "+0.0 s".into(), words: "run started".into() }],
        commands: vec![Command { short: "Repeat", purpose: "Repeat this run from its saved plan".into(), line: "kgauge run kgauge-runs/20261120-231500-linkedin-2014/plan.json".into(), line_anywhere: "kgauge run RUN-FOLDER/plan.json".into() }],
    }
}

/// Calls `change` with every text of a view that comes from outside.
pub(crate) fn each_text(view: &mut View, change: &mut impl FnMut(&mut String)) {
    let View {
        title,
        about,
        run,
        notices,
        target,
        scenarios,
        verdicts,
        warnings,
        acked,
        ..
    } = view;
    change(title);
    about.iter_mut().chain(acked).for_each(&mut *change);
    [
        &mut run.id,
        &mut run.folder,
        &mut run.started,
        &mut run.version,
    ]
    .into_iter()
    .for_each(&mut *change);
    [&mut target.name, &mut target.words, &mut target.caution]
        .into_iter()
        .for_each(&mut *change);
    for scenario in scenarios {
        [
            &mut scenario.name,
            &mut scenario.question,
            &mut scenario.answer,
        ]
        .into_iter()
        .for_each(&mut *change);
        for trial in &mut scenario.trials {
            [&mut trial.name, &mut trial.short]
                .into_iter()
                .for_each(&mut *change);
            trial
                .flows
                .iter_mut()
                .for_each(|flow| each_text_of_flow(flow, change));
            for timeline in &mut trial.timelines {
                timeline
                    .stages
                    .iter_mut()
                    .for_each(|stage| change(&mut stage.name));
                timeline
                    .flows
                    .iter_mut()
                    .for_each(|flow| change(&mut flow.name));
                timeline
                    .processes
                    .iter_mut()
                    .for_each(|process| change(&mut process.name));
            }
        }
        for sweep in &mut scenario.sweep {
            change(&mut sweep.factor);
            sweep
                .flows
                .iter_mut()
                .for_each(|flow| change(&mut flow.name));
        }
    }
    verdicts
        .iter_mut()
        .for_each(|verdict| change(&mut verdict.words));
    for warning in notices.iter_mut().chain(warnings) {
        [&mut warning.words, &mut warning.remedy]
            .into_iter()
            .for_each(&mut *change);
        for item in &mut warning.items {
            [&mut item.place, &mut item.words]
                .into_iter()
                .for_each(&mut *change);
        }
    }
    let sheets = view.sheets.iter_mut().flat_map(|sheet| &mut sheet.facts);
    for fact in sheets.chain(&mut view.target.facts) {
        [&mut fact.name, &mut fact.value]
            .into_iter()
            .for_each(&mut *change);
    }
    view.sheets
        .iter_mut()
        .for_each(|sheet| change(&mut sheet.title));
    for text in &mut view.texts {
        [&mut text.title, &mut text.text]
            .into_iter()
            .for_each(&mut *change);
    }
    view.events
        .iter_mut()
        .for_each(|event| change(&mut event.words));
    view.commands.iter_mut().for_each(|command| {
        [
            &mut command.line,
            &mut command.line_anywhere,
            &mut command.purpose,
        ]
        .into_iter()
        .for_each(&mut *change);
    });
}

fn each_text_of_flow(flow: &mut Flow, change: &mut impl FnMut(&mut String)) {
    [&mut flow.name, &mut flow.who, &mut flow.load]
        .into_iter()
        .for_each(&mut *change);
    for published in &mut flow.published {
        published.word = PublishedWord::NotComparable;
        [
            &mut published.metric,
            &mut published.text,
            &mut published.reason,
        ]
        .into_iter()
        .for_each(&mut *change);
    }
    flow.late = Some(String::new());
    flow.counts.errors = vec![(String::new(), 7)];
    flow.late
        .iter_mut()
        .chain(&mut flow.closed)
        .for_each(&mut *change);
    flow.counts
        .errors
        .iter_mut()
        .for_each(|(name, _)| change(name));
}
