//! What a checkup may do to a cluster: its rate, its bytes, its topics.

use kgauge_results::run::{
    AppliedQuota, BrokerCensus, CheckupLimits, ClusterCensus, RateLimit, TargetKind,
};
use kgauge_scenario::RATE_MAX;

use crate::error::RunError;

use super::lengths::PartLengths;
use super::request::CheckupRequest;

/// Bytes of a record besides its value, and its part of the batch header.
const RECORD_OVERHEAD_BYTES: u64 = 20;
/// The part of the free space that may be used.
const FREE_PART: u64 = 5;
/// Bytes on disk if brokers do not report their free space.
const DISK_BYTES_UNKNOWN: u64 = 10_000_000_000;
/// The part of the free space that even the user may not exceed.
const USER_FREE_PART: f64 = 0.8;
/// The part of a quota that is used, so that brokers do not throttle.
const QUOTA_PART: f64 = 0.9;
/// Kafka's default of `log.segment.delete.delay.ms`.
const DELETE_DELAY_MS: u64 = 60_000;
/// A smaller rate measures nothing.
pub(crate) const RATE_MIN: f64 = 100.0;
/// More partitions per broker do not change what the cluster can take.
const PARTITIONS_PER_BROKER: u32 = 2;
const PARTITIONS_MIN: u32 = 6;

/// What is known before any load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LimitBasis<'a> {
    pub(crate) census: &'a ClusterCensus,
    pub(crate) kind: TargetKind,
    /// Whether all brokers share the disks of one machine.
    pub(crate) same_machine: bool,
    /// The free space on the disks of a target on this machine.
    pub(crate) free_bytes: Option<u64>,
    /// Whether kgauge can drop records from the brokers' page cache.
    pub(crate) reads_disk: bool,
}

/// The limits of a checkup.
///
/// # Errors
/// The user allows more than there is, or there is too little for any load.
pub(crate) fn limits(
    request: &CheckupRequest,
    basis: LimitBasis<'_>,
) -> Result<CheckupLimits, RunError> {
    let lengths = PartLengths::of(request.budget, basis.reads_disk);
    let census = basis.census;
    let brokers = u32::try_from(census.brokers.len())
        .unwrap_or(u32::MAX)
        .max(1);
    let replication = default_replication(census).clamp(1, brokers.min(100) as u16);
    let record_bytes = request.record_bytes.max(1);
    let stored_bytes = (record_bytes + RECORD_OVERHEAD_BYTES) * u64::from(replication);
    let disk_bytes_max = disk_bytes(request, basis)?;
    // A deleted topic stays on disk until the delay has passed, so the loads of that time add up.
    let held_s = lengths.longest_load_s() + delete_delay_s(basis);
    let disk_rate = disk_bytes_max as f64 / (stored_bytes * held_s) as f64;
    let quota_rate = quota_bytes(&census.quotas)
        .map(|bytes| QUOTA_PART * bytes * f64::from(brokers) / wire_bytes(record_bytes));
    let limits = [
        (RateLimit::User, request.rate_max),
        (RateLimit::Quota, quota_rate),
        (RateLimit::Disk, Some(disk_rate)),
    ];
    let known = limits.into_iter();
    let known = known.filter_map(|(limit, rate)| Some((limit, rate?)));
    let (rate_limit, rate_max) = known
        .min_by(|(_, one), (_, other)| one.total_cmp(other))
        .unwrap_or((RateLimit::Disk, disk_rate));
    if rate_max < RATE_MIN && rate_limit == RateLimit::Disk {
        return Err(RunError::cluster(format!(
            "the disks only have space for {rate_max:.0} records/s\n  free some space, or allow more \
             with --max-disk"
        )));
    }
    let rate_max = rate_max.clamp(1.0, RATE_MAX).floor();
    let load_s = request.budget.as_secs();
    Ok(CheckupLimits {
        budget_s: request.budget.as_secs(),
        load_s,
        topics_max: u32::try_from(lengths.topics()).unwrap_or(u32::MAX),
        record_bytes,
        partitions: (brokers.saturating_mul(PARTITIONS_PER_BROKER)).max(PARTITIONS_MIN),
        replication,
        rate_max,
        rate_limit,
        written_bytes_max: (rate_max * load_s as f64 * stored_bytes as f64) as u64,
        disk_bytes_max: disk_bytes_max
            .min((rate_max * held_s as f64 * stored_bytes as f64).ceil() as u64),
    })
}

fn wire_bytes(record_bytes: u64) -> f64 {
    (record_bytes + RECORD_OVERHEAD_BYTES) as f64
}

/// `default.replication.factor` of the first broker that reports it; Kafka's default is 1.
fn default_replication(census: &ClusterCensus) -> u16 {
    setting(census, "default.replication.factor").unwrap_or(1)
}

/// A setting of the first broker that reports it.
pub(crate) fn setting<T: std::str::FromStr>(census: &ClusterCensus, name: &str) -> Option<T> {
    let of = |broker: &BrokerCensus| broker.settings.get(name)?.parse().ok();
    census.brokers.iter().find_map(of)
}

