//! Tests of what is seen of a repeat that goes on.

use super::*;
use kgauge_results::folder::RunRead;
use kgauge_results::recorder::Recorder;
use kgauge_results::run::{EvidenceKind, Subject};
use kgauge_results::stage::{Stage, StageBorders};
use kgauge_results::{RunFolder, run::RunHead};
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
    let tapped = Arc::clone(&live);
    let tap = Arc::new(move |slice: &Slice| tapped.lock().unwrap().add(slice));
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
    let seen = live.lock().unwrap().snapshot().read(u32::MAX);
    let (read, seen) = (&read.flows[&0], &seen.flows[&0]);
    assert_eq!(seen.seconds, read.seconds);
    assert_eq!(seen.stages.len(), 3);
    for (stage, slice) in &read.stages {
        assert_eq!(seen.stages[stage].counts, slice.counts);
        assert_eq!(
            seen.stages[stage].times(TimeKind::Response),
            slice.times(TimeKind::Response)
        );
    }
    let totals = &live.lock().unwrap().totals()[&0];
    assert_eq!(totals.counts.records_acked, 20_000);
    let response = &totals.times[&TimeKind::Response];
    assert_eq!(response.count, 20_000);
    assert_eq!(response.at_or_below(2_000_000), 19_000);
    assert_eq!(response.at_or_below(10_000_000_000), 20_000);
    assert_eq!(response.sum_ns, 19_000 * 2_000_000 + 1_000 * 9_000_000_000);
}

#[test]
fn only_whole_seconds_are_read_and_the_last_one_is_told() {
    let live = Arc::new(Mutex::new(LiveRepeat::new(KEY)));
    let (sink, slices) = kgauge_results::SliceSink::memory();
    let mut recorder = Recorder::new(3, StageBorders::open(0), sink);
    record(&mut recorder);
    recorder.finish();
    let mut live = live.lock().unwrap();
    slices.take().iter().for_each(|slice| live.add(slice));
    let seen = live.snapshot().read(18);
    assert_eq!(seen.flows[&3].seconds.last().unwrap().second, 18);
    let second = live.second(3, 18).unwrap();
    assert_eq!(second.counts.records_scheduled, 1_000);
    let (kind, times) = second.times.unwrap();
    assert_eq!((kind, times.count), (TimeKind::Response, 1_000));
    assert_eq!(times.max_ns, 2_000_000);
    assert_eq!(second.answered, second.times);
    assert!(live.second(0, 18).is_none());
    assert!(seen.flows[&3].stages.contains_key(&Stage::Hold));
}

#[test]
fn a_second_without_answers_yet_tells_of_the_one_before_it() {
    let (sink, slices) = kgauge_results::SliceSink::memory();
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
        (TimeKind::Response, 100, 2_000_000)
    );
    assert_eq!(live.second(0, 2).unwrap().times.unwrap().1.count, 40);
}

#[test]
fn a_second_is_whole_when_every_thread_has_shipped_it_and_it_has_been_over_for_a_second() {
    let at = |tenths: u64| tenths * SECOND_NS / 10;
    // The slowest thread shipped last at 1.9 s: of the second from 1 to 2 s it may know more.
    assert_eq!(LiveRepeat::whole_second(at(19), at(35)), Some(0));
    assert_eq!(LiveRepeat::whole_second(at(20), at(35)), Some(1));
    // All have shipped, and the slices may still be on their way.
    assert_eq!(LiveRepeat::whole_second(at(20), at(29)), Some(0));
    assert_eq!(LiveRepeat::whole_second(at(9), at(90)), None);
    assert_eq!(LiveRepeat::whole_second(u64::MAX, at(19)), None);
    assert_eq!(LiveRepeat::whole_second(u64::MAX, at(200)), Some(18));
}

