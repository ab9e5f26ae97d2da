//! Scenarios that need no file: the first figures of any cluster. Options fill in a text, which is then read like every
//! other scenario, so that it can be kept and changed.

use std::fmt::Write as _;

use crate::built_in_goals::{mistakes, mistakes_of_search, qualified};
use crate::yaml_text::quoted;

/// A question that every cluster can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltIn {
    /// Producers at full speed.
    Throughput,
    /// Producers at a fixed rate.
    Latency,
    /// From producers to consumers, at a fixed rate.
    EndToEnd,
    /// Several consumer groups read what producers write.
    FanOut,
}

/// What a built-in scenario is made of, as the user typed it; what is missing has a default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuiltInOptions {
    /// The size of a record's value: `1 kB`.
    pub record_size: Option<String>,
    /// Records per second of all producers: `20k/s`.
    pub rate: Option<String>,
    /// Kafka's `acks`.
    pub acks: Option<String>,
    /// Kafka's `compression.type`; values then shrink to a quarter.
    pub compression: Option<String>,
    /// Kafka's `linger.ms`.
    pub linger: Option<String>,
    /// Kafka's `batch.size`.
    pub batch_size: Option<String>,
    /// The number of producers.
    pub producers: Option<u32>,
    /// The number of consumers, in each group of `fan-out`.
    pub consumers: Option<u32>,
    /// The number of consumer groups of `fan-out`.
    pub groups: Option<u32>,
    /// The number of partitions.
    pub partitions: Option<u32>,
    /// The number of replicas.
    pub replication: Option<u32>,
    /// How long the load is measured: `30 s`.
    pub duration: Option<String>,
    /// Goals, such as `writers.latency.p99 <= 20 ms`.
    pub goals: Vec<String>,
    /// A search for the highest rate, in place of a fixed one.
    pub search: Option<SearchOptions>,
}

/// The search of a built-in scenario, as the user typed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchOptions {
    /// Goals, such as `p99 <= 20 ms`.
    pub goals: Vec<String>,
    /// Other keys of `search` and their values.
    pub settings: Vec<(&'static str, String)>,
}

impl SearchOptions {
    /// What `--quick` changes, as keys of `search` and their values.
    pub const QUICK: [(&'static str, &'static str); 3] =
        [("window", "2 s"), ("duration", "8 s"), ("width", "4 %")];

    /// The same search as settings of a scenario: `search.width=5 %`.
    pub fn settings_texts(&self) -> Vec<String> {
        let quoted: Vec<String> = self.goals.iter().map(|goal| format!("{goal:?}")).collect();
        let goals = (!quoted.is_empty()).then(|| format!("search.goals=[{}]", quoted.join(", ")));
        let settings = self.settings.iter();
        let settings = settings.map(|(key, value)| format!("search.{key}={value}"));
        goals.into_iter().chain(settings).collect()
    }

    /// Finds mistakes in goals before they are part of a scenario, where others would follow from them.
    pub fn check_goals(&self) -> Result<(), BuiltInError> {
        let goals = self.goals.iter();
        none_of(goals.flat_map(|goal| mistakes_of_search(goal)).collect())
    }
}

/// A built-in scenario that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuiltInError {
    /// Values of options that cannot be used: a sentence for each, with its option and its fix.
    #[error("{}", .0.join("\n"))]
    Values(Vec<String>),
    /// An option has no effect on this scenario.
    #[error("--{option} does not apply to `{scenario}`; {instead}")]
    NotOfThis {
        /// The option's name.
        option: &'static str,
        /// The scenario's name.
        scenario: &'static str,
        /// What to do.
        instead: &'static str,
    },
}

