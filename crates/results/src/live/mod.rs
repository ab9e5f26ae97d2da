//! A repeat while it goes on: the slices on their way to disk, kept as the run folder will give them back.
//!
//! What is read here is what a report of the same seconds would show, so that one code draws both. The exact figures
//! are the run folder's: late answers to a second that was folded long ago are added to its percentiles by their
//! worse part only.

mod flow;
mod totals;

use std::collections::BTreeMap;

use crate::folder::{RepeatRead, TimesRead};
use crate::run::{Evidence, EvidenceKind, RepeatKey};
use crate::slice::{Counts, Kind, Slice};
use crate::stage::SECOND_NS;
use flow::LiveFlow;

pub use totals::{BOUNDS_NS, FlowTotals, TimesTotals};

/// Evidence that is kept at most, in lines: beyond it every second look is forgotten. Counters are cumulative, so
/// that costs resolution, not truth.
const EVIDENCE_MAX: usize = 20_000;

/// One repeat that goes on.
#[derive(Debug)]
pub struct LiveRepeat {
    /// Which.
    pub key: RepeatKey,
    flows: BTreeMap<u16, LiveFlow>,
    evidence: Vec<Evidence>,
    /// Looks are kept that fall on multiples of so many seconds.
    evidence_every: u64,
}

/// What one flow did in one second.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSecond {
    /// What was counted.
    pub counts: Counts,
    /// The time that is shown first of such a flow.
    pub times: Option<(Kind, TimesRead)>,
    /// The same of the last second of which nearly all records are answered, this one or one of the few before it: where
    /// answers take seconds, those of this second are still to come.
    pub answered: Option<(Kind, TimesRead)>,
    /// How late records were sent.
    pub lag: Option<TimesRead>,
    /// Waits for room in the producers' buffers.
    pub buffer_wait: Option<TimesRead>,
}

impl LiveRepeat {
    /// A repeat that begins.
    pub fn new(key: RepeatKey) -> LiveRepeat {
        LiveRepeat {
            key,
            flows: BTreeMap::new(),
            evidence: Vec::new(),
            evidence_every: 1,
        }
    }

    /// Takes a partial slice in.
    pub fn add(&mut self, slice: &Slice) {
        self.flows.entry(slice.key.flow).or_default().add(slice);
    }

    /// Takes evidence in.
    pub fn see(&mut self, seen: &Evidence) {
        if self.is_kept(seen) {
            self.evidence.push(seen.clone());
        }
        if self.evidence.len() > EVIDENCE_MAX {
            self.evidence_every *= 2;
            let mut all = std::mem::take(&mut self.evidence);
            all.retain(|seen| self.is_kept(seen));
            self.evidence = all;
        }
    }

    fn is_kept(&self, seen: &Evidence) -> bool {
        let second = seen.at_ns.map(|at_ns| at_ns / SECOND_NS);
        let is_once = matches!(
            seen.kind,
            EvidenceKind::DataDir(_) | EvidenceKind::NetworkSpeed(_) | EvidenceKind::NotSeen(_)
        );
        is_once || second.is_none_or(|second| second.is_multiple_of(self.evidence_every))
    }

    /// The evidence so far.
    pub fn evidence(&self) -> &[Evidence] {
        &self.evidence
    }

    /// The second whose slices every recorder has shipped by then: they ship about once a second. `None` in the first
    /// two seconds.
    pub fn whole_second(elapsed_ns: u64) -> Option<u32> {
        let second = (elapsed_ns / SECOND_NS).checked_sub(2)?;
        u32::try_from(second).ok()
    }

    /// The repeat as its folder would be read back, up to and with a second.
    pub fn read(&self, last_second: u32) -> RepeatRead {
        let flows = self.flows.iter();
        RepeatRead {
            key: self.key,
            record: None,
            flows: flows
                .map(|(index, flow)| (*index, flow.read(last_second)))
                .collect(),
        }
    }

    /// What a flow did in a second of late; `None` when nothing was heard of it.
    pub fn second(&self, flow: u16, second: u32) -> Option<FlowSecond> {
        self.flows.get(&flow)?.second(second)
    }

