//! The events of the verifiable tools: a line of JSON each, with their fields in the order of Kafka's tools.

use std::collections::BTreeMap;

use kgauge_load::Clock;

use crate::context::ToolContext;
use crate::record_reader::ReadRecord;
use crate::record_writer::{OutgoingRecord, SendError};

/// Names and JSON values.
type JsonFields<'a> = [(&'a str, String)];

/// Prints events about one topic.
pub(crate) struct EventPrinter<'a> {
    context: &'a ToolContext<'a>,
    clock: Clock,
    /// As JSON.
    topic: String,
}

impl<'a> EventPrinter<'a> {
    pub(crate) fn new(topic: &str, context: &'a ToolContext<'a>) -> EventPrinter<'a> {
        EventPrinter {
            context,
            clock: Clock::start(),
            topic: text(topic),
        }
    }

    /// An event with further fields.
    pub(crate) fn print(&self, name: &str, fields: &JsonFields<'_>) {
        let at_ms = self.clock.unix_ms(self.clock.now_ns());
        let head = [("timestamp", at_ms.to_string()), ("name", text(name))];
        let line = object(head.iter().chain(fields));
        // JSON escapes control characters, and records keep their bytes.
        self.context.output.unchanged_line(&line);
    }

    pub(crate) fn sent(&self, record: &OutgoingRecord, partition: u32, offset: i64) {
        self.print(
            "producer_send_success",
            &[
                ("key", bytes(record.key.as_deref())),
                ("value", bytes(Some(&record.value))),
                ("offset", offset.to_string()),
                ("topic", self.topic.clone()),
                ("partition", partition.to_string()),
            ],
        );
    }

    pub(crate) fn failed(&self, record: &OutgoingRecord, error: &SendError) {
        self.print(
            "producer_send_error",
            &[
                ("key", bytes(record.key.as_deref())),
                ("value", bytes(Some(&record.value))),
                ("topic", self.topic.clone()),
                ("exception", text(&error.exception)),
                ("message", text(&error.message)),
            ],
        );
    }

    /// Partitions were assigned or revoked.
    pub(crate) fn partitions(&self, name: &str, partitions: &[u32]) {
        let each = partitions
            .iter()
            .map(|&partition| object(&self.place(partition)));
        self.print(name, &[("partitions", list(each))]);
    }

    /// One record was read.
    pub(crate) fn read(&self, record: &ReadRecord) {
        self.print(
            "record_data",
            &[
                ("key", bytes(record.key.as_deref())),
                ("value", bytes(record.value.as_deref())),
                ("topic", self.topic.clone()),
                ("partition", record.partition.to_string()),
                ("offset", record.offset.to_string()),
            ],
        );
    }

    /// The records of one response.
    pub(crate) fn consumed(&self, records: &[ReadRecord]) {
        let mut offsets: BTreeMap<u32, Vec<i64>> = BTreeMap::new();
        for record in records {
            offsets
                .entry(record.partition)
                .or_default()
                .push(record.offset);
        }
        let each = offsets.iter().map(|(&partition, offsets)| {
            let least = offsets.iter().min().copied().unwrap_or(0);
            let most = offsets.iter().max().copied().unwrap_or(0);
            let range = [
                ("count", offsets.len().to_string()),
                ("minOffset", least.to_string()),
                ("maxOffset", most.to_string()),
            ];
            object(self.place(partition).iter().chain(&range))
        });
        let count = records.len().to_string();
        self.print(
            "records_consumed",
            &[("count", count), ("partitions", list(each))],
        );
    }

    pub(crate) fn committed(&self, offsets: &BTreeMap<u32, i64>, error: Option<&str>) {
        let each = offsets.iter().map(|(&partition, offset)| {
            let offset = [("offset", offset.to_string())];
            object(self.place(partition).iter().chain(&offset))
        });
        let mut fields = vec![("offsets", list(each))];
        fields.extend(error.map(|error| ("error", text(error))));
        fields.push(("success", error.is_none().to_string()));
        self.print("offsets_committed", &fields);
    }

    fn place(&self, partition: u32) -> [(&'static str, String); 2] {
        let topic = self.topic.clone();
        [("topic", topic), ("partition", partition.to_string())]
    }
}

fn object<'a>(fields: impl IntoIterator<Item = &'a (&'a str, String)>) -> String {
    let fields = fields
        .into_iter()
        .map(|(name, value)| format!("\"{name}\":{value}"));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

/// Bytes as a JSON string, or null.
fn bytes(bytes: Option<&[u8]>) -> String {
    bytes.map_or_else(
        || "null".to_owned(),
        |bytes| text(&String::from_utf8_lossy(bytes)),
    )
}

fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::tests::{RecordedOutput, context};

    /// The line of one event, without its timestamp.
    fn line(print: impl FnOnce(&EventPrinter<'_>)) -> String {
        let output = RecordedOutput::default();
        print(&EventPrinter::new("v", &context(&output)));
        let lines = output.lines.take();
        let (_, rest) = lines[0].split_once(',').unwrap();
        rest.to_owned()
    }

    #[test]
    fn events_read_as_4_3_1_printed_them() {
        let record = |offset: i64, value: &str| ReadRecord {
            partition: 0,
            offset,
            key: None,
            value: Some(value.as_bytes().to_vec()),
        };
        let records = [record(0, "0"), record(1, "7.0")];
        assert_eq!(
            line(|events| events.read(&records[1])),
            "\"name\":\"record_data\",\"key\":null,\"value\":\"7.0\",\"topic\":\"v\",\
             \"partition\":0,\"offset\":1}"
        );
        assert_eq!(
            line(|events| events.consumed(&records)),
            "\"name\":\"records_consumed\",\"count\":2,\"partitions\":[{\"topic\":\"v\",\
             \"partition\":0,\"count\":2,\"minOffset\":0,\"maxOffset\":1}]}"
        );
        assert_eq!(
            line(|events| events.committed(&[(0, 8)].into(), None)),
            "\"name\":\"offsets_committed\",\"offsets\":[{\"topic\":\"v\",\"partition\":0,\
             \"offset\":8}],\"success\":true}"
        );
        assert_eq!(
            line(|events| events.partitions("partitions_revoked", &[0, 2])),
            "\"name\":\"partitions_revoked\",\"partitions\":[{\"topic\":\"v\",\"partition\":0},\
             {\"topic\":\"v\",\"partition\":2}]}"
        );
        let sent = OutgoingRecord {
            key: Some(b"1".to_vec()),
            value: b"7.1".to_vec(),
            ..OutgoingRecord::default()
        };
        assert_eq!(
            line(|events| events.sent(&sent, 0, 6)),
            "\"name\":\"producer_send_success\",\"key\":\"1\",\"value\":\"7.1\",\"offset\":6,\
             \"topic\":\"v\",\"partition\":0}"
        );
    }
}