impl BuiltIn {
    /// All of them.
    pub const ALL: [BuiltIn; 4] = [
        BuiltIn::Throughput,
        BuiltIn::Latency,
        BuiltIn::EndToEnd,
        BuiltIn::FanOut,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            BuiltIn::Throughput => "throughput",
            BuiltIn::Latency => "latency",
            BuiltIn::EndToEnd => "end-to-end",
            BuiltIn::FanOut => "fan-out",
        }
    }

    /// The scenario of this name.
    pub fn named(name: &str) -> Option<BuiltIn> {
        BuiltIn::ALL.into_iter().find(|one| one.name() == name)
    }

    /// The name that is most similar to one that does not exist.
    pub fn nearest(name: &str) -> Option<&'static str> {
        crate::suggest::nearest(name, BuiltIn::ALL.into_iter().map(BuiltIn::name))
    }

    /// What it answers, in one line.
    pub fn summary(self) -> &'static str {
        match self {
            BuiltIn::Throughput => "how much producers write at full speed",
            BuiltIn::Latency => "the latency of producers at a fixed rate",
            BuiltIn::EndToEnd => "the time from producer to consumer at a fixed rate",
            BuiltIn::FanOut => "whether several consumer groups keep up with producers",
        }
    }

    /// The text of the scenario.
    pub fn text(self, options: &BuiltInOptions) -> Result<String, BuiltInError> {
        self.check_applicable(options)?;
        let size = options.record_size.as_deref().unwrap_or("1 kB");
        let rate = options.rate.as_deref().unwrap_or(self.default_rate());
        let partitions = options.partitions.unwrap_or(6);
        let replication = options.replication.unwrap_or(1);
        let mut text = format!(
            "kgauge: 1\nname: {}\nquestion: {}\ntarget: {{brokers: {replication}}}\n\
             topic: {{partitions: {partitions}, replication: {replication}}}\nflows:\n",
            self.name(),
            quoted(&self.question(size, rate, options)),
        );
        self.write_flows(&mut text, options, size, rate);
        if let Some(search) = &options.search {
            write_search(&mut text, search);
            return none_of(mistakes(&text)).map(|()| text);
        }
        let hold = quoted(options.duration.as_deref().unwrap_or("30 s"));
        let _ = writeln!(text, "stages: {{warm-up: 3 s, hold: {hold}}}\nrepeats: 3");
        if !options.goals.is_empty() {
            text.push_str("goals:\n");
            for goal in &options.goals {
                let (flow, latency) = self.measured();
                let goal = quoted(&qualified(goal, flow, latency));
                let _ = writeln!(text, "  - {goal}");
            }
        }
        if options.duration.is_none() {
            text.push_str("sizes:\n  quick: {stages.warm-up: 1 s, stages.hold: 5 s}\n");
        }
        none_of(mistakes(&text)).map(|()| text)
    }

    /// The flow that goals without a name mean, and its latency.
    fn measured(self) -> (&'static str, &'static str) {
        match self {
            BuiltIn::Throughput | BuiltIn::Latency | BuiltIn::FanOut => {
                ("writers", "writers.latency")
            }
            BuiltIn::EndToEnd => ("echo", "echo.end-to-end"),
        }
    }

    fn default_rate(self) -> &'static str {
        match self {
            BuiltIn::Throughput | BuiltIn::Latency | BuiltIn::FanOut => "10k/s",
            BuiltIn::EndToEnd => "1k/s",
        }
    }

    fn question(self, size: &str, rate: &str, options: &BuiltInOptions) -> String {
        if let Some(search) = &options.search {
            return format!(
                "What is the highest rate with {}?",
                search.goals.join(" and ")
            );
        }
        match self {
            BuiltIn::Throughput => {
                let writers = match options.producers.unwrap_or(1) {
                    1 => "does one producer".to_owned(),
                    many => format!("do {many} producers"),
                };
                format!("How many records of {size} per second {writers} write at full speed?")
            }
            BuiltIn::Latency => format!("What is the latency of {size} records at {rate}?"),
            BuiltIn::EndToEnd => {
                format!("How long do records of {size} take from producer to consumer at {rate}?")
            }
            BuiltIn::FanOut => {
                let groups = match options.groups.unwrap_or(3) {
                    1 => "Does one consumer group".to_owned(),
                    many => format!("Do {many} consumer groups"),
                };
                format!("{groups} keep up with {size} records at {rate}?")
            }
        }
    }

    fn write_flows(self, text: &mut String, options: &BuiltInOptions, size: &str, rate: &str) {
        let (name, kind, shape) = match self {
            BuiltIn::Throughput => ("writers", "produce", "max".to_owned()),
            BuiltIn::Latency | BuiltIn::FanOut => (
                "writers",
                "produce",
                format!("{{constant: {}}}", quoted(rate)),
            ),
            BuiltIn::EndToEnd => ("echo", "echo", format!("{{constant: {}}}", quoted(rate))),
        };
        let producers = options.producers.unwrap_or(1);
        let _ = writeln!(
            text,
            "  - name: {name}\n    kind: {kind}\n    producers: {producers}"
        );
        let consumers = options.consumers.unwrap_or(1);
        if self == BuiltIn::EndToEnd {
            let _ = writeln!(text, "    consumers: {consumers}");
        }
        let shrinks = options
            .compression
            .as_deref()
            .is_some_and(|it| it != "none");
        let size = quoted(size);
        let record = match shrinks {
            true => format!("{{size: {size}, compressibility: 4}}"),
            false => format!("{{size: {size}}}"),
        };
        let _ = writeln!(
            text,
            "    shape: {shape}\n    record: {record}\n    settings: {{{}}}",
            settings(options)
        );
        if self == BuiltIn::FanOut {
            let groups = options.groups.unwrap_or(3);
            let _ = writeln!(
                text,
                "  - name: readers\n    kind: consume\n    consumers: {consumers}\n    group: true\n    groups: \
                 {groups}\n    from: latest"
            );
        }
    }

    fn check_applicable(self, options: &BuiltInOptions) -> Result<(), BuiltInError> {
        let reject = |option, instead| {
            Err(BuiltInError::NotOfThis {
                option,
                scenario: self.name(),
                instead,
            })
        };
        if self == BuiltIn::Throughput && options.rate.is_some() {
            return reject("rate", "use `latency` for a fixed rate");
        }
        if self != BuiltIn::FanOut && options.groups.is_some() {
            return reject("groups", "use `fan-out` for consumer groups");
        }
        let has_consumers = matches!(self, BuiltIn::EndToEnd | BuiltIn::FanOut);
        if !has_consumers && options.consumers.is_some() {
            return reject("consumers", "use `end-to-end` or `fan-out` for consumers");
        }
        Ok(())
    }
}

