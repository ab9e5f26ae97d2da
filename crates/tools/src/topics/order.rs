//! The order of the keys of Java's `HashMap`, in which Kafka's tool lists topics and settings.

/// `String.hashCode`, its upper half mixed into the lower one as `HashMap` does.
fn hash(key: &str) -> u32 {
    let units = key.encode_utf16();
    let hash = units.fold(0_u32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(u32::from(unit))
    });
    hash ^ (hash >> 16)
}

/// The number of buckets of a map with `count` keys that was created with a `capacity`.
fn buckets(count: usize, capacity: usize) -> usize {
    let mut buckets = capacity.max(1).next_power_of_two();
    // It grows when more than three quarters are full.
    while count > buckets * 3 / 4 {
        buckets *= 2;
    }
    buckets
}

/// Sorts like a map that was created with a `capacity` and received its keys in the given order.
pub(super) fn sort<T>(items: &mut [T], capacity: usize, key: impl Fn(&T) -> &str) {
    let buckets = buckets(items.len(), capacity);
    let mask = (buckets - 1) as u32;
    items.sort_by_key(|item| hash(key(item)) & mask);
}

/// The default capacity.
pub(super) const CAPACITY: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_and_settings_come_as_4_3_1_listed_them() {
        let mut topics = ["my_topic.x", "t2", "t3"];
        sort(&mut topics, 3, |name| name);
        assert_eq!(topics, ["t2", "my_topic.x", "t3"]);
        // 33 settings, of which three were shown.
        let mut settings: Vec<String> = (0..30).map(|number| format!("other.{number}")).collect();
        let shown = [
            "file.delete.delay.ms",
            "min.insync.replicas",
            "retention.ms",
        ];
        settings.extend(shown.map(str::to_owned));
        sort(&mut settings, CAPACITY, |name| name);
        settings.retain(|name| shown.contains(&name.as_str()));
        assert_eq!(
            settings,
            [
                "min.insync.replicas",
                "retention.ms",
                "file.delete.delay.ms"
            ]
        );
    }
}
