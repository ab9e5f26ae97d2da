//! What the verifiable consumer's events say beside their names.

use std::collections::BTreeMap;

use super::plain::ReadRecord;
use super::verifiable_producer::text;

/// Of partitions that come or go.
pub(super) fn partitions_of(partitions: &[u32], topic: &str) -> String {
    let topic = text(Some(topic.as_bytes()));
    let list = partitions
        .iter()
        .map(|partition| format!("{{\"topic\":{topic},\"partition\":{partition}}}"));
    let list = list.collect::<Vec<_>>().join(",");
    format!(",\"partitions\":[{list}]")
}

/// Of one record.
pub(super) fn record_data(record: &ReadRecord, topic: &str) -> String {
    format!(
        ",\"key\":{},\"value\":{},\"topic\":{},\"partition\":{},\"offset\":{}",
        text(record.key.as_deref()),
        text(record.value.as_deref()),
        text(Some(topic.as_bytes())),
        record.partition,
        record.offset,
    )
}

/// Of what one answer brought.
pub(super) fn consumed(taken: &[ReadRecord], topic: &str) -> String {
    let topic = text(Some(topic.as_bytes()));
    let mut parts: BTreeMap<u32, (u64, i64, i64)> = BTreeMap::new();
    for record in taken {
        let part = parts.entry(record.partition);
        let part = part.or_insert((0, record.offset, record.offset));
        *part = (
            part.0 + 1,
            part.1.min(record.offset),
            part.2.max(record.offset),
        );
    }
    let parts = parts.iter().map(|(partition, (count, least, most))| {
        format!(
            "{{\"topic\":{topic},\"partition\":{partition},\"count\":{count},\"minOffset\":{least},\
             \"maxOffset\":{most}}}"
        )
    });
    let parts = parts.collect::<Vec<_>>().join(",");
    format!(",\"count\":{},\"partitions\":[{parts}]", taken.len())
}

/// Of a commit.
pub(super) fn committed(offsets: &[(i32, i64)], topic: &str, error: Option<&str>) -> String {
    let topic = text(Some(topic.as_bytes()));
    let list = offsets.iter().map(|(partition, offset)| {
        format!("{{\"topic\":{topic},\"partition\":{partition},\"offset\":{offset}}}")
    });
    let list = list.collect::<Vec<_>>().join(",");
    let error = error.map(|words| format!(",\"error\":{}", text(Some(words.as_bytes()))));
    let success = error.is_none();
    format!(
        ",\"offsets\":[{list}]{},\"success\":{success}",
        error.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_read_as_4_3_1_printed_them() {
        let record = |offset: i64, value: &str| ReadRecord {
            partition: 0,
            offset,
            key: None,
            value: Some(value.as_bytes().to_vec()),
        };
        let taken = [record(0, "0"), record(1, "7.0")];
        assert_eq!(
            record_data(&taken[1], "v"),
            ",\"key\":null,\"value\":\"7.0\",\"topic\":\"v\",\"partition\":0,\"offset\":1"
        );
        assert_eq!(
            consumed(&taken, "v"),
            ",\"count\":2,\"partitions\":[{\"topic\":\"v\",\"partition\":0,\"count\":2,\
             \"minOffset\":0,\"maxOffset\":1}]"
        );
        assert_eq!(
            committed(&[(0, 8)], "v", None),
            ",\"offsets\":[{\"topic\":\"v\",\"partition\":0,\"offset\":8}],\"success\":true"
        );
    }
}
