//! Flows from Kafka's client properties, for programs without a scenario file. Kafka's rules about its settings hold as
//! in a scenario.

use std::collections::BTreeMap;

use crate::driver::Driver;
use crate::flow_values::{ConsumeEnd, PartitionShare, StartOffset, TransactionLength};
use crate::keys::consumer::{ConsumerMap, GroupPlan};
use crate::keys::flow::{ConsumeFlow, ProduceFlow};
use crate::keys::producer::ProducerSettings;
use crate::problem::{Problems, SourceLocation, SourceTexts};
use crate::reader::{KeyMap, ValueReader};
use crate::record::RecordPlan;
use crate::record_size::exceeded_limits;
use crate::shape::{Arrivals, Shape};
use crate::tree::{MapEntry, Value, YamlNode};

/// Properties have no place in a text.
const NOWHERE: SourceLocation = SourceLocation {
    source: 0,
    line: 1,
    column: 1,
    width: 1,
};

impl ProduceFlow {
    /// One producer with the default settings that sends such records at full speed.
    pub fn of_records(name: &str, record: RecordPlan) -> ProduceFlow {
        ProduceFlow {
            name: name.to_owned(),
            driver: Driver::Kgauge,
            producers: 1,
            shape: Shape::Max,
            arrivals: Arrivals::Even,
            records_max: None,
            record,
            settings: ProducerSettings::default(),
            skip_after_ns: u64::MAX,
            transaction: None,
        }
    }

    /// The flow at full speed until the stage ends, sent by kgauge itself and without transactions.
    #[must_use]
    pub fn at_full_speed(&self) -> ProduceFlow {
        ProduceFlow {
            driver: Driver::Kgauge,
            shape: Shape::Max,
            arrivals: Arrivals::Even,
            records_max: None,
            transaction: None,
            ..self.clone()
        }
    }

    /// One producer that sends at full speed, with Kafka's own properties.
    pub fn from_properties(
        name: &str,
        record: RecordPlan,
        transaction: Option<TransactionLength>,
        properties: &BTreeMap<String, String>,
    ) -> Result<ProduceFlow, Problems> {
        let sources = SourceTexts::default();
        let mut reader = ValueReader::new(&sources);
        name.clone_into(&mut reader.scope.flow);
        let Some(settings) = ProducerSettings::read_map(&mut reader, &map(properties)) else {
            return Err(reader.problems);
        };
        for (what, key) in exceeded_limits(&record, &settings) {
            let fix = format!("make the record smaller or `{key}` larger");
            reader.problem(NOWHERE, what, fix);
        }
        if transaction.is_some() && !settings.idempotence {
            let fix = "write `acks=all`, and remove `enable.idempotence=false`";
            reader.problem(NOWHERE, "transactions need an idempotent producer", fix);
        }
        if transaction.is_none() && settings.transactional_id.is_some() {
            let what = "`transactional.id` has no effect without transactions";
            reader.problem(NOWHERE, what, "remove it");
        }
        reader.problems.into_result(ProduceFlow {
            settings,
            transaction,
            ..ProduceFlow::of_records(name, record)
        })
    }
}

impl ConsumeFlow {
    /// One consumer that reads from the first record on. With `group`, it is a member of the group with that label.
    pub fn from_properties(
        name: &str,
        group: Option<&str>,
        properties: &BTreeMap<String, String>,
    ) -> Result<ConsumeFlow, Problems> {
        let sources = SourceTexts::default();
        let mut reader = ValueReader::new(&sources);
        name.clone_into(&mut reader.scope.flow);
        reader.scope.in_group = group.is_some();
        let Some((settings, plan)) = ConsumerMap::read_map(&mut reader, &map(properties)) else {
            return Err(reader.problems);
        };
        let group = group.map(|label| GroupPlan {
            label: label.to_owned(),
            ..plan
        });
        reader.problems.into_result(ConsumeFlow {
            name: name.to_owned(),
            consumers: 1,
            partitions: PartitionShare::Split,
            from: StartOffset::Earliest,
            records: ConsumeEnd::StageEnd,
            settings,
            group,
            groups: 1,
        })
    }
}

fn map(properties: &BTreeMap<String, String>) -> YamlNode {
    let entry = |(key, text): (&String, &String)| MapEntry {
        key: key.clone(),
        place: NOWHERE,
        node: YamlNode {
            place: NOWHERE,
            value: Value::Scalar {
                text: text.clone(),
                plain: false,
            },
        },
    };
    YamlNode {
        place: NOWHERE,
        value: Value::Map(properties.iter().map(entry).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Acks;

    fn produce(settings: &[(&str, &str)], bytes: u32) -> Result<ProduceFlow, Problems> {
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let properties = settings.iter().map(own).collect();
        ProduceFlow::from_properties("writers", RecordPlan::of_values(bytes), None, &properties)
    }

    #[test]
    fn settings_are_obeyed_under_kafkas_names() {
        let flow = produce(
            &[
                ("acks", "1"),
                ("buffer.memory", "67108864"),
                ("batch.size", "8196"),
                ("compression.type", "lz4"),
                ("linger.ms", "10"),
                ("retries", "0"),
            ],
            100,
        );
        let settings = flow.unwrap().settings;
        assert_eq!(settings.acks, Acks::Leader);
        assert_eq!(settings.buffer_bytes, 67_108_864);
        assert_eq!(settings.batch_bytes, 8_196);
        assert_eq!(settings.linger_ns, 10_000_000);
        assert!(!settings.idempotence);
    }

    #[test]
    fn mistakes_are_reported_with_a_fix() {
        for (settings, bytes, what) in [
            (&[("acks", "2")][..], 1, "`2`"),
            (&[("transactional.id", "x")], 1, "without transactions"),
            (&[], 2 << 20, "more than `max.request.size`"),
        ] {
            let problems = produce(settings, bytes).unwrap_err();
            let first = problems.iter().next().unwrap();
            assert!(first.what.contains(what), "{}", first.what);
            assert!(!first.cure.is_empty());
        }
    }
}
