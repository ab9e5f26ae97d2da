//! The APIs, versions and features of a broker.

use std::ops::RangeInclusive;

use kgauge_wire::api::ApiKey;
use kgauge_wire::messages::ApiVersionsResponse;

/// A broker's response to ApiVersions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ApiVersions {
    /// Key, lowest and highest version; sorted by key, one entry each. Unknown keys are kept: they show the broker's
    /// release.
    ranges: Vec<(i16, i16, i16)>,
    /// Name, lowest and highest level that the broker's software supports (KIP-584).
    supported_features: Vec<(String, i16, i16)>,
    /// Name, and the level that the cluster has finalized.
    finalized_features: Vec<(String, i16)>,
}

impl ApiVersions {
    /// From bare ranges `(key, lowest, highest)`.
    pub fn from_ranges(ranges: impl IntoIterator<Item = (i16, i16, i16)>) -> ApiVersions {
        let mut ranges: Vec<_> = ranges.into_iter().collect();
        ranges.sort_unstable();
        ranges.dedup_by_key(|&mut (key, _, _)| key);
        ApiVersions {
            ranges,
            ..ApiVersions::default()
        }
    }

    pub(crate) fn from_answer(answer: &ApiVersionsResponse<'_>) -> ApiVersions {
        let ranges = answer.api_keys.iter().map(|api| {
            // Produce: brokers since 4.0 report 0 as the lowest version although they only serve 3 and above, because
            // librdkafka requires it (KAFKA-18659). That is harmless here: the highest common version is used.
            (api.api_key, api.min_version, api.max_version)
        });
        ApiVersions {
            supported_features: answer
                .supported_features
                .iter()
                .map(|feature| {
                    (
                        feature.name.to_string(),
                        feature.min_version,
                        feature.max_version,
                    )
                })
                .collect(),
            finalized_features: answer
                .finalized_features
                .iter()
                .map(|feature| (feature.name.to_string(), feature.max_version_level))
                .collect(),
            ..ApiVersions::from_ranges(ranges)
        }
    }

    /// The broker's lowest and highest version of `api`.
    pub fn range(&self, api: ApiKey) -> Option<(i16, i16)> {
        self.range_of_key(api.as_i16())
    }

    /// The same for a key that may be unknown to kgauge.
    pub(crate) fn range_of_key(&self, key: i16) -> Option<(i16, i16)> {
        let index = self
            .ranges
            .binary_search_by_key(&key, |&(key, _, _)| key)
            .ok()?;
        let (_, min, max) = self.ranges[index];
        Some((min, max))
    }

    /// The highest common version.
    pub fn highest_common(&self, api: ApiKey, ours: RangeInclusive<i16>) -> Option<i16> {
        let (min, max) = self.range(api)?;
        let highest = max.min(*ours.end());
        (highest >= min.max(*ours.start())).then_some(highest)
    }

    /// Lowest and highest level of a feature that the broker's software supports.
    pub(crate) fn supported_feature(&self, name: &str) -> Option<(i16, i16)> {
        let mut features = self.supported_features.iter();
        features
            .find(|(known, _, _)| known == name)
            .map(|&(_, min, max)| (min, max))
    }

    /// The level of a feature that the cluster has finalized.
    pub(crate) fn finalized_feature(&self, name: &str) -> Option<i16> {
        self.finalized_features
            .iter()
            .find(|(known, _)| known == name)
            .map(|&(_, level)| level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_common_version_is_chosen() {
        let versions = ApiVersions::from_ranges([(3, 2, 9), (0, 3, 5)]);
        assert_eq!(versions.highest_common(ApiKey::Metadata, 0..=13), Some(9));
        assert_eq!(versions.highest_common(ApiKey::Metadata, 0..=4), Some(4));
        assert_eq!(versions.highest_common(ApiKey::Metadata, 0..=1), None);
        assert_eq!(versions.highest_common(ApiKey::Metadata, 10..=13), None);
        assert_eq!(versions.highest_common(ApiKey::Produce, 5..=13), Some(5));
        assert_eq!(versions.highest_common(ApiKey::Fetch, 0..=13), None);
    }
}