    /// What each flow did so far.
    pub fn totals(&self) -> BTreeMap<u16, FlowTotals> {
        let flows = self.flows.iter();
        flows.map(|(index, flow)| (*index, flow.totals())).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::folder::RunRead;
    use crate::recorder::Recorder;
    use crate::run::Subject;
    use crate::stage::{Stage, StageBorders};
    use crate::{RunFolder, run::RunHead};
    use std::sync::{Arc, Mutex};

    const KEY: RepeatKey = RepeatKey {
        trial: 0,
        repeat: 0,
    };

    /// Twenty seconds of a thousand records, each answered after 2 ms, those of the fourth second after nine seconds.
    fn record(recorder: &mut Recorder) {
        let mut late = Vec::new();
        for n in 0..20_000_u64 {
            let at_ns = n * 1_000_000;
            recorder.scheduled(at_ns, 1);
            recorder.sent(at_ns, 1);
            let answer_ns = at_ns + 2_000_000;
            match n / 1_000 == 4 {
                true => late.push(at_ns),
                false => recorder.acked(at_ns, at_ns, answer_ns, 1, 100),
            }
            if n == 13_500 {
                for at_ns in late.drain(..) {
                    recorder.acked(at_ns, at_ns, at_ns + 9_000_000_000, 1, 100);
                }
            }
            if n % 1_000 == 999 {
                recorder.tick();
            }
        }
    }

    #[test]
    fn what_is_seen_live_is_what_the_folder_says_afterwards() {
        let dir = tempfile::tempdir().unwrap();
        let head = RunHead::starting("r".to_owned(), Vec::new(), 0);
        let folder = RunFolder::create(&dir.path().join("run"), head).unwrap();
        let live = Arc::new(Mutex::new(LiveRepeat::new(KEY)));
        let told = Arc::clone(&live);
        let tap = Arc::new(move |slice: &Slice| told.lock().unwrap().add(slice));
        let repeat = folder.begin_repeat_tapped(KEY, Some(tap)).unwrap();
        let mut recorder = Recorder::new(
            0,
            StageBorders::closed(5_000_000_000, 15_000_000_000),
            repeat.sink(),
        );
        record(&mut recorder);
        recorder.finish();
        drop(repeat);
        let read = RunRead::repeat(folder.dir(), KEY).unwrap();
        let seen = live.lock().unwrap().read(u32::MAX);
        let (read, seen) = (&read.flows[&0], &seen.flows[&0]);
        assert_eq!(seen.seconds, read.seconds);
        assert_eq!(seen.stages.len(), 3);
        for (stage, slice) in &read.stages {
            assert_eq!(seen.stages[stage].counts, slice.counts);
            assert_eq!(
                seen.stages[stage].times(Kind::Response),
                slice.times(Kind::Response)
            );
        }
        let totals = &live.lock().unwrap().totals()[&0];
        assert_eq!(totals.counts.records_acked, 20_000);
        let response = &totals.times[&Kind::Response];
        assert_eq!(response.count, 20_000);
        assert_eq!(response.at_or_below(2_000_000), 19_000);
        assert_eq!(response.at_or_below(10_000_000_000), 20_000);
        assert_eq!(response.sum_ns, 19_000 * 2_000_000 + 1_000 * 9_000_000_000);
    }

    #[test]
    fn only_whole_seconds_are_read_and_the_last_one_is_told() {
        let live = Arc::new(Mutex::new(LiveRepeat::new(KEY)));
        let (sink, slices) = crate::SliceSink::memory();
        let mut recorder = Recorder::new(3, StageBorders::open(0), sink);
        record(&mut recorder);
        recorder.finish();
        let mut live = live.lock().unwrap();
        slices.take().iter().for_each(|slice| live.add(slice));
        assert_eq!(LiveRepeat::whole_second(1_999_999_999), None);
        assert_eq!(LiveRepeat::whole_second(20_000_000_000), Some(18));
        let seen = live.read(18);
        assert_eq!(seen.flows[&3].seconds.last().unwrap().second, 18);
        let second = live.second(3, 18).unwrap();
        assert_eq!(second.counts.records_scheduled, 1_000);
        let (kind, times) = second.times.unwrap();
        assert_eq!((kind, times.count), (Kind::Response, 1_000));
        assert_eq!(times.max_ns, 2_000_000);
        assert_eq!(second.answered, second.times);
        assert_eq!(second.lag.unwrap().max_ns, 0);
        assert!(live.second(0, 18).is_none());
        assert!(seen.flows[&3].stages.contains_key(&Stage::Hold));
    }

    #[test]
    fn a_second_without_answers_yet_tells_of_the_one_before_it() {
        let (sink, slices) = crate::SliceSink::memory();
        let mut recorder = Recorder::new(0, StageBorders::open(0), sink);
        for second in 0..4_u64 {
            let at_ns = second * SECOND_NS;
            recorder.scheduled(at_ns, 100);
            recorder.sent(at_ns, 100);
            // The third second is answered in part, the fourth not at all.
            let answered = [100, 100, 40, 0][second as usize];
            for _ in 0..answered {
                recorder.acked(at_ns, at_ns, at_ns + (second + 1) * 1_000_000, 1, 1);
            }
            recorder.tick();
        }
        recorder.finish();
        let mut live = LiveRepeat::new(KEY);
        slices.take().iter().for_each(|slice| live.add(slice));
        let last = live.second(0, 3).unwrap();
        assert_eq!(last.times, None);
        let (kind, times) = last.answered.unwrap();
        assert_eq!(
            (kind, times.count, times.max_ns),
            (Kind::Response, 100, 2_000_000)
        );
        assert_eq!(live.second(0, 2).unwrap().times.unwrap().1.count, 40);
    }

    #[test]
    fn evidence_is_thinned_by_whole_looks() {
        let mut live = LiveRepeat::new(KEY);
        let seen = |second: u64, user_ns| Evidence {
            at_unix_ms: 0,
            repeat: Some(KEY),
            at_ns: Some(second * SECOND_NS + 5),
            subject: Subject::Host,
            kind: EvidenceKind::Cpu {
                user_ns,
                system_ns: 0,
            },
        };
        for second in 0..15_000 {
            live.see(&seen(second, 1));
            live.see(&seen(second, 2));
        }
        assert!(live.evidence().len() <= EVIDENCE_MAX);
        let at = |seen: &Evidence| seen.at_ns.unwrap();
        assert!(live.evidence().len() >= 10_000);
        let pairs = live.evidence().chunks(2);
        assert!(pairs.clone().all(|pair| at(&pair[0]) == at(&pair[1])));
        let last = live.evidence().last().unwrap();
        assert_eq!(at(last) / SECOND_NS, 14_998);
    }
}
