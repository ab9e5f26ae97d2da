//! Which kinds of clusters can have a fault, and what Apache Kafka brokers must be started with for it.

use crate::{CutEnd, Fault, RequestFault};

/// What the brokers of Apache Kafka need for a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultMeans {
    /// Signals to their processes.
    Signals,
    /// A library that is loaded before their C library. It records what is flushed.
    Preload,
    /// A proxy in front of each listener.
    Proxy,
    /// `libfaketime`.
    FakeClock,
}

/// What the brokers of Apache Kafka are started with, for the faults of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KafkaMeans {
    /// See [`FaultMeans::Preload`].
    pub preload: bool,
    /// See [`FaultMeans::Proxy`].
    pub proxy: bool,
    /// See [`FaultMeans::FakeClock`].
    pub fake_clock: bool,
}

impl KafkaMeans {
    /// Everything that these faults need.
    pub fn for_faults<'a>(faults: impl IntoIterator<Item = &'a Fault>) -> KafkaMeans {
        let mut all = KafkaMeans::default();
        for means in faults
            .into_iter()
            .filter_map(|fault| fault.kafka_means().ok())
        {
            match means {
                FaultMeans::Signals => {}
                FaultMeans::Preload => all.preload = true,
                FaultMeans::Proxy => all.proxy = true,
                FaultMeans::FakeClock => all.fake_clock = true,
            }
        }
        all
    }

    /// Whether it changes how brokers run.
    pub fn is_any(self) -> bool {
        self != KafkaMeans::default()
    }
}

impl Fault {
    /// What Apache Kafka brokers that kgauge starts need for it.
    ///
    /// # Errors
    /// Why they cannot have it.
    pub fn kafka_means(&self) -> Result<FaultMeans, &'static str> {
        match self {
            Fault::Stop | Fault::Kill | Fault::Restart | Fault::Pause => Ok(FaultMeans::Signals),
            Fault::Crash | Fault::Flush(_) | Fault::DiskFull { .. } => Ok(FaultMeans::Preload),
            Fault::Cut { .. } => Ok(FaultMeans::Proxy),
            Fault::ClockOffset { .. } => Ok(FaultMeans::FakeClock),
            Fault::Requests { what, .. } => match what {
                RequestFault::Delay(_) | RequestFault::Stall { .. } | RequestFault::Drop(_) => {
                    Ok(FaultMeans::Proxy)
                }
                RequestFault::Fail { .. } => Err("Apache Kafka answers with its own errors"),
                RequestFault::Capacity(_) => {
                    Err("limit Apache Kafka with `kafka:VERSION,cpu=N`, or with quotas")
                }
            },
        }
    }

    /// Whether the embedded cluster can have it.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn check_embedded(&self) -> Result<(), &'static str> {
        match self {
            Fault::Flush(_) => Err("flushes fail or are late only on Apache Kafka"),
            Fault::Cut { end, .. } if *end == CutEnd::Clients => {
                Err("clients are cut off only from Apache Kafka; `pause` has a similar effect")
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CutDirection, FlushFault};

    #[test]
    fn brokers_are_started_with_what_the_faults_need_and_nothing_else() {
        let cut = Fault::Cut {
            direction: CutDirection::With,
            end: CutEnd::Clients,
        };
        assert!(!KafkaMeans::for_faults([&Fault::Kill, &Fault::Pause]).is_any());
        let all = KafkaMeans::for_faults([&cut, &Fault::Flush(FlushFault::Fail)]);
        assert_eq!(
            (all.preload, all.proxy, all.fake_clock),
            (true, true, false)
        );
        let fail = Fault::Requests {
            api: None,
            times: None,
            what: RequestFault::fail("UNKNOWN_SERVER_ERROR"),
        };
        assert!(fail.kafka_means().is_err() && fail.check_embedded().is_ok());
        assert!(cut.kafka_means().is_ok() && cut.check_embedded().is_err());
    }
}
