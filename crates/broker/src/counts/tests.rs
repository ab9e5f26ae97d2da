//! Counters on a stopwatch that stands where it was set.

use super::*;

#[derive(Debug, Default)]
struct Hand(AtomicU64);

impl Stopwatch for Hand {
    fn mono_ns(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

fn counters() -> (Arc<Hand>, Counters) {
    let hand = Arc::new(Hand::default());
    let counters = Counters::new(Arc::clone(&hand) as Arc<dyn Stopwatch>, 7);
    (hand, counters)
}

#[test]
fn the_parts_of_a_requests_time_make_up_its_whole() {
    let (_, counters) = counters();
    let mut course = Counters::taken(ApiKey::Produce, 10, 30).unwrap();
    course.go_on(RequestPhase::Remote, 45);
    course.go_on(RequestPhase::ResponseQueue, 61);
    course.go_on(RequestPhase::ResponseSend, 62);
    counters.answered(course, 71);
    let produce = counters.read().produce;
    assert_eq!(
        produce,
        RequestCounts {
            count: 1,
            request_queue_ns: 20,
            local_ns: 15,
            remote_ns: 16,
            throttle_ns: 0,
            response_queue_ns: 1,
            response_send_ns: 9,
        }
    );
    assert_eq!(produce.total_ns(), 71 - 10);
    assert_eq!(counters.read().fetch, RequestCounts::default());
}

#[test]
fn a_part_that_comes_twice_is_added_up() {
    let (_, counters) = counters();
    let mut course = Counters::taken(ApiKey::Fetch, 100, 100).unwrap();
    // A fault holds it back, then it is served.
    course.go_on(RequestPhase::RequestQueue, 101);
    course.go_on(RequestPhase::Local, 151);
    counters.answered(course, 154);
    let fetch = counters.read().fetch;
    assert_eq!((fetch.request_queue_ns, fetch.local_ns), (50, 4));
}

#[test]
fn who_has_waited_for_somebody_else_has_not_waited_for_the_thread() {
    let (_, counters) = counters();
    let course = Counters::taken(ApiKey::Produce, u64::MAX, 30).unwrap();
    counters.answered(course, 40);
    let produce = counters.read().produce;
    assert_eq!((produce.request_queue_ns, produce.local_ns), (0, 10));
}

#[test]
fn only_records_requests_are_counted() {
    assert_eq!(Counters::taken(ApiKey::Metadata, 1, 2), None);
    let (_, counters) = counters();
    counters.answered(Counters::follower_asked(5), 12);
    let follower = counters.read().follower_fetch;
    assert_eq!((follower.count, follower.remote_ns), (1, 7));
    assert_eq!(follower.total_ns(), 7);
}

#[test]
fn a_thread_that_waits_is_idle_before_its_wait_is_over() {
    let (hand, counters) = counters();
    let idle_at = |ns: u64| {
        hand.0.store(ns, Ordering::Relaxed);
        counters.read().idle_ns
    };
    assert_eq!(idle_at(50), 0);
    counters.waits(100);
    assert_eq!(idle_at(250), 150);
    counters.works(300);
    assert_eq!(idle_at(900), 200);
    // A round without a wait.
    counters.works(950);
    assert_eq!(idle_at(1_000), 200);
    counters.waits(1_000);
    assert_eq!(idle_at(1_000), 200);
    assert_eq!(idle_at(1_001), 201);
    counters.works(1_010);
    assert_eq!(idle_at(5_000), 210);
}

#[test]
fn an_isr_that_changes_is_counted_by_its_size() {
    let (_, counters) = counters();
    for (before, after) in [(3, 3), (3, 2), (2, 1), (1, 2)] {
        counters.isr_became(before, after);
    }
    let read = counters.read();
    assert_eq!((read.isr_shrinks, read.isr_expands), (2, 1));
    assert_eq!(read.started_unix_ms, 7);
}
