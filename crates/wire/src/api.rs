//! Which APIs kgauge carries: keys, names, versions, and the versions of the headers before them.

mod table;

use std::fmt;
use std::ops::RangeInclusive;

pub use table::ApiKey;

/// What the table holds of an API.
#[derive(Clone, Copy)]
struct Facts {
    name: &'static str,
    version_min: i16,
    version_max: i16,
    flexible_from: i16,
}

impl Facts {
    const fn new(
        name: &'static str,
        version_min: i16,
        version_max: i16,
        flexible_from: i16,
    ) -> Self {
        Self {
            name,
            version_min,
            version_max,
            flexible_from,
        }
    }
}

impl ApiKey {
    /// The number in request headers.
    pub const fn as_i16(self) -> i16 {
        self as i16
    }

    /// Kafka's name, such as `Produce`.
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// The versions that kgauge can write and read.
    pub const fn versions(self) -> RangeInclusive<i16> {
        let facts = self.facts();
        facts.version_min..=facts.version_max
    }

    /// Whether the version uses compact lengths and tagged fields (KIP-482).
    pub const fn is_flexible(self, version: i16) -> bool {
        version >= self.facts().flexible_from
    }

    /// The version of the header before a request: 2 if the request is flexible, else 1.
    pub const fn request_header_version(self, version: i16) -> i16 {
        if self.is_flexible(version) { 2 } else { 1 }
    }

    /// The version of the header before a response: 1 if the response is flexible, else 0.
    ///
    /// Answers to `ApiVersions` always have 0: whoever asks does not know yet what the broker can
    /// do (KIP-511).
    pub const fn response_header_version(self, version: i16) -> i16 {
        match self {
            Self::ApiVersions => 0,
            _ if self.is_flexible(version) => 1,
            _ => 0,
        }
    }
}

impl fmt::Display for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_versions_are_those_of_kafka() {
        assert_eq!(ApiKey::Produce.as_i16(), 0);
        assert_eq!(ApiKey::from_i16(75), Some(ApiKey::DescribeTopicPartitions));
        assert_eq!(ApiKey::from_i16(999), None);
        assert_eq!(ApiKey::Produce.versions(), 0..=13);
        assert_eq!(ApiKey::Fetch.versions(), 0..=18);
        assert_eq!(
            ApiKey::DescribeTopicPartitions.to_string(),
            "DescribeTopicPartitions"
        );
    }

    #[test]
    fn every_key_finds_itself() {
        for &api in ApiKey::ALL {
            assert_eq!(ApiKey::from_i16(api.as_i16()), Some(api));
        }
    }

    #[test]
    fn header_versions_follow_flexibility_except_for_api_versions_answers() {
        assert_eq!(ApiKey::Produce.request_header_version(8), 1);
        assert_eq!(ApiKey::Produce.request_header_version(9), 2);
        assert_eq!(ApiKey::Produce.response_header_version(8), 0);
        assert_eq!(ApiKey::Produce.response_header_version(9), 1);
        assert_eq!(ApiKey::ApiVersions.request_header_version(3), 2);
        assert_eq!(ApiKey::ApiVersions.response_header_version(3), 0);
        assert_eq!(ApiKey::SaslHandshake.request_header_version(1), 1);
    }
}
