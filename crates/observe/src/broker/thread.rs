//! A thread that asks one source once a second, on the run's clock.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use kgauge_results::run::{EvidenceKind, Subject};

use super::{BrokerSource, LOOK_MAX, lost, metrics_not_seen};
use crate::cpu_clock::thread_cpu_ns;
use crate::looker::{Moment, Seen, unix_ms};

/// A slow one is asked about every eight seconds at last: one that stood still is heard of again soon.
const REST_DOUBLINGS_MAX: u32 = 3;

/// The running thread.
#[derive(Debug)]
pub(crate) struct BrokerThread {
    thread: JoinHandle<u64>,
    stop: Sender<()>,
}

/// What asking was like.
#[derive(Debug, Default)]
struct Tally {
    looks: u64,
    lost: u64,
    /// Of the last look, if it was lost.
    is_lost: bool,
    /// How many looks in a row took too long.
    slow: u32,
    /// The first complaint, which says more than those that follow from it.
    why: Option<String>,
}

impl Tally {
    /// How many times `every` until the next look. Somebody who needs longer than a look to answer works for us all that time, in a
    /// broker that is being measured: he is asked the more rarely the longer it goes on.
    fn rest(&self) -> u64 {
        1 << self.slow.saturating_sub(1).min(REST_DOUBLINGS_MAX)
    }
}

impl BrokerThread {
    /// Starts asking: at once, then at every multiple of `every`, and a last time when it is ended.
    pub(crate) fn start(
        mut source: Box<dyn BrokerSource>,
        every: Duration,
        now_ns: impl Fn() -> u64 + Send + 'static,
        mut sink: impl FnMut(Seen) + Send + 'static,
    ) -> std::io::Result<BrokerThread> {
        let (stop, stopped) = channel::<()>();
        let every_ns = u64::try_from(every.as_nanos()).unwrap_or(u64::MAX).max(1);
        let thread = std::thread::Builder::new()
            .name("metrics".to_owned())
            .spawn(move || {
                let mut tally = Tally::default();
                loop {
                    ask(&mut *source, &now_ns, &mut sink, &mut tally);
                    let rest = tally.rest();
                    let due_ns = (now_ns() / every_ns + rest).saturating_mul(every_ns);
                    if waits_until(due_ns, &now_ns, &stopped) {
                        continue;
                    }
                    // One that does not answer is not waited for once more.
                    if !tally.is_lost {
                        ask(&mut *source, &now_ns, &mut sink, &mut tally);
                    }
                    tell(&*source, &tally, &now_ns, &mut sink);
                    return thread_cpu_ns();
                }
            })?;
        Ok(BrokerThread { thread, stop })
    }

    /// Tells it to end, which may take as long as a look; it gives the CPU time that it took.
    pub(crate) fn tell_to_end(self) -> JoinHandle<u64> {
        drop(self.stop);
        self.thread
    }
}

/// True when the time has come, false when it is to end.
fn waits_until(due_ns: u64, now_ns: &impl Fn() -> u64, stopped: &Receiver<()>) -> bool {
    loop {
        let left = due_ns.saturating_sub(now_ns());
        if left == 0 {
            return true;
        }
        match stopped.recv_timeout(Duration::from_nanos(left)) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
}

fn ask(
    source: &mut dyn BrokerSource,
    now_ns: &impl Fn() -> u64,
    sink: &mut impl FnMut(Seen),
    tally: &mut Tally,
) {
    let asked_ns = now_ns();
    let answer = source.look();
    let took_ns = now_ns().saturating_sub(asked_ns);
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
            let at = Moment {
                at_ns: asked_ns + took_ns / 2,
                at_unix_ms: unix_ms(),
            };
            for (broker, look) in looks {
                let kind = EvidenceKind::Broker(Box::new(look));
                let subject = Subject::Target { broker };
                sink(Seen { at, subject, kind });
            }
        }
        Err(words) => {
            tally.lost += 1;
            tally.why.get_or_insert(words);
        }
    }
}

/// Says once what was lost.
fn tell(
    source: &dyn BrokerSource,
    tally: &Tally,
    now_ns: &impl Fn() -> u64,
    sink: &mut impl FnMut(Seen),
) {
    let at = Moment {
        at_ns: now_ns(),
        at_unix_ms: unix_ms(),
    };
    let mut say = |whose: &str, why: String| {
        sink(Seen {
            at,
            subject: Subject::Target { broker: None },
            kind: EvidenceKind::NotSeen(metrics_not_seen(whose, why)),
        });
    };
    if let Some(why) = &tally.why {
        say(&source.whose(), lost(tally.lost, tally.looks, why));
    }
    for one in source.missing() {
        say(&one.whose, lost(one.lost, one.looks, &one.why));
    }
}
