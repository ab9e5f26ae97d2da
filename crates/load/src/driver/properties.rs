//! A driver's properties as they are collected.

use kgauge_client::Secret;

use super::frames::Property;

/// Collects properties.
#[derive(Default)]
pub(super) struct DriverProperties(pub(super) Vec<Property>);

impl DriverProperties {
    /// A setting that was requested.
    pub(super) fn set(&mut self, key: &str, value: impl Into<String>) {
        self.put(key, value.into(), false);
    }

    /// A setting that a client may lack if it has Kafka's default.
    pub(super) fn put(&mut self, key: &str, value: String, is_default: bool) {
        self.0.push(Property {
            key: key.to_owned(),
            value: Secret::new(value),
            is_default,
        });
    }
}
