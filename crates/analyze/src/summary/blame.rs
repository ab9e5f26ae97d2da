//! Why records were sent late: the one judgement that marks, badges, warnings, verdicts and the live page read.
//!
//! It is made in `build/blame.rs`, once for each flow and for each trial.

use schemars::JsonSchema;
use serde::Serialize;

/// Whose doing it is that records of a flow were sent late, or never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
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
    /// That of the hypervisor: it kept processors from this virtual machine when they were wanted.
    Hypervisor {
        /// How many processors it took, on the mean over the hold.
        cores: f64,
    },
    /// That of the machine: load and target share its processors, and together they need more.
    SharedProcessors,
    /// The scenario's own: it broke the target meanwhile.
    Fault,
    /// Undetermined.
    #[default]
    Unknown,
}

/// What a client without buffer space waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClientWait {
    /// Buffer space; the cause was not sampled.
    Buffer,
    /// A connection to a broker.
    Connection,
    /// A leader of a partition.
    Leader,
    /// Responses to requests.
    Response,
    /// The end of a throttle.
    Throttle,
}

impl LatenessCause {
    /// Whether the latencies of such a flow contain a delay that is not the target's.
    pub fn is_in_latencies(self) -> bool {
        match self {
            LatenessCause::Generator { .. }
            | LatenessCause::OtherPrograms { .. }
            | LatenessCause::Hypervisor { .. }
            | LatenessCause::SharedProcessors
            | LatenessCause::Unknown => true,
            LatenessCause::None | LatenessCause::Target { .. } | LatenessCause::Fault => false,
        }
    }
}
