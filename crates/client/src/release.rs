//! Guesses a broker's release of Apache Kafka. There is no request for it, but each release added requests, versions of
//! requests, and feature levels.
//!
//! Sources: `MetadataVersion` of kafka-server-common 4.3.1 for the feature levels; the `validVersions` of Kafka's
//! message definitions and the release notes for the rest. For other implementations, a guess means "supports the same
//! as Kafka x".

use std::fmt;

use crate::connection::ApiVersions;

/// Major and minor number of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    /// 4 of 4.3; 0 for the releases before 1.0.
    pub major: u8,
    /// 3 of 4.3; 10 of 0.10.2.
    pub minor: u8,
    /// 2 of 0.10.2; 0 for all others, because bug fix releases cannot be distinguished.
    pub patch: u8,
}

/// The release of a broker, as far as its API versions show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleaseGuess {
    /// Its versions match these releases: the first and the last that cannot be distinguished.
    Between(Release, Release),
    /// Its versions match the newest release of the table, or newer ones.
    AtLeast(Release),
    /// It lacks what the oldest release of the table has.
    Before(Release),
}

const fn release(major: u8, minor: u8) -> Release {
    Release {
        major,
        minor,
        patch: 0,
    }
}

const fn old(minor: u8, patch: u8) -> Release {
    Release {
        major: 0,
        minor,
        patch,
    }
}

/// The highest level of the feature `metadata.version` that the software of a release supports,
/// for brokers that run with KRaft.
const METADATA_LEVELS: &[(i16, Release)] = &[
    (7, release(3, 3)),
    (8, release(3, 4)),
    (11, release(3, 5)),
    (14, release(3, 6)),
    (19, release(3, 7)),
    (20, release(3, 8)),
    (21, release(3, 9)),
    (25, release(4, 0)),
    (27, release(4, 1)),
    (29, release(4, 2)),
    (30, release(4, 3)),
];

/// The API key and version that a release introduced, for brokers without `metadata.version`. 3.4 had no changes for
/// clients.
const FIRST_VERSIONS: &[(i16, i16, Release)] = &[
    (10, 0, old(8, 2)),  // FindCoordinator
    (16, 0, old(9, 0)),  // ListGroups
    (18, 0, old(10, 0)), // ApiVersions
    (19, 0, old(10, 1)), // CreateTopics
    (19, 1, old(10, 2)),
    (22, 0, old(11, 0)),    // InitProducerId
    (37, 0, release(1, 0)), // CreatePartitions
    (42, 0, release(1, 1)), // DeleteGroups
    (1, 8, release(2, 0)),  // Fetch
    (1, 10, release(2, 1)),
    (2, 5, release(2, 2)), // ListOffsets
    (1, 11, release(2, 3)),
    (0, 8, release(2, 4)),  // Produce
    (9, 7, release(2, 5)),  // OffsetFetch
    (16, 4, release(2, 6)), // ListGroups
    (1, 12, release(2, 7)),
    (0, 9, release(2, 8)),
    (2, 7, release(3, 0)),
    (1, 13, release(3, 1)),
    (11, 9, release(3, 2)), // JoinGroup
    (35, 4, release(3, 3)), // DescribeLogDirs
    (1, 15, release(3, 5)),
    (24, 4, release(3, 6)), // AddPartitionsToTxn
    (0, 10, release(3, 7)),
    (0, 11, release(3, 8)),
    (1, 17, release(3, 9)),
    (0, 12, release(4, 0)),
    (0, 13, release(4, 1)),
    (88, 0, release(4, 2)), // StreamsGroupHeartbeat
    (35, 5, release(4, 3)),
];

impl ReleaseGuess {
    /// The release with these versions.
    pub fn from_api_versions(versions: &ApiVersions) -> ReleaseGuess {
        match versions.supported_feature("metadata.version") {
            Some((_, level)) => ReleaseGuess::from_metadata_level(level),
            None => ReleaseGuess::from_ranges(versions),
        }
    }

    fn from_metadata_level(level: i16) -> ReleaseGuess {
        let reached = METADATA_LEVELS
            .iter()
            .find(|&&(highest, _)| level <= highest);
        let newest = METADATA_LEVELS[METADATA_LEVELS.len() - 1];
        match reached {
            Some(&(_, release)) if release != newest.1 => ReleaseGuess::Between(release, release),
            _ => ReleaseGuess::AtLeast(newest.1),
        }
    }

