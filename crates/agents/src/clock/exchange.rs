//! One exchange of clock readings.

use super::interval::OffsetInterval;

/// The four readings of an exchange, each in nanoseconds on the clock of the side that read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockExchange {
    /// The lead sent the question.
    pub sent_ns: u64,
    /// The agent received it.
    pub received_ns: u64,
    /// The agent sent the answer.
    pub answered_ns: u64,
    /// The lead received the answer.
    pub returned_ns: u64,
}

impl ClockExchange {
    /// The time that the two messages took together; `None` if the readings contradict each other.
    pub fn round_trip_ns(&self) -> Option<u64> {
        let outside_ns = self.returned_ns.checked_sub(self.sent_ns)?;
        let inside_ns = self.answered_ns.checked_sub(self.received_ns)?;
        outside_ns.checked_sub(inside_ns)
    }

    /// The offsets that are possible, whatever the delays of the two messages were.
    pub fn offset(&self) -> Option<OffsetInterval> {
        self.round_trip_ns()?;
        Some(OffsetInterval {
            low_ns: difference(self.answered_ns, self.returned_ns)?,
            high_ns: difference(self.received_ns, self.sent_ns)?,
        })
    }
}

/// `a - b`, unless it exceeds 64 bits.
fn difference(a: u64, b: u64) -> Option<i64> {
    i64::try_from(i128::from(a) - i128::from(b)).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn an_exchange_with_equal_delays_has_the_true_offset_in_its_middle() {
        // The agent is 1,000 ahead, each way takes 30, the agent needs 5.
        let exchange = ClockExchange {
            sent_ns: 100,
            received_ns: 1_130,
            answered_ns: 1_135,
            returned_ns: 165,
        };
        assert_eq!(exchange.round_trip_ns(), Some(60));
        let offset = exchange.offset().unwrap();
        assert_eq!((offset.low_ns, offset.high_ns), (970, 1_030));
        assert_eq!((offset.middle_ns(), offset.bound_ns()), (1_000, 30));
    }

    #[test]
    fn an_exchange_with_unequal_delays_still_contains_the_true_offset() {
        // The agent is 500 behind; 2 there, 90 back.
        let exchange = ClockExchange {
            sent_ns: 1_000,
            received_ns: 502,
            answered_ns: 502,
            returned_ns: 1_092,
        };
        let offset = exchange.offset().unwrap();
        assert!(offset.low_ns <= -500 && -500 <= offset.high_ns);
        assert_eq!(offset.bound_ns(), 46);
    }

    #[test]
    fn readings_that_contradict_each_other_give_nothing() {
        let backwards = ClockExchange {
            sent_ns: 10,
            received_ns: 5,
            answered_ns: 4,
            returned_ns: 20,
        };
        assert_eq!(backwards.offset(), None);
        let slower_inside = ClockExchange {
            sent_ns: 10,
            received_ns: 0,
            answered_ns: 50,
            returned_ns: 20,
        };
        assert_eq!(slower_inside.offset(), None);
        let extreme = ClockExchange {
            sent_ns: 0,
            received_ns: u64::MAX,
            answered_ns: u64::MAX,
            returned_ns: 0,
        };
        assert_eq!(extreme.offset(), None);
    }
}
