//! Network threads by listener. Kafka names those of a socket server by `listener` and `networkProcessor`.

use std::collections::BTreeMap;

use kgauge_results::run::ListenerSample;

/// Waiting times of network threads, by listener, if known, and thread name.
#[derive(Debug, Default)]
pub(super) struct ListenerWaits {
    of: BTreeMap<(Option<String>, String), f64>,
}

impl ListenerWaits {
    /// Adds one thread. Threads of a controller's listener do not count: they serve no clients. A thread that is
    /// reported twice counts once.
    pub(super) fn add(&mut self, listener: Option<&str>, thread: &str, wait_ns: f64) {
        let name = listener.unwrap_or_default().to_ascii_lowercase();
        if !name.contains("controller") {
            let key = (listener.map(str::to_owned), thread.to_owned());
            self.of.insert(key, wait_ns);
        }
    }

    /// The mean of all threads.
    pub(super) fn mean_ns(&self) -> Option<u64> {
        mean(self.of.values().copied())
    }

    /// The mean of each listener's threads.
    pub(super) fn listeners(&self) -> Vec<ListenerSample> {
        let mut threads = BTreeMap::<&String, Vec<f64>>::new();
        for ((listener, _), wait_ns) in &self.of {
            if let Some(listener) = listener {
                threads.entry(listener).or_default().push(*wait_ns);
            }
        }
        let samples = threads.into_iter().filter_map(|(listener, waits)| {
            Some(ListenerSample {
                listener: listener.clone(),
                threads: u32::try_from(waits.len()).unwrap_or(u32::MAX),
                idle_ns: mean(waits.into_iter())?,
            })
        });
        samples.take(LISTENERS_MAX).collect()
    }
}

/// More listeners than a broker has are ignored.
const LISTENERS_MAX: usize = 32;

fn mean(waits: impl ExactSizeIterator<Item = f64>) -> Option<u64> {
    let count = waits.len();
    (count > 0).then(|| whole(waits.sum::<f64>() / count as f64))?
}

/// A count: non-negative, and within 64 bits.
pub(super) fn whole(number: f64) -> Option<u64> {
    (number > -0.5 && number < u64::MAX as f64).then(|| number.round().max(0.0) as u64)
}
