//! A thread that polls one source once per second, on the run's clock.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kgauge_results::run::{EvidenceKind, Subject};

use super::{BrokerSource, LOOK_MAX, MissedBroker, lost, metrics_not_seen};
use crate::cpu_clock::thread_cpu_ns;
use crate::observation::{Observation, SampleTime, unix_ms};
use crate::sync::{lock, wait_until};

/// Maximum interval for a slow source: a paused broker is noticed again soon after it resumes.
const REST_DOUBLINGS_MAX: u32 = 3;

/// The end of a repeat waits at most this long for outstanding samples; later ones do not belong to the repeat. Healthy
/// sources answer in a tenth of this time.
pub(crate) const END_MAX: Duration = Duration::from_millis(200);

/// The running thread.
pub(crate) struct BrokerThread {
    whose: String,
    shared: Arc<Mutex<ThreadShared>>,
    stop: Sender<()>,
    /// Closed after the last sample.
    ended: Receiver<()>,
}

/// A thread that was asked to end.
pub(crate) struct Ending {
    whose: String,
    shared: Arc<Mutex<ThreadShared>>,
    ended: Receiver<()>,
}

/// State shared by the thread and its owner.
struct ThreadShared {
    tally: Tally,
    /// `None` after the end: later samples are dropped.
    sink: Option<Box<dyn FnMut(Observation) + Send>>,
    /// When the current request was sent, if it is unanswered.
    asked_ns: Option<u64>,
    /// Brokers missing in the last sample.
    missing: Vec<MissedBroker>,
    cpu_ns: u64,
}

/// The cost and the problems of polling.
#[derive(Debug, Default)]
struct Tally {
    looks: u64,
    lost: u64,
    /// Why the last sample was dropped, if it was.
    is_lost: bool,
    /// Number of consecutive samples that took too long.
    slow: u32,
    /// The first problem, which says more than its consequences.
    why: Option<String>,
}

impl Tally {
    /// The interval until the next sample, in multiples of `every`. A source that is slower than the time limit works
    /// for kgauge all that time, in a broker that is being measured. It is therefore polled less and less often.
    fn rest(&self) -> u64 {
        1 << self.slow.saturating_sub(1).min(REST_DOUBLINGS_MAX)
    }
}

impl BrokerThread {
    /// Starts polling: at once, then at every multiple of `every`, and a last time at the end.
    pub(crate) fn start(
        mut source: Box<dyn BrokerSource>,
        every: Duration,
        now_ns: impl Fn() -> u64 + Send + 'static,
        sink: impl FnMut(Observation) + Send + 'static,
    ) -> std::io::Result<BrokerThread> {
        let (stop, stopped) = channel::<()>();
        let (ending, ended) = channel::<()>();
        let every_ns = u64::try_from(every.as_nanos()).unwrap_or(u64::MAX).max(1);
        let whose = source.label();
        let shared = Arc::new(Mutex::new(ThreadShared {
            tally: Tally::default(),
            sink: Some(Box::new(sink)),
            asked_ns: None,
            missing: Vec::new(),
            cpu_ns: 0,
        }));
        let thread_shared = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("metrics".to_owned())
            .spawn(move || {
                // Dropped at the end in any case.
                let _ending = ending;
                loop {
                    poll(&mut *source, &now_ns, &thread_shared);
                    let rest = lock(&thread_shared).tally.rest();
                    let due_ns = (now_ns() / every_ns + rest).saturating_mul(every_ns);
                    if wait_until(due_ns, &now_ns, &stopped) {
                        continue;
                    }
                    // A source that does not answer gets no last request.
                    if !lock(&thread_shared).tally.is_lost {
                        poll(&mut *source, &now_ns, &thread_shared);
                    }
                    return;
                }
            })?;
        Ok(BrokerThread {
            whose,
            shared,
            stop,
            ended,
        })
    }

    /// Asks it to end.
    pub(crate) fn request_end(self) -> Ending {
        drop(self.stop);
        Ending {
            whose: self.whose,
            shared: self.shared,
            ended: self.ended,
        }
    }
}

impl Ending {
    /// Waits for its end until `deadline`, and reports missing samples; returns its CPU time.
    pub(crate) fn wait(self, deadline: Instant, now_ns: &impl Fn() -> u64) -> u64 {
        let left = deadline.saturating_duration_since(Instant::now());
        let _ = self.ended.recv_timeout(left);
        let mut shared = lock(&self.shared);
        let Some(mut sink) = shared.sink.take() else {
            return shared.cpu_ns;
        };
        let at_ns = now_ns();
        if let Some(asked_ns) = shared.asked_ns {
            shared.tally.broken_off(at_ns.saturating_sub(asked_ns));
        }
        let at = SampleTime {
            at_ns,
            at_unix_ms: unix_ms(),
        };
        let mut say = |whose: &str, why: String| {
            sink(Observation {
                at,
                subject: Subject::Target { broker: None },
                kind: EvidenceKind::NotSeen(metrics_not_seen(whose, why)),
            });
        };
        if let Some(why) = shared.tally.words() {
            say(&self.whose, why);
        }
        for one in &shared.missing {
            say(&one.whose, lost(one.lost, one.looks, &one.why));
        }
        shared.cpu_ns
    }
}

