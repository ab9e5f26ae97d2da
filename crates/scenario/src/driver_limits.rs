//! What other clients than kgauge's own engine cannot do.

use crate::driver::Driver;
use crate::keys::flow::ProduceFlow;
use crate::keys::producer::ProducerSettings;
use crate::settings::{CompressionCodec, Partitioner};

const MS: u64 = 1_000_000;

/// Something that a flow asks for and its driver lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverRefusal {
    /// The key below the flow, such as `settings.retry.backoff.ms`.
    pub key: &'static str,
    /// What it lacks.
    pub what: String,
    /// What to write instead.
    pub cure: &'static str,
}

impl Driver {
    /// Everything of a flow that this client cannot do. The page docs/guide/drivers.md lists what it
    /// does differently.
    pub fn refusals(&self, flow: &ProduceFlow) -> Vec<DriverRefusal> {
        let mut refused = Vec::new();
        if self.is_kgauge() {
            return refused;
        }
        if flow.producers > Driver::PRODUCERS_MAX {
            refused.push(DriverRefusal {
                key: "producers",
                what: format!(
                    "driver {self} runs each producer in a separate process; {} are too many",
                    flow.producers
                ),
                cure: "write at most 16",
            });
        }
        if let Partitioner::Broker(_) = flow.settings.partitioner {
            refused.push(DriverRefusal {
                key: "settings.partitioner",
                what: format!("driver {self} cannot choose partitions by their broker"),
                cure: "write `sticky`, or `{partition: N}`",
            });
        }
        if *self == Driver::Librdkafka {
            librdkafka(&flow.settings, &mut refused);
        }
        refused
    }
}

/// What librdkafka lacks (its CONFIGURATION.md).
fn librdkafka(settings: &ProducerSettings, refused: &mut Vec<DriverRefusal>) {
    let mut refuse = |rules: &[(bool, &'static str, &str, &'static str)]| {
        for (_, key, what, cure) in rules.iter().filter(|(is_refused, ..)| *is_refused) {
            refused.push(DriverRefusal {
                key,
                what: (*what).to_owned(),
                cure,
            });
        }
    };
    refuse(&[
        (
            settings.partitioner == Partitioner::RoundRobin,
            "settings.partitioner",
            "librdkafka has no round-robin partitioner",
            "write `sticky`, or `{partition: N}`",
        ),
        (
            settings.partitioner_ignores_keys,
            "settings.partitioner.ignore.keys",
            "librdkafka cannot ignore keys as Kafka's producer does",
            "remove it, or the keys",
        ),
        (
            settings.partitioner_availability_ns > 0,
            "settings.partitioner.availability.timeout.ms",
            "librdkafka has no equivalent setting",
            "remove it",
        ),
        (
            !settings.buffer_bytes.is_multiple_of(1024),
            "settings.buffer.memory",
            "librdkafka counts its buffer in KiB (queue.buffering.max.kbytes)",
            "write a multiple of 1024",
        ),
    ]);
    refuse(&ranges(settings));
}