#[test]
fn times_of_a_second_that_is_answered_in_part_are_not_told_yet() {
    let (sink, slices) = kgauge_results::SliceSink::memory();
    let mut recorder = Recorder::new(0, StageBorders::open(0), sink);
    let mut live = LiveRepeat::new(KEY);
    let mut tell = |recorder: &mut Recorder| {
        recorder.tick();
        slices.take().iter().for_each(|slice| live.add(slice));
        live.snapshot().read(u32::MAX).flows[&0].seconds[0].clone()
    };
    recorder.scheduled(0, 1_000);
    recorder.sent(0, 1_000);
    recorder.acked(0, 0, 2_000_000, 980, 1);
    let read = tell(&mut recorder);
    // Those who still wait will be the slowest: 2 ms is not their 99th percentile.
    assert!(read.times.is_empty(), "{read:?}");
    assert_eq!(read.counts.records_acked, 980);
    let shown: u64 = read.bands[&TimeKind::Response]
        .iter()
        .map(|band| band.1)
        .sum();
    assert_eq!(shown, 980);
    // Whose fate is known is not waited for: 985 of 990 are answered.
    recorder.acked(0, 0, 900_000_000, 5, 1);
    recorder.failed(0, 950_000_000, 10, 7);
    let read = tell(&mut recorder);
    assert_eq!(read.times[&TimeKind::Response].count, 985);
    assert_eq!(read.times[&TimeKind::Response].max_ns, 900_000_000);
}

#[test]
fn eight_hours_are_kept_in_little_and_no_record_of_them_is_lost() {
    const SECONDS: u32 = 8 * 3_600;
    let mut live = LiveRepeat::new(KEY);
    for second in 0..SECONDS {
        let stage = match second {
            0..60 => Stage::WarmUp,
            _ => Stage::Hold,
        };
        let mut slice = Slice::new(kgauge_results::slice::SliceKey {
            flow: 0,
            stage,
            second,
        });
        slice.counts.records_scheduled = 10;
        slice.counts.records_acked = 10;
        // One second in the middle is slow.
        let ns = if second == 14_000 {
            70_000_000
        } else {
            2_000_000
        };
        slice.times_mut(TimeKind::Response).record(ns, 10, 0);
        live.add(&slice);
        assert!(live.flows[&0].kept() <= 1_600, "at {second}");
    }
    let read = live.snapshot().read(u32::MAX).flows.remove(&0).unwrap();
    // Spans follow each other without a gap, and hold every record.
    let mut next = 0;
    for span in &read.seconds {
        assert_eq!(span.second, next);
        assert_eq!(span.counts.records_acked, 10 * u64::from(span.seconds));
        next = span.second + span.seconds;
    }
    assert_eq!(next, SECONDS);
    // 28,800 s are 480 spans of a minute; the last five minutes are as they were.
    assert!(
        (480..1_600).contains(&read.seconds.len()),
        "{}",
        read.seconds.len()
    );
    assert_eq!(read.seconds.last().unwrap().seconds, 1);
    assert_eq!(read.seconds[0].stage, Stage::WarmUp);
    let slow = read
        .seconds
        .iter()
        .find(|span| span.second + span.seconds > 14_000);
    assert!(slow.unwrap().times[&TimeKind::Response].p99_ns >= 70_000_000);
    assert_eq!(
        read.stages[&Stage::Hold].counts.records_acked,
        10 * u64::from(SECONDS - 60)
    );
    assert_eq!(
        live.totals()[&0].counts.records_acked,
        10 * u64::from(SECONDS)
    );
}

#[test]
fn an_answer_that_comes_hours_later_is_counted_in_its_span() {
    let slice = |second: u32, acked: u64| {
        let mut slice = Slice::new(kgauge_results::slice::SliceKey {
            flow: 0,
            stage: Stage::Hold,
            second,
        });
        slice.counts.records_acked = acked;
        slice
    };
    let mut live = LiveRepeat::new(KEY);
    (0..5_000).for_each(|second| live.add(&slice(second, 1)));
    live.add(&slice(1_003, 7));
    let acked = |live: &LiveRepeat| {
        let read = live.snapshot().read(u32::MAX).flows.remove(&0).unwrap();
        let mut spans = read.seconds.iter();
        let span = spans
            .find(|span| span.second + span.seconds > 1_003)
            .unwrap();
        (span.second, span.seconds, span.counts.records_acked)
    };
    // Spans are of ten seconds at that time.
    assert_eq!(acked(&live), (1_000, 10, 17));
    (5_000..5_010).for_each(|second| live.add(&slice(second, 1)));
    assert_eq!(acked(&live), (1_000, 10, 17));
}