fn poll(source: &mut dyn BrokerSource, now_ns: &impl Fn() -> u64, shared: &Mutex<ThreadShared>) {
    let asked_ns = now_ns();
    lock(shared).asked_ns = Some(asked_ns);
    let answer = source.sample();
    let missing = source.missing();
    let took_ns = now_ns().saturating_sub(asked_ns);
    let mut shared = lock(shared);
    let shared = &mut *shared;
    shared.asked_ns = None;
    shared.missing = missing;
    shared.cpu_ns = thread_cpu_ns();
    let Some(sink) = &mut shared.sink else { return };
    let tally = &mut shared.tally;
    tally.looks += 1;
    let is_slow = Duration::from_nanos(took_ns) >= LOOK_MAX.mul_f64(0.9);
    tally.slow = if is_slow { tally.slow + 1 } else { 0 };
    let answer = answer.and_then(|looks| match Duration::from_nanos(took_ns) {
        took if took > LOOK_MAX => Err(format!("it took {} ms", took.as_millis())),
        _ => Ok(looks),
    });
    tally.is_lost = answer.is_err();
    match answer {
        Ok(looks) => {
            let at = SampleTime {
                at_ns: asked_ns + took_ns / 2,
                at_unix_ms: unix_ms(),
            };
            for (broker, look) in looks {
                let kind = EvidenceKind::Broker(Box::new(look));
                let subject = Subject::Target { broker };
                sink(Observation { at, subject, kind });
            }
        }
        Err(words) => {
            tally.lost += 1;
            tally.why.get_or_insert(words);
        }
    }
}

impl Tally {
    /// The end came before the response. That is not a problem for a source that has answered before.
    fn broken_off(&mut self, waited_ns: u64) {
        if self.lost == self.looks {
            self.looks += 1;
            self.lost += 1;
            let waited_ms = Duration::from_nanos(waited_ns).as_millis();
            self.why.get_or_insert_with(|| {
                format!("no answer within {waited_ms} ms, and then the run ended")
            });
        }
    }

    /// The missing samples, if any.
    fn words(&self) -> Option<String> {
        let why = self.why.as_ref()?;
        Some(lost(self.lost, self.looks, why))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::broker::BrokerSamples;
    use kgauge_results::run::{BrokerSample, MissingEvidence};

    /// Reports its requests, and answers on command.
    struct Slow {
        asked: Sender<()>,
        answer: Receiver<()>,
    }

    impl BrokerSource for Slow {
        fn sample(&mut self) -> Result<BrokerSamples, String> {
            self.asked.send(()).unwrap();
            let _ = self.answer.recv();
            Ok(vec![(Some(1), BrokerSample::default())])
        }

        fn label(&self) -> String {
            "broker 1".to_owned()
        }
    }

    /// The thread on a frozen clock, so that it polls once and then at its end.
    fn slow() -> (
        BrokerThread,
        Receiver<()>,
        Sender<()>,
        Receiver<Observation>,
    ) {
        let ((asked, was_asked), (answer, answers)) = (channel(), channel());
        let source = Box::new(Slow {
            asked,
            answer: answers,
        });
        let (sender, seen) = channel();
        let sink = move |one| sender.send(one).unwrap();
        let every = Duration::from_secs(1);
        let thread = BrokerThread::start(source, every, || 7, sink).unwrap();
        (thread, was_asked, answer, seen)
    }

    fn not_seen(seen: &Receiver<Observation>) -> Option<MissingEvidence> {
        seen.try_iter().find_map(|one| match one.kind {
            EvidenceKind::NotSeen(what) => Some(what),
            _ => None,
        })
    }

    #[test]
    fn a_broker_that_does_not_answer_is_abandoned_at_the_end() {
        let (thread, was_asked, answer, seen) = slow();
        was_asked.recv().unwrap();
        // The source never answers, so nothing may wait for it.
        thread.request_end().wait(Instant::now(), &|| 90_000_007);
        let missing = not_seen(&seen).unwrap();
        assert_eq!(missing.what, "metrics of broker 1");
        assert_eq!(
            missing.why,
            "no answer within 90 ms, and then the run ended"
        );
        // A later answer has no effect: the sink is gone.
        answer.send(()).unwrap();
        assert!(seen.recv().is_err());
    }

    #[test]
    fn a_last_response_that_is_too_late_is_not_counted_as_lost() {
        let (thread, was_asked, answer, seen) = slow();
        was_asked.recv().unwrap();
        answer.send(()).unwrap();
        assert!(matches!(seen.recv().unwrap().kind, EvidenceKind::Broker(_)));
        let ending = thread.request_end();
        was_asked.recv().unwrap();
        ending.wait(Instant::now(), &|| 8);
        assert_eq!(not_seen(&seen), None);
        drop(answer);
    }

    #[test]
    fn a_last_answer_is_waited_for() {
        let (thread, was_asked, answer, seen) = slow();
        answer.send(()).unwrap();
        answer.send(()).unwrap();
        was_asked.recv().unwrap();
        let far = Instant::now() + Duration::from_secs(600);
        thread.request_end().wait(far, &|| 8);
        assert_eq!(seen.try_iter().count(), 2);
    }
}