/// How long brokers keep the files of deleted topics. The embedded cluster removes them at once.
fn delete_delay_s(basis: LimitBasis<'_>) -> u64 {
    let ms = match basis.kind.is_apache_kafka() {
        true => setting(basis.census, "log.segment.delete.delay.ms").unwrap_or(DELETE_DELAY_MS),
        false => 0,
    };
    ms.div_ceil(1_000)
}

/// The lowest quota on bytes, per broker.
fn quota_bytes(quotas: &[AppliedQuota]) -> Option<f64> {
    let of_bytes = quotas
        .iter()
        .filter(|quota| quota.key.ends_with("_byte_rate"));
    of_bytes.map(|quota| quota.value).reduce(f64::min)
}

/// Bytes that may be on all disks together at any time.
fn disk_bytes(request: &CheckupRequest, basis: LimitBasis<'_>) -> Result<u64, RunError> {
    let dirs = basis
        .census
        .brokers
        .iter()
        .flat_map(|broker| &broker.log_dirs);
    let least = dirs.filter_map(|dir| dir.usable_bytes).min();
    let disks = match basis.same_machine {
        true => 1,
        false => basis.census.brokers.len().max(1) as u64,
    };
    let reported = least.map(|least| least.saturating_mul(disks));
    let free = basis.free_bytes.or(reported);
    let Some(user) = request.disk_bytes_max else {
        return Ok(free.map_or(DISK_BYTES_UNKNOWN, |free| free / FREE_PART));
    };
    match free {
        Some(free) if user as f64 > free as f64 * USER_FREE_PART => Err(RunError::input(format!(
            "--max-disk: {:.1} GB are more than four fifths of the free space, {:.1} GB\n  allow \
             less, or free some space",
            user as f64 / 1e9,
            free as f64 / 1e9
        ))),
        Some(_) | None => Ok(user),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use kgauge_results::run::{LogDirCensus, QuotaLevel};

    use super::*;

    fn census(settings: &[(&str, &str)]) -> ClusterCensus {
        let settings = settings.iter();
        let settings = settings.map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let broker = BrokerCensus {
            settings: settings.collect(),
            log_dirs: vec![LogDirCensus {
                total_bytes: Some(1_000_000_000_000),
                usable_bytes: Some(100_000_000_000),
                ..LogDirCensus::default()
            }],
            ..BrokerCensus::default()
        };
        ClusterCensus {
            brokers: vec![broker; 3],
            ..ClusterCensus::default()
        }
    }

    fn basis(census: &ClusterCensus) -> LimitBasis<'_> {
        LimitBasis {
            census,
            kind: TargetKind::Existing,
            same_machine: false,
            free_bytes: None,
            reads_disk: false,
        }
    }

    fn request() -> CheckupRequest {
        CheckupRequest {
            record_bytes: 980,
            ..CheckupRequest::new("p99 <= 20 ms".to_owned())
        }
    }

    #[test]
    fn the_disk_bounds_the_rate_over_the_longest_load_and_the_delay() {
        let census = census(&[
            ("default.replication.factor", "3"),
            ("log.segment.delete.delay.ms", "66000"),
        ]);
        let limits = limits(&request(), basis(&census)).unwrap();
        // A fifth of 3 x 100 GB, at 3 x 1,000 bytes, for 34 + 66 s.
        assert_eq!(
            (limits.rate_max, limits.rate_limit),
            (200_000.0, RateLimit::Disk)
        );
        assert_eq!(limits.disk_bytes_max, 60_000_000_000);
        assert_eq!((limits.replication, limits.partitions), (3, 6));
    }

    #[test]
    fn the_smallest_limit_decides() {
        let mut census = census(&[]);
        let mut request = request();
        request.rate_max = Some(5_000.0);
        let limits_of = |request: &CheckupRequest, census: &ClusterCensus| {
            limits(request, basis(census)).unwrap()
        };
        let found = limits_of(&request, &census);
        assert_eq!(
            (found.rate_max, found.rate_limit),
            (5_000.0, RateLimit::User)
        );
        census.quotas.push(AppliedQuota {
            key: "producer_byte_rate".to_owned(),
            value: 1_000_000.0,
            level: QuotaLevel::DefaultClient,
        });
        // Nine tenths of 3 x 1 MB/s, at 1,000 bytes.
        let found = limits_of(&request, &census);
        assert_eq!(
            (found.rate_max, found.rate_limit),
            (2_700.0, RateLimit::Quota)
        );
    }

    #[test]
    fn more_disk_than_there_is_free_is_refused() {
        let census = census(&[]);
        let mut request = request();
        request.disk_bytes_max = Some(250_000_000_000);
        let error = limits(&request, basis(&census)).unwrap_err().to_string();
        assert!(error.starts_with("--max-disk"), "{error}");
        let on_one_machine = LimitBasis {
            same_machine: true,
            ..basis(&census)
        };
        request.disk_bytes_max = Some(90_000_000_000);
        assert!(limits(&request, basis(&census)).is_ok());
        assert!(limits(&request, on_one_machine).is_err());
    }
}
