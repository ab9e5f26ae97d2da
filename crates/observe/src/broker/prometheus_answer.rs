//! Decodes Prometheus's text to attributes of MBeans.

use kgauge_results::metrics::JavaSource;
use kgauge_results::run::MetricsSource;

use super::bean::BeanReader;
use super::listeners::ListenerWaits;
use super::prometheus::{Bean, Exposition};

/// The `id` of Kafka's `app-info`, unless the exporter's rules drop it.
pub(super) fn broker_id(metrics: &Exposition) -> Option<i32> {
    let mut lines = metrics.beginning("kafka_server_app_info");
    lines.find_map(|(_, sample)| sample.labels.get("id")?.parse().ok())
}

impl BeanReader for Exposition {
    const SOURCE: MetricsSource = MetricsSource::Prometheus;

    fn count(&self, mbean: &str) -> Option<f64> {
        self.count_of(&Bean::of(mbean)?)
    }

    fn value(&self, mbean: &str) -> Option<f64> {
        self.value_of(&Bean::of(mbean)?)
    }

    fn sum(&self, mbean: &str) -> Option<f64> {
        let bean = Bean::of(mbean)?;
        // Exporters may omit means: then the sum would be known as 0 before the first value, and unknown after it.
        let mean = self.mean_of(&bean)?;
        match self.count_of(&bean)? {
            0.0 => Some(0.0),
            count => Some(mean * count),
        }
    }

    /// The exporter's metrics of its own process; the broker's if it is an agent in it.
    fn java(&self, source: &JavaSource) -> Option<f64> {
        source.lines.iter().find_map(|name| {
            let lines = self.all(name).filter(|line| line.has(source.label));
            let sum = lines.map(|line| line.value).reduce(|sum, one| sum + one);
            Some(sum? * source.line_factor)
        })
    }

    fn network_waits(&self) -> ListenerWaits {
        waits(self)
    }

    /// Exporters do not show whether it is the meter or the gauge with this name.
    fn network_meter(&self) -> Option<f64> {
        None
    }

    fn is_controller(&self) -> bool {
        let mut lines = self.beginning("kafka_server_controllerserver");
        lines.next().is_some()
    }

    fn started_unix_ms(&self) -> Option<f64> {
        Some(self.plain("process_start_time_seconds", None)? * 1e3)
    }
}

/// The waiting time of the network threads; a rule may have put listener and thread into the name.
fn waits(metrics: &Exposition) -> ListenerWaits {
    const BASE: &str = "kafka_server_socket_server_metrics";
    let mut waits = ListenerWaits::default();
    // Releases before 4.0 use the first name; some have both.
    for end in ["io_waittime_total", "io_wait_time_ns_total"] {
        for (name, sample) in metrics.beginning(BASE) {
            let Some(middle) = name.strip_suffix(end).filter(|_| sample.value.is_finite()) else {
                continue;
            };
            let middle = middle.strip_prefix(BASE).unwrap_or_default();
            let of_name = middle.strip_prefix("_listener_").map(|rest| {
                let (listener, thread) =
                    rest.split_once("_networkprocessor_").unwrap_or((rest, ""));
                // Names are in lower case here; Kafka's listener names are in upper case.
                (listener.to_ascii_uppercase(), thread.to_owned())
            });
            let label = |name: &str| sample.labels.get(name).cloned();
            let thread = label("networkprocessor").or_else(|| label("network_processor"));
            let (listener, thread) = match of_name {
                Some((listener, thread)) => (Some(listener), thread),
                None => (label("listener"), thread.unwrap_or_default()),
            };
            waits.add(listener.as_deref(), &thread, sample.value);
        }
    }
    waits
}

#[cfg(test)]
mod tests;
