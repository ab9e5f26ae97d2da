//! A thread that takes a sample once per second, on the run's clock, and writes it as evidence.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Instant;

use kgauge_results::run::Evidence;

use crate::broker::{BrokerSource, BrokerThread, END_MAX};
use crate::cpu_clock::thread_cpu_ns;
use crate::sampler_state::SamplerState;
use crate::sampling_plan::{SamplerReport, SamplingPlan};
use crate::sync::{lock, wait_until};

/// The running thread. Dropping it stops it.
#[derive(Debug)]
pub struct Sampler {
    thread: Option<JoinHandle<SamplerReport>>,
    /// Dropped to stop the thread.
    stop: Option<Sender<()>>,
}

impl Sampler {
    /// Starts sampling: at once, then at every multiple of `plan.every`, and a last time when it is stopped. `now_ns`
    /// is the run's clock; `sink` takes the evidence, and its error is added to the report. Each of the `brokers` is
    /// polled on its own thread, so that a slow one delays nothing else.
    pub fn start(
        plan: SamplingPlan,
        brokers: Vec<Box<dyn BrokerSource>>,
        now_ns: impl Fn() -> u64 + Clone + Send + 'static,
        sink: impl FnMut(&Evidence) -> Result<(), String> + Send + 'static,
    ) -> std::io::Result<Sampler> {
        let (stop, stopped) = channel::<()>();
        let sink = Arc::new(Mutex::new(sink));
        let pollers = start_pollers(&plan, brokers, &now_ns, &sink)?;
        let mut sink = move |seen: &Evidence| lock(&sink)(seen);
        let thread = std::thread::Builder::new()
            .name("observe".to_owned())
            .spawn(move || {
                let first_ns = now_ns();
                let mut state = SamplerState::new(&plan, first_ns);
                let every_ns = u64::try_from(plan.every.as_nanos())
                    .unwrap_or(u64::MAX)
                    .max(1);
                loop {
                    let at_ns = now_ns();
                    state.sample(at_ns, &mut sink);
                    let due_ns = (at_ns / every_ns + 1).saturating_mul(every_ns);
                    if !wait_until(due_ns, &now_ns, &stopped) {
                        break;
                    }
                }
                let at_ns = now_ns();
                state.sample(at_ns, &mut sink);
                state.report.span_ns = at_ns.saturating_sub(first_ns);
                let polling_ns = pollers.end(&now_ns);
                state.end(at_ns, thread_cpu_ns() + polling_ns, &mut sink);
                state.report
            })?;
        Ok(Sampler {
            thread: Some(thread),
            stop: Some(stop),
        })
    }

    /// Takes the last sample and ends within a fifth of a second, however long brokers take.
    pub fn stop(mut self) -> SamplerReport {
        self.end()
    }

    fn end(&mut self) -> SamplerReport {
        drop(self.stop.take());
        let ended = self.thread.take().map(JoinHandle::join);
        ended.and_then(Result::ok).unwrap_or_default()
    }
}

/// The threads that poll brokers.
struct PollerThreads(Vec<BrokerThread>);

impl PollerThreads {
    /// Ends all of them; returns their CPU time.
    fn end(self, now_ns: &impl Fn() -> u64) -> u64 {
        // All threads are stopped before the first is joined, so that they share one deadline.
        let deadline = Instant::now() + END_MAX;
        let ending: Vec<_> = self.0.into_iter().map(BrokerThread::request_end).collect();
        ending
            .into_iter()
            .map(|thread| thread.wait(deadline, now_ns))
            .sum()
    }
}

fn start_pollers<S>(
    plan: &SamplingPlan,
    brokers: Vec<Box<dyn BrokerSource>>,
    now_ns: &(impl Fn() -> u64 + Clone + Send + 'static),
    sink: &Arc<Mutex<S>>,
) -> std::io::Result<PollerThreads>
where
    S: FnMut(&Evidence) -> Result<(), String> + Send + 'static,
{
    let repeat = plan.repeat;
    let threads = brokers.into_iter().map(|source| {
        let sink = Arc::clone(sink);
        BrokerThread::start(source, plan.every, now_ns.clone(), move |seen| {
            // The sampler, which writes more to the same place, reports the errors.
            let _ = lock(&sink)(&seen.evidence(repeat));
        })
    });
    Ok(PollerThreads(threads.collect::<std::io::Result<_>>()?))
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.end();
    }
}
