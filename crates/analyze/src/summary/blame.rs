//! Why records were sent late: the one judgement that marks, badges, warnings, verdicts and the live page read.
//!
//! It is made in `build/blame.rs`, once for each flow and for each trial.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose doing it is that records of a flow were sent late, or never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "cause", rename_all = "kebab-case")]
pub enum LatenessCause {
    /// They were not: so few were that the 99th percentile does not show it.
    None,
    /// The generator's: there was room in the buffer, the processors were free, and it did not send.
    Generator {
        /// Whether a load thread had no CPU time to spare.
        is_busy: bool,
    },
    /// The target's: the client waited for it.
    Target {
        /// For what.
        waited_for: ClientWait,
    },
    /// That of programs that are no part of the measurement: they used the machine's processors.
    OtherPrograms {
        /// How many processors they used, on the mean over the hold.
        cores: f64,
    },
    /// That of the machine: load and target share its processors, and together they need more.
    SharedProcessors,
    /// The scenario's own: it broke the target meanwhile.
    Fault,
    /// The evidence does not say.
    #[default]
    Unknown,
}

/// What a client without room for the next record waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClientWait {
    /// Room in its buffer; nobody looked why there was none.
    Buffer,
    /// A connection to a broker.
    Connection,
    /// A leader of a partition.
    Leader,
    /// Answers to requests.
    Response,
    /// The end of a pause that a broker asked for.
    Throttle,
}

impl LatenessCause {
    /// Whether the latencies of such a flow contain a delay that is not the target's.
    pub fn is_in_latencies(self) -> bool {
        match self {
            LatenessCause::Generator { .. }
            | LatenessCause::OtherPrograms { .. }
            | LatenessCause::SharedProcessors
            | LatenessCause::Unknown => true,
            LatenessCause::None | LatenessCause::Target { .. } | LatenessCause::Fault => false,
        }
    }

    /// Who or what it was, as the subject of a sentence.
    pub fn subject(self) -> &'static str {
        match self {
            LatenessCause::None => "nothing",
            LatenessCause::Generator { is_busy: true } => {
                "the generator, which had no CPU headroom"
            }
            LatenessCause::Generator { is_busy: false } => "the generator",
            LatenessCause::Target { waited_for } => match waited_for {
                ClientWait::Buffer => "the target: the client's buffer was full",
                ClientWait::Connection => "the target: no broker connection",
                ClientWait::Leader => "the target: a partition had no leader",
                ClientWait::Response => "the target: the client waited for responses",
                ClientWait::Throttle => "a quota: brokers throttled the client",
            },
            LatenessCause::OtherPrograms { .. } => "other programs, which used CPU on this machine",
            LatenessCause::SharedProcessors => "the CPUs that load generator and target share",
            LatenessCause::Fault => "the injected faults",
            LatenessCause::Unknown => "unknown",
        }
    }

    /// What can be done about it; `None` where there is nothing to do.
    pub fn remedy(self) -> Option<&'static str> {
        Some(match self {
            LatenessCause::None | LatenessCause::Fault => return None,
            LatenessCause::Generator { is_busy: true } => ADD_PRODUCERS,
            LatenessCause::Generator { is_busy: false } => LOOK_AT_GENERATOR,
            LatenessCause::Target { waited_for } => match waited_for {
                ClientWait::Buffer | ClientWait::Response => LOWER_RATE,
                ClientWait::Connection | ClientWait::Leader => LOOK_AT_BROKER,
                ClientWait::Throttle => LIFT_QUOTA,
            },
            LatenessCause::OtherPrograms { .. } => END_OTHERS,
            LatenessCause::SharedProcessors => USE_MACHINES,
            LatenessCause::Unknown => "Run kgauge where /proc is readable to find the cause.",
        })
    }
}

const ADD_PRODUCERS: &str =
    "Give the flow more producers to get more load threads, or lower its rate.";
/// Where kgauge itself was held up.
pub(super) const LOOK_AT_GENERATOR: &str = "Check what stopped kgauge, such as a container CPU \
                                            limit or a suspended virtual machine, and rerun.";
const LOWER_RATE: &str = "Lower the rate to find what the target can sustain; the bottleneck \
                          evidence shows what it waited for.";
/// Where a broker did not answer.
pub(super) const LOOK_AT_BROKER: &str =
    "Check the broker logs for why one did not respond, and rerun.";
/// Where brokers asked for pauses.
pub(super) const LIFT_QUOTA: &str =
    "Lift the quota of this client.id, or treat the figure as the quota.";
/// Where other programs used the processors.
pub(super) const END_OTHERS: &str = "Stop the other programs or use another machine, and rerun. A \
                                     lower rate does not help.";
/// Where load and target use all of the processors.
pub(super) const USE_MACHINES: &str = "Run the brokers on other machines or pin the generator to \
                                       its own CPUs (taskset), and rerun.";
