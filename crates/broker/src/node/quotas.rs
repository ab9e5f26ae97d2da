//! Throttling: what clients have sent and fetched of late, and how long those beyond their quota are
//! kept waiting.
//!
//! Measured as Kafka does (`Rate` over `SampledStat`): in windows of a second, eleven of which count,
//! over at least ten seconds. The answer asks a client beyond its quota to wait for as long as it would
//! have needed at its rate (KIP-219), and the node reads nothing more from its connection until then.

use std::collections::{BTreeMap, VecDeque};

use super::{BrokerNode, NodeOutput, Timer};
use crate::ids::ConnectionId;
use crate::quota::{Limit, QuotaKind};
use crate::time::{NS_PER_MS, Now};

/// `quota.window.num` and `quota.window.size.seconds`.
const WINDOWS: usize = 11;
const WINDOW_NS: u64 = 1_000 * NS_PER_MS;

/// What was used of one quota.
#[derive(Debug, Default)]
pub(super) struct Meters {
    by_limit: BTreeMap<(QuotaKind, String, String), Meter>,
}

/// Amounts in the newest windows.
#[derive(Debug, Default)]
struct Meter {
    /// Beginning and amount, oldest first.
    windows: VecDeque<(u64, f64)>,
}

impl Meter {
    fn add(&mut self, now_ns: u64, amount: f64) {
        let oldest_ns = now_ns.saturating_sub(WINDOW_NS * WINDOWS as u64);
        self.windows.retain(|(begin_ns, _)| *begin_ns > oldest_ns);
        match self.windows.back_mut() {
            Some((begin_ns, sum)) if now_ns - *begin_ns < WINDOW_NS => *sum += amount,
            _ => self.windows.push_back((now_ns, amount)),
        }
        if self.windows.len() > WINDOWS {
            self.windows.pop_front();
        }
    }

    /// How long a client must wait so that its rate falls to the limit, in nanoseconds.
    fn throttle_ns(&self, now_ns: u64, bytes_per_second: f64) -> u64 {
        let Some((oldest_ns, _)) = self.windows.front() else {
            return 0;
        };
        let mut elapsed_ns = now_ns - oldest_ns;
        let (full, least) = (elapsed_ns / WINDOW_NS, WINDOWS as u64 - 1);
        elapsed_ns += least.saturating_sub(full) * WINDOW_NS;
        let sum: f64 = self.windows.iter().map(|(_, amount)| amount).sum();
        let elapsed = elapsed_ns as f64 / 1e9;
        let rate = sum / elapsed;
        if rate <= bytes_per_second {
            return 0;
        }
        ((rate - bytes_per_second) / bytes_per_second * elapsed_ns as f64) as u64
    }

    /// Takes back what was counted last.
    fn take_back(&mut self, amount: f64) {
        if let Some((_, sum)) = self.windows.back_mut() {
            *sum -= amount;
        }
    }
}

impl BrokerNode {
    fn limit_of(&self, kind: QuotaKind, connection: ConnectionId, client: &str) -> Option<Limit> {
        if self.image.client_quotas.entities.is_empty() {
            return None;
        }
        let principal = self.principal(connection)?;
        let user = principal.strip_prefix("User:").unwrap_or(principal);
        self.image.client_quotas.limit(kind, user, client)
    }

    /// Counts bytes against a client's quota. Gives for how many milliseconds it is throttled, which
    /// begins at once: nothing more of its connection is served until then.
    pub(crate) fn use_quota(
        &mut self,
        now: Now,
        kind: QuotaKind,
        connection: ConnectionId,
        client: &str,
        bytes: usize,
    ) -> i32 {
        let Some(limit) = self.limit_of(kind, connection, client) else {
            return 0;
        };
        let Limit {
            bytes_per_second,
            user,
            client_id,
        } = limit;
        let meter = self.meters.by_limit.entry((kind, user, client_id));
        let meter = meter.or_default();
        meter.add(now.mono_ns, bytes as f64);
        let throttle_ns = meter.throttle_ns(now.mono_ns, bytes_per_second);
        if throttle_ns < NS_PER_MS {
            return 0;
        }
        if kind == QuotaKind::Fetch {
            // A throttled fetch gets nothing, so it has used nothing.
            meter.take_back(bytes as f64);
        }
        let until_ns = now.mono_ns.saturating_add(throttle_ns);
        if self.connections.mute(connection) {
            self.timers.set(until_ns, Timer::Unmute(connection));
        }
        let throttle_ms = i32::try_from(throttle_ns / NS_PER_MS).unwrap_or(i32::MAX);
        self.count_throttle(kind, throttle_ms);
        throttle_ms
    }

    /// A throttled client may go on.
    pub(super) fn unmute(&mut self, connection: ConnectionId) {
        if self.connections.unmute(connection) {
            self.outputs.push(NodeOutput::Resume { connection });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_burst_is_spread_over_ten_seconds_at_least() {
        let mut meter = Meter::default();
        meter.add(5 * SECOND, 20_000.0);
        // 20,000 B over 10 s are 2,000 B/s: twice the limit, so ten seconds more.
        assert_eq!(meter.throttle_ns(5 * SECOND, 1_000.0), 10 * SECOND);
        assert_eq!(meter.throttle_ns(5 * SECOND, 2_000.0), 0);
    }

    #[test]
    fn what_is_older_than_eleven_windows_is_forgotten() {
        let mut meter = Meter::default();
        meter.add(SECOND, 1_000_000.0);
        meter.add(12 * SECOND, 1.0);
        assert_eq!(meter.throttle_ns(12 * SECOND, 1_000.0), 0);
    }

    #[test]
    fn a_steady_rate_at_the_limit_is_never_throttled() {
        let mut meter = Meter::default();
        for tenth in 0..1_000 {
            let now_ns = SECOND + tenth * SECOND / 10;
            meter.add(now_ns, 100.0);
            assert_eq!(meter.throttle_ns(now_ns, 1_100.0), 0, "{tenth}");
        }
        meter.add(101 * SECOND, 11_000.0);
        assert!(meter.throttle_ns(101 * SECOND, 1_000.0) > 8 * SECOND);
    }
}
