//! Pods that Kubernetes refuses to create: whether waiting may help, and for how long.

use std::time::{Duration, Instant};

/// How long refusals may go on while no further pod is created: other pods free a quota, a webhook becomes ready.
const REFUSED_MAX: Duration = Duration::from_secs(30);

/// The time since which Kubernetes refuses pods and creates none.
#[derive(Debug)]
pub(super) struct Refusals {
    since: Instant,
    /// Pods that exist.
    pods: usize,
    /// When a message was shown last.
    pub(super) shown: Option<Instant>,
}

impl Refusals {
    pub(super) fn new(pods: usize, now: Instant) -> Refusals {
        Refusals {
            since: now,
            pods,
            shown: None,
        }
    }

    /// How long kgauge waits after this message; zero if waiting does not help. `pods` exist, and each further one
    /// starts the time again.
    pub(super) fn time_left(&mut self, message: &str, pods: usize, now: Instant) -> Duration {
        if pods > self.pods {
            self.since = now;
        }
        self.pods = pods;
        match is_permanent(message) {
            true => Duration::ZERO,
            false => REFUSED_MAX.saturating_sub(now.duration_since(self.since)),
        }
    }
}

/// Whether the same pod is refused however long one waits.
fn is_permanent(message: &str) -> bool {
    message.contains("violates PodSecurity") || is_above_limit(message)
}

/// Whether one pod alone asks for more than a quota allows:
/// `exceeded quota: NAME, requested: limits.cpu=8,pods=1, used: ..., limited: limits.cpu=4,pods=20`
/// (Kubernetes' `plugin/resourcequota/controller.go`).
fn is_above_limit(message: &str) -> bool {
    let Some((_, quota)) = message.split_once("exceeded quota: ") else {
        return false;
    };
    let amounts = |name: &str| {
        let mut fields = quota.split(", ");
        let field = fields.find_map(|field| field.strip_prefix(name));
        field.unwrap_or("").split(',').filter_map(|pair| {
            let (resource, amount) = pair.split_once('=')?;
            Some((resource, quantity(amount)?))
        })
    };
    amounts("requested: ").any(|(resource, requested)| {
        let mut limits = amounts("limited: ");
        limits.any(|(limited, limit)| limited == resource && requested > limit)
    })
}

/// An amount as Kubernetes writes it: `2`, `500m`, `1Gi`, `12e6`.
fn quantity(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 14] = [
        ("Ki", 1024.0),
        ("Mi", 1_048_576.0),
        ("Gi", 1_073_741_824.0),
        ("Ti", 1_099_511_627_776.0),
        ("Pi", 1_125_899_906_842_624.0),
        ("Ei", 1_152_921_504_606_846_976.0),
        ("n", 1e-9),
        ("u", 1e-6),
        ("m", 1e-3),
        ("k", 1e3),
        ("M", 1e6),
        ("G", 1e9),
        ("T", 1e12),
        ("P", 1e15),
    ];
    let with_unit = UNITS.iter().find_map(|(unit, factor)| {
        let number: f64 = text.strip_suffix(unit)?.parse().ok()?;
        Some(number * factor)
    });
    with_unit.or_else(|| text.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quota(requested: &str, limited: &str) -> String {
        format!(
            "Error creating: pods \"a-lead-x\" is forbidden: exceeded quota: team, requested: {requested}, used: \
             limits.cpu=0,pods=0, limited: {limited}"
        )
    }

    #[test]
    fn only_what_can_never_be_created_is_refused_for_good() {
        let policy = "pods \"a-lead-x\" is forbidden: violates PodSecurity \"restricted:latest\": runAsNonRoot != true";
        assert!(is_permanent(policy));
        for (requested, limited) in [
            ("limits.cpu=8", "limits.cpu=4"),
            ("limits.cpu=2,pods=1", "limits.cpu=1500m,pods=20"),
            ("requests.memory=1Gi", "requests.memory=1G"),
            ("pods=1", "pods=0"),
        ] {
            let message = quota(requested, limited);
            assert!(is_permanent(&message), "{message}");
        }
        for message in [
            quota("pods=1", "pods=3"),
            quota(
                "limits.cpu=2,requests.memory=1Gi",
                "limits.cpu=2,requests.memory=2147483648",
            ),
            "Internal error occurred: failed calling webhook \"pods.example\": no endpoints available".to_owned(),
            "pods \"a\" is forbidden: error looking up service account perf/default: not found".to_owned(),
        ] {
            assert!(!is_permanent(&message), "{message}");
        }
    }

    #[test]
    fn each_further_pod_starts_the_time_again() {
        let start = Instant::now();
        let mut refusals = Refusals::new(1, start);
        let message = quota("pods=1", "pods=3");
        let mut left = |pods, seconds| {
            let now = start + Duration::from_secs(seconds);
            refusals.time_left(&message, pods, now).as_secs()
        };
        assert_eq!((left(1, 0), left(1, 29)), (30, 1));
        assert_eq!((left(2, 29), left(2, 58), left(2, 59)), (30, 1, 0));
        assert_eq!(left(2, 99), 0);
    }
}