    fn from_ranges(versions: &ApiVersions) -> ReleaseGuess {
        let has = |&(key, version, _): &(i16, i16, Release)| {
            versions
                .range_of_key(key)
                .is_some_and(|(_, highest)| highest >= version)
        };
        // A release has everything that came before it; the first gap ends the search, even if another implementation
        // has later versions.
        // A broker with ApiVersions is at least 0.10, even without groups.
        let is_api_versions = |(key, _, _): &(i16, i16, Release)| *key == 18;
        let floor = FIRST_VERSIONS.iter().position(is_api_versions);
        let floor = floor.filter(|&at| has(&FIRST_VERSIONS[at])).unwrap_or(0);
        let climb = FIRST_VERSIONS[floor..].iter();
        let climbed = floor + climb.take_while(|first| has(first)).count();
        let Some(&(_, _, reached)) = climbed.checked_sub(1).map(|last| &FIRST_VERSIONS[last])
        else {
            return ReleaseGuess::Before(FIRST_VERSIONS[0].2);
        };
        if climbed == FIRST_VERSIONS.len() {
            return ReleaseGuess::AtLeast(reached);
        }
        let last = if reached == release(3, 3) {
            release(3, 4)
        } else {
            reached
        };
        ReleaseGuess::Between(reached, last)
    }
}

impl fmt::Display for Release {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.major {
            0 => write!(formatter, "0.{}.{}", self.minor, self.patch),
            major => write!(formatter, "{major}.{}", self.minor),
        }
    }
}

impl fmt::Display for ReleaseGuess {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReleaseGuess::Between(first, last) if first == last => write!(formatter, "{first}"),
            ReleaseGuess::Between(first, last) => write!(formatter, "{first} or {last}"),
            ReleaseGuess::AtLeast(release) => write!(formatter, "at least {release}"),
            ReleaseGuess::Before(release) => write!(formatter, "before {release}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guess(ranges: &[(i16, i16, i16)]) -> String {
        let versions = ApiVersions::from_ranges(ranges.iter().copied());
        ReleaseGuess::from_api_versions(&versions).to_string()
    }

    #[test]
    fn old_brokers_are_recognised_by_what_they_lack() {
        assert_eq!(guess(&[]), "before 0.8.2");
        // The versions of Kafka 0.10.1.0.
        let mut ranges: Vec<(i16, i16, i16)> = (0..=20).map(|key| (key, 0, 0)).collect();
        ranges[1].2 = 3;
        ranges[2].2 = 1;
        ranges[3].2 = 2;
        assert_eq!(guess(&ranges), "0.10.1");
        ranges[19].2 = 1;
        assert_eq!(guess(&ranges), "0.10.2");
    }

    #[test]
    fn a_gap_ends_the_climb() {
        // CreateTopics and much later APIs, but no InitProducerId.
        assert_eq!(
            guess(&[(18, 0, 4), (19, 0, 7), (1, 0, 17), (0, 0, 13)]),
            "0.10.2"
        );
    }

    #[test]
    fn releases_that_look_alike_are_both_named() {
        let mut ranges: Vec<(i16, i16, i16)> = (0..=67).map(|key| (key, 0, 4)).collect();
        ranges[0].2 = 9;
        ranges[1].2 = 13;
        ranges[2].2 = 7;
        ranges[9].2 = 8;
        ranges[11].2 = 9;
        ranges[24].2 = 3;
        assert_eq!(guess(&ranges), "3.3 or 3.4");
    }

    #[test]
    fn levels_of_kraft_clusters_name_the_release() {
        for (level, words) in [
            (7, "3.3"),
            (9, "3.5"),
            (19, "3.7"),
            (25, "4.0"),
            (27, "4.1"),
            (30, "at least 4.3"),
            (31, "at least 4.3"),
        ] {
            assert_eq!(ReleaseGuess::from_metadata_level(level).to_string(), words);
        }
    }

    #[test]
    fn the_tables_are_in_order() {
        assert!(METADATA_LEVELS.is_sorted());
        assert!(FIRST_VERSIONS.is_sorted_by_key(|&(_, _, release)| release));
    }
}