#[test]
fn a_snapshot_stays_as_it_was_while_the_repeat_goes_on() {
    let (sink, slices) = kgauge_results::SliceSink::memory();
    let mut recorder = Recorder::new(0, StageBorders::open(0), sink);
    let mut live = LiveRepeat::new(KEY);
    recorder.acked(0, 0, 1_000, 3, 1);
    recorder.tick();
    slices.take().iter().for_each(|slice| live.add(slice));
    let before = live.snapshot();
    recorder.acked(0, 0, 1_000, 4, 1);
    recorder.tick();
    slices.take().iter().for_each(|slice| live.add(slice));
    let acked = |read: RepeatRead| read.flows[&0].stages[&Stage::Hold].counts.records_acked;
    assert_eq!(acked(before.read(u32::MAX)), 3);
    assert_eq!(acked(live.snapshot().read(u32::MAX)), 7);
}

fn seen(at_ns: u64, subject: Subject, user_ns: u64) -> Evidence {
    Evidence {
        at_unix_ms: 0,
        repeat: Some(KEY),
        at_ns: Some(at_ns),
        subject,
        kind: EvidenceKind::Cpu {
            user_ns,
            system_ns: 0,
        },
    }
}

#[test]
fn evidence_is_thinned_by_whole_looks() {
    let mut live = LiveRepeat::new(KEY);
    let cluster = Subject::Cluster { broker: Some(1) };
    for second in 0..28_800 {
        let at_ns = second * SECOND_NS + 5;
        live.see(&seen(at_ns, Subject::Host, 1));
        live.see(&seen(at_ns, Subject::Generator, 2));
        // Who looks every other second only, at the odd ones, is thinned alike.
        if second % 2 == 1 {
            live.see(&seen(at_ns + 7, cluster.clone(), 3));
        }
    }
    let kept = live.snapshot().evidence();
    assert!((8_000..=20_000).contains(&kept.len()), "{}", kept.len());
    let of = |subject: &Subject| {
        let of = kept.iter().filter(|seen| seen.subject == *subject);
        of.map(|seen| seen.at_ns.unwrap()).collect::<Vec<_>>()
    };
    let (host, wire) = (of(&Subject::Host), of(&cluster));
    assert_eq!(host, of(&Subject::Generator));
    assert!(host.len() >= 3_000 && wire.len() >= 3_000, "{}", wire.len());
    assert!(host.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(*host.last().unwrap() / SECOND_NS >= 28_790);
}

#[test]
fn what_is_of_another_repeat_is_not_taken_and_marks_are_bounded() {
    let mut live = LiveRepeat::new(RepeatKey {
        trial: 0,
        repeat: 1,
    });
    live.see(&seen(5, Subject::Host, 1));
    assert!(live.snapshot().evidence().is_empty());
    let fault = |repeat| Event {
        at_unix_ms: 0,
        repeat: Some(RepeatKey { trial: 0, repeat }),
        at_ns: Some(7),
        kind: EventKind::Fault {
            text: "node 1: stall".to_owned(),
            active: true,
            entry: Some(0),
            nodes: vec![1],
            bytes_lost: None,
            requests: None,
            records: None,
            stalls: Vec::new(),
        },
    };
    live.happened(&fault(0));
    assert!(live.snapshot().events().is_empty());
    (0..1_000).for_each(|_| live.happened(&fault(1)));
    assert_eq!(live.snapshot().events().len(), EVENTS_MAX);
}
