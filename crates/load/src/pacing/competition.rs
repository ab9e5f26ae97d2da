//! Detects whether other threads of this machine wait for processors: a spinning load thread would take time from them.
//!
//! The kernel counts how long threads waited for a processor: all threads together in `/proc/pressure/cpu` (PSI), and
//! one thread in its `schedstat`. Both are read ten times per second, and never when a send is due within the margin.

use std::fs::File;

/// How often the kernel's counters are read.
const LOOK_NS: u64 = 100_000_000;

/// Spinning stops above this share of waiting time.
const BUSY: f64 = 0.10;

/// Spinning resumes below this share of waiting time.
const CALM: f64 = 0.03;

/// A thread gives way for at least this long, so that it does not alternate with the threads that it delays.
const GIVE_WAY_NS_MIN: u64 = 1_000_000_000;

/// Whether to give way, and for how long that lasted.
#[derive(Debug, Default)]
struct SpinDecision {
    /// The last reading: its time, and the waiting time by then.
    last: Option<(u64, u64)>,
    gives_way_since_ns: Option<u64>,
    gave_way_ns: u64,
}

impl SpinDecision {
    /// Adds a reading of the kernel's waiting time in nanoseconds.
    fn note(&mut self, now_ns: u64, waited_ns: u64) {
        let Some((then_ns, before_ns)) = self.last.replace((now_ns, waited_ns)) else {
            return;
        };
        let span_ns = now_ns.saturating_sub(then_ns).max(1);
        let part = waited_ns.saturating_sub(before_ns) as f64 / span_ns as f64;
        match self.gives_way_since_ns {
            None if part > BUSY => self.gives_way_since_ns = Some(now_ns),
            None => {}
            Some(since_ns) => {
                self.gave_way_ns += span_ns;
                let is_long = now_ns.saturating_sub(since_ns) >= GIVE_WAY_NS_MIN;
                if is_long && part < CALM {
                    self.gives_way_since_ns = None;
                }
            }
        }
    }
}

/// The competition for processors as seen by one load thread.
#[derive(Debug)]
pub(super) struct Competition {
    /// The counter of all threads; if the kernel has none, that of this thread.
    counts: Option<Counts>,
    next_look_ns: u64,
    decision: SpinDecision,
}

#[derive(Debug)]
enum Counts {
    Pressure(File),
    OwnWaits(File),
}

impl Competition {
    /// Before the first reading, which opens the files: they belong to the reading thread.
    pub(super) fn new() -> Self {
        Self {
            counts: None,
            next_look_ns: 0,
            decision: SpinDecision::default(),
        }
    }

    /// Reads the counters if due. It takes some 20 us.
    pub(super) fn sample(&mut self, now_ns: u64) {
        if now_ns < self.next_look_ns {
            return;
        }
        self.next_look_ns = now_ns + LOOK_NS;
        if self.counts.is_none() {
            self.counts = open();
        }
        if let Some(waited_ns) = self.counts.as_ref().and_then(Counts::waited_ns) {
            self.decision.note(now_ns, waited_ns);
        }
    }

    /// Whether a thread that spins now would take time from others.
    pub(super) fn gives_way(&self) -> bool {
        self.decision.gives_way_since_ns.is_some()
    }

    /// For how long that lasted.
    pub(super) fn gave_way_ns(&self) -> u64 {
        self.decision.gave_way_ns
    }

    #[cfg(test)]
    pub(super) fn always() -> Self {
        Self {
            next_look_ns: u64::MAX,
            decision: SpinDecision {
                gives_way_since_ns: Some(0),
                ..SpinDecision::default()
            },
            ..Self::new()
        }
    }
}

fn open() -> Option<Counts> {
    let pressure = File::open("/proc/pressure/cpu").map(Counts::Pressure);
    let pressure = pressure.ok().filter(|counts| counts.waited_ns().is_some());
    let own = || File::open("/proc/thread-self/schedstat").map(Counts::OwnWaits);
    pressure.or_else(|| own().ok())
}

impl Counts {
    fn waited_ns(&self) -> Option<u64> {
        let mut bytes = [0; 512];
        let (Counts::Pressure(file) | Counts::OwnWaits(file)) = self;
        let length = rustix::io::pread(file, &mut bytes, 0).ok()?;
        let text = std::str::from_utf8(&bytes[..length]).ok()?;
        match self {
            Counts::Pressure(_) => pressure_ns(text),
            Counts::OwnWaits(_) => own_waits_ns(text),
        }
    }
}

/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=123`, in microseconds.
fn pressure_ns(text: &str) -> Option<u64> {
    let some = text.lines().find(|line| line.starts_with("some "))?;
    let total = some.split("total=").nth(1)?.trim();
    Some(total.parse::<u64>().ok()?.saturating_mul(1_000))
}

/// Time on a processor, time waiting for one, and number of turns.
fn own_waits_ns(text: &str) -> Option<u64> {
    text.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS_NS: u64 = 1_000_000;

    #[test]
    fn it_gives_way_to_waits_and_goes_on_a_second_later_at_the_earliest() {
        let mut decision = SpinDecision::default();
        let mut waited_ns = 0;
        let mut step = |decision: &mut SpinDecision, at_ms: u64, waited_ms: u64| {
            waited_ns += waited_ms * MS_NS;
            decision.note(at_ms * MS_NS, waited_ns);
            decision.gives_way_since_ns.is_some()
        };
        assert!(!step(&mut decision, 0, 700), "what was before says nothing");
        assert!(!step(&mut decision, 100, 9));
        assert!(step(&mut decision, 200, 30));
        for at_ms in (300..=1_100).step_by(100) {
            assert!(step(&mut decision, at_ms, 0), "{at_ms}");
        }
        assert!(!step(&mut decision, 1_200, 0), "nobody waited for a second");
        assert_eq!(decision.gave_way_ns, 1_000 * MS_NS);
        assert!(step(&mut decision, 1_300, 50));
        assert!(step(&mut decision, 2_400, 100), "somebody still waits");
    }

    #[test]
    fn the_kernels_text_is_parsed() {
        let text = "some avg10=1.53 avg60=0.20 avg300=0.00 total=1234\nfull avg10=0.00 total=9\n";
        assert_eq!(pressure_ns(text), Some(1_234_000));
        assert_eq!(pressure_ns("nothing"), None);
        assert_eq!(own_waits_ns("12345 678 9\n"), Some(678));
    }
}