/// Settings with narrower bounds in librdkafka.
fn ranges(settings: &ProducerSettings) -> [(bool, &'static str, &'static str, &'static str); 6] {
    let codec = settings.compression.codec;
    let level = settings.compression.level.unwrap_or(0);
    [
        (
            !(1_000..=1_000_000_000).contains(&settings.request_bytes_max),
            "settings.max.request.size",
            "librdkafka's message.max.bytes is 1000 to 1000000000",
            "use a value in this range",
        ),
        (
            settings.linger_ns > 900_000 * MS,
            "settings.linger.ms",
            "librdkafka lingers at most 900000 ms",
            "use a smaller value",
        ),
        (
            !(MS..=300_000 * MS).contains(&settings.retry_backoff_ns),
            "settings.retry.backoff.ms",
            "librdkafka's retry.backoff.ms is 1 to 300000",
            "use a value in this range",
        ),
        (
            settings.request_timeout_ns > 900_000 * MS,
            "settings.request.timeout.ms",
            "librdkafka's request.timeout.ms is at most 900000",
            "use a smaller value",
        ),
        (
            !(10 * MS..=3_600_000 * MS).contains(&settings.metadata_age_ns_max),
            "settings.metadata.max.age.ms",
            "librdkafka's topic.metadata.refresh.interval.ms is 10 to 3600000",
            "use a value in this range",
        ),
        (
            codec == CompressionCodec::Zstd && !(1..=12).contains(&level),
            "settings.compression.zstd.level",
            "librdkafka's compression.level is 1 to 12 for zstd",
            "use a level in this range",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use crate::{FlowPlan, Scenario, Size};

    use super::*;

    fn scenario(keys: &str) -> String {
        format!(
            "kgauge: 1\nname: a\nquestion: b\ntopic: {{partitions: 1}}\nflows:\n  - {{name: w, kind: \
             produce, shape: max, record: {{size: 100 B}}{keys}}}\n"
        )
    }

    fn drivers(text: &str) -> Vec<Driver> {
        let scenario = Scenario::parse("a.yaml", text).unwrap();
        let trials = scenario.trials(Size::Default).into_iter();
        let flows = trials.flat_map(|trial| trial.flows);
        let driver = |flow| match flow {
            FlowPlan::Produce(flow) => flow.driver,
            _ => unreachable!(),
        };
        flows.map(driver).collect()
    }

    fn text(keys: &str) -> String {
        Scenario::parse("a.yaml", &scenario(keys))
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn a_driver_is_a_word_or_a_release() {
        let java = |version: &str| Driver::Java {
            version: version.to_owned(),
        };
        assert_eq!(drivers(&scenario("")), [Driver::Kgauge]);
        assert_eq!(drivers(&scenario(", driver: java")), [java("4.3.1")]);
        assert_eq!(
            drivers(&scenario(", driver: {java: 3.9.1}")),
            [java("3.9.1")]
        );
        let varied = scenario("") + "vary: {w.driver: [kgauge, {java: 1.0.2}, librdkafka]}\n";
        assert_eq!(
            drivers(&varied),
            [Driver::Kgauge, java("1.0.2"), Driver::Librdkafka]
        );
    }

    #[test]
    fn what_is_no_driver_is_refused() {
        assert!(text(", driver: python").contains("python"));
        for version in ["0.11.0.0", "4", "4.3.1-rc1", "latest"] {
            let words = text(&format!(", driver: {{java: {version}}}"));
            assert!(words.contains("kafka-clients"), "{words}");
        }
    }

    #[test]
    fn what_a_driver_has_not_is_refused_by_name() {
        let words = text(
            ", driver: librdkafka, producers: 17, settings: {partitioner: round-robin, \
             retry.backoff.ms: 0, compression.type: zstd, compression.zstd.level: 15}",
        );
        for key in [
            "producers",
            "round-robin",
            "retry.backoff.ms",
            "1 to 12 for zstd",
        ] {
            assert!(words.contains(key), "{key}: {words}");
        }
        let words = text(", driver: java, settings: {partitioner: {broker: 1}}");
        assert!(words.contains("by their broker"), "{words}");
        assert_eq!(
            drivers(&scenario(
                ", driver: java, settings: {partitioner: round-robin}"
            ))
            .len(),
            1
        );
    }

    #[test]
    fn drivers_of_the_command_line_make_a_trial_each() {
        let published = "published: [{figure: w.throughput, value: 5/s, source: them}]\n";
        let text = scenario("") + published;
        let mut scenario = Scenario::parse("a.yaml", &text).unwrap();
        let values = ["kgauge".to_owned(), "{java: 3.9.1}".to_owned()];
        scenario.vary("w.driver", &values).unwrap();
        let trials = scenario.trials(Size::Default);
        let names: Vec<&str> = trials.iter().map(|trial| trial.name.as_str()).collect();
        assert_eq!(names, ["w.driver=kgauge", "w.driver={java: 3.9.1}"]);
        assert!(trials.iter().all(|trial| trial.published.len() == 1));
        assert!(scenario.vary("w.drivers", &values).is_err());
        assert!(scenario.vary("w.driver", &["lua".to_owned()]).is_err());
        assert_eq!(
            scenario.trials(Size::Default).len(),
            2,
            "a refused change changes nothing"
        );
    }
}
