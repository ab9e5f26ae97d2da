//! Metrics in lines of evidence: names and values, flat.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::metrics::{MetricGroup, MetricId, Readings};

/// Metrics of one group by their names.
pub(super) struct StoredGroup<'a>(pub(super) MetricGroup, pub(super) &'a Readings);

impl StoredGroup<'_> {
    pub(super) fn of_group(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let rows = self.1.iter().map(|(metric, value)| (metric.row(), *value));
        let of_group = rows.filter(|(row, _)| row.group == self.0);
        of_group.map(|(row, value)| (row.name, value))
    }
}

impl Serialize for StoredGroup<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.of_group())
    }
}

/// What a newer kgauge wrote beside it is left out.
pub(super) fn readings(group: MetricGroup, stored: &Value) -> Readings {
    let metrics = MetricId::of(group);
    let known =
        metrics.filter_map(|metric| Some((metric, stored.get(metric.row().name)?.as_u64()?)));
    known.collect()
}

/// The metrics of a group among the other fields of a line, for `#[serde(flatten, with = ...)]`.
macro_rules! flat {
    ($($module:ident: $group:ident;)*) => {
        $(pub(super) mod $module {
            use super::*;

            pub(crate) fn serialize<S: Serializer>(
                values: &Readings,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                StoredGroup(MetricGroup::$group, values).serialize(serializer)
            }

            pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Readings, D::Error> {
                let fields = BTreeMap::<String, Value>::deserialize(deserializer)?;
                let fields = Value::Object(fields.into_iter().collect());
                Ok(readings(MetricGroup::$group, &fields))
            }
        })*
    };
}

flat! {
    idle: Idle;
    host_memory: HostMemory;
    process: Process;
    disk: Disk;
    network: Network;
    pressure: Pressure;
}