fn none_of(mistakes: Vec<String>) -> Result<(), BuiltInError> {
    match mistakes.is_empty() {
        true => Ok(()),
        false => Err(BuiltInError::Values(mistakes)),
    }
}

/// The stages and the search.
fn write_search(text: &mut String, search: &SearchOptions) {
    text.push_str("stages: {warm-up: 3 s}\nrepeats: 1\nsearch:\n  goals:\n");
    for goal in &search.goals {
        let _ = writeln!(text, "    - {}", quoted(goal.trim()));
    }
    for (key, value) in &search.settings {
        let _ = writeln!(text, "  {key}: {}", quoted(value));
    }
    let quick = SearchOptions::QUICK.into_iter().filter(|(key, _)| {
        let mut settings = search.settings.iter();
        !settings.any(|(set, _)| set == key)
    });
    let quick: Vec<String> = quick
        .map(|(key, value)| format!("search.{key}: {value}"))
        .collect();
    if !quick.is_empty() {
        let _ = writeln!(text, "sizes:\n  quick: {{{}}}", quick.join(", "));
    }
}

fn settings(options: &BuiltInOptions) -> String {
    let acks = options.acks.as_deref().unwrap_or("all");
    let mut settings = vec![format!("acks: {}", quoted(acks))];
    // Kafka's producer refuses idempotence without acks=all, and turns it on by default.
    if acks != "all" && acks != "-1" {
        settings.push("enable.idempotence: false".to_owned());
    }
    let named = [
        ("compression.type", &options.compression),
        ("linger.ms", &options.linger),
        ("batch.size", &options.batch_size),
    ];
    for (key, value) in named {
        let value = value.as_ref();
        settings.extend(value.map(|value| format!("{key}: {}", quoted(value))));
    }
    settings.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scenario, Size};

    #[test]
    fn every_scenario_reads_with_its_defaults_and_with_all_options() {
        for built_in in BuiltIn::ALL {
            assert_eq!(BuiltIn::named(built_in.name()), Some(built_in));
            let has_consumers = matches!(built_in, BuiltIn::EndToEnd | BuiltIn::FanOut);
            let all = BuiltInOptions {
                record_size: Some("100 B".to_owned()),
                rate: (built_in != BuiltIn::Throughput).then(|| "5k/s".to_owned()),
                acks: Some("1".to_owned()),
                compression: Some("lz4".to_owned()),
                linger: Some("5".to_owned()),
                batch_size: Some("64 KiB".to_owned()),
                producers: Some(2),
                consumers: has_consumers.then_some(2),
                groups: (built_in == BuiltIn::FanOut).then_some(2),
                partitions: Some(12),
                replication: Some(3),
                duration: Some("10 s".to_owned()),
                goals: Vec::new(),
                search: None,
            };
            for options in [BuiltInOptions::default(), all] {
                let text = built_in.text(&options).unwrap();
                let read = Scenario::parse(built_in.name(), &text);
                let scenario = read.unwrap_or_else(|problems| panic!("{text}\n{problems}"));
                assert_eq!(scenario.trials(Size::Default).len(), 1, "{text}");
            }
        }
    }

    #[test]
    fn a_value_without_a_unit_names_its_option() {
        let options = BuiltInOptions {
            rate: Some("20k".to_owned()),
            ..BuiltInOptions::default()
        };
        let error = BuiltIn::Latency.text(&options).unwrap_err().to_string();
        assert!(error.starts_with("--rate: `20k`"), "{error}");
    }

    #[test]
    fn each_option_with_a_mistake_has_one_error_that_names_it() {
        let text = |text: &str| Some(text.to_owned());
        let options = BuiltInOptions {
            record_size: text("5"),
            rate: text("20k"),
            acks: text("2"),
            compression: text("lz5"),
            linger: text("{5x"),
            batch_size: text("x, y: z"),
            producers: Some(0),
            consumers: Some(0),
            groups: Some(0),
            partitions: Some(0),
            replication: Some(0),
            duration: text("3"),
            goals: vec!["p99 <= 20".to_owned()],
            search: None,
        };
        let error = BuiltIn::FanOut.text(&options).unwrap_err().to_string();
        let lines = error.lines().filter(|line| !line.starts_with("  "));
        let mut named: Vec<&str> = lines.filter_map(|line| line.split(':').next()).collect();
        named.sort_unstable();
        let all = [
            "--acks",
            "--batch-size",
            "--compression",
            "--consumers",
            "--duration",
            "--goal",
            "--groups",
            "--linger",
            "--partitions",
            "--producers",
            "--rate",
            "--record-size",
            "--replication",
        ];
        assert_eq!(named, all, "{error}");
        assert!(error.contains("--acks: invalid value `2`\n  write one of: all, -1, 1, 0"));
        assert!(error.contains("--replication: 0 is out of range\n  write 1 to 100\n"));
    }

    #[test]
    fn an_option_of_another_scenario_names_that_one() {
        let options = BuiltInOptions {
            rate: Some("20k/s".to_owned()),
            ..BuiltInOptions::default()
        };
        let error = BuiltIn::Throughput.text(&options).unwrap_err().to_string();
        assert_eq!(
            error,
            "--rate does not apply to `throughput`; use `latency` for a fixed rate"
        );
    }

    #[test]
    fn a_kept_text_means_what_the_changed_scenario_means() {
        let text = BuiltIn::Latency.text(&BuiltInOptions::default()).unwrap();
        let mut scenario = Scenario::parse("latency", &text).unwrap();
        let sets = [
            ("linger.ms", "20"),
            ("stages.hold", "2 s"),
            ("verify", "true"),
        ];
        let sets = sets.map(|(path, value)| (path.to_owned(), value.to_owned()));
        scenario.set_all(&sets).unwrap();
        let read = |size| {
            let text = scenario.changed_text(size);
            let read = Scenario::parse("kept", &text);
            read.unwrap_or_else(|problems| panic!("{text}\n{problems}"))
        };
        for size in [Size::Default, Size::Quick] {
            assert_eq!(read(Size::Default).trials(size), scenario.trials(size));
        }
        let quick = read(Size::Quick);
        assert_eq!(quick.trials(Size::Default), scenario.trials(Size::Quick));
        assert!(!quick.text().contains("sizes"), "{}", quick.text());
    }

    #[test]
    fn a_search_takes_the_place_of_the_rate() {
        let options = BuiltInOptions {
            search: Some(SearchOptions {
                goals: vec!["p99 <= 20 ms".to_owned()],
                settings: vec![("width", "5 %".to_owned())],
            }),
            ..BuiltInOptions::default()
        };
        for built_in in BuiltIn::ALL {
            let text = built_in.text(&options).unwrap();
            let read = Scenario::parse(built_in.name(), &text);
            let scenario = read.unwrap_or_else(|problems| panic!("{text}\n{problems}"));
            let trials = [Size::Default, Size::Quick].map(|size| scenario.trials(size).remove(0));
            let searches = trials.map(|trial| (trial.repeats, trial.search.unwrap()));
            let [(1, default), (1, quick)] = searches else {
                panic!("{text}");
            };
            assert_eq!((default.windows, quick.windows), (6, 4));
            assert_eq!((default.width, quick.width), (0.05, 0.05));
            assert_eq!(
                scenario.question(),
                "What is the highest rate with p99 <= 20 ms?"
            );
        }
    }

    #[test]
    fn a_goal_needs_no_flow_and_its_mistakes_name_the_option() {
        let with = |built_in: BuiltIn, goal: &str| {
            built_in.text(&BuiltInOptions {
                goals: vec![goal.to_owned()],
                ..BuiltInOptions::default()
            })
        };
        for (built_in, goal, line) in [
            (
                BuiltIn::Latency,
                "p99 <= 20 ms",
                "writers.latency.p99 <= 20 ms",
            ),
            (
                BuiltIn::EndToEnd,
                "p99 <= 20 ms",
                "echo.end-to-end.p99 <= 20 ms",
            ),
            (
                BuiltIn::Throughput,
                "throughput >= 1k/s",
                "writers.throughput >= 1k/s",
            ),
        ] {
            let text = with(built_in, goal).unwrap();
            assert!(text.contains(&format!("goals:\n  - {line}\n")), "{text}");
        }
        for (goal, start) in [
            ("p99 <= 20", "--goal: `20` has no unit\n  write a unit"),
            ("p98 20 ms", "--goal: `p98 20 ms` is not a goal\n  "),
            (
                "readers.failed <= 0",
                "--goal: there is no flow `readers`\n  ",
            ),
            ("x: {y", "--goal: `x: {y` is not a goal\n  "),
            ("", "--goal: the text is empty\n  "),
        ] {
            let error = with(BuiltIn::Latency, goal).unwrap_err().to_string();
            assert!(error.starts_with(start), "{error}");
            let searched = BuiltIn::Latency.text(&BuiltInOptions {
                search: Some(SearchOptions {
                    goals: vec![goal.to_owned()],
                    settings: Vec::new(),
                }),
                ..BuiltInOptions::default()
            });
            let error = searched.unwrap_err().to_string();
            assert!(error.starts_with(start), "{error}");
            let of_file = SearchOptions {
                goals: vec![goal.to_owned()],
                settings: Vec::new(),
            };
            // A file may have any flow.
            assert_eq!(
                of_file.check_goals().is_err(),
                !goal.starts_with("readers.")
            );
        }
    }

    #[test]
    fn goals_are_part_of_the_text() {
        let options = BuiltInOptions {
            goals: vec!["writers.latency.p99 <= 20 ms".to_owned()],
            ..BuiltInOptions::default()
        };
        let text = BuiltIn::Latency.text(&options).unwrap();
        assert!(text.contains("goals:\n  - writers.latency.p99 <= 20 ms\n"));
        assert!(Scenario::parse("latency", &text).is_ok(), "{text}");
    }
}
