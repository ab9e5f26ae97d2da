//! Each kind of warning: its severity, its short title, and its fix.

use kgauge_analyze::summary::{
    ClientWait, LatenessCause, WarningFinding as Finding, WarningKind as Kind,
};

use Severity::{Caution, Grave, Note};

/// How severe something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Severity {
    /// Good to know.
    #[default]
    Note,
    /// Readers of the figures should know it.
    Caution,
    /// The figures are incomplete or wrong without it.
    Grave,
}

/// What is the same for all warnings of a kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AboutWarning {
    kind: Kind,
    /// How severe it is.
    pub(crate) level: Severity,
    /// The matter, where its places differ or its own text is long.
    pub(crate) title: &'static str,
    /// What can be done about it; empty where there is nothing to do.
    pub(crate) remedy: &'static str,
}

/// What is the same for all warnings of a kind.
pub(crate) fn about(kind: Kind) -> AboutWarning {
    let known = ABOUT.iter().find(|about| about.kind == kind);
    known.copied().unwrap_or(AboutWarning {
        kind,
        level: Grave,
        title: MORE,
        remedy: "",
    })
}

/// The warning whose remedy helps: of skipped records, that of their cause. `None` where there is nothing to do.
pub(crate) fn kind_of_remedy(finding: &Finding) -> Option<Kind> {
    let Finding::RecordsSkipped { blame, .. } = finding else {
        return Some(finding.kind());
    };
    Some(match blame {
        LatenessCause::Generator { is_busy: true } => Kind::GeneratorLimited,
        LatenessCause::Generator { is_busy: false } => Kind::GeneratorLate,
        LatenessCause::Target { waited_for } => match waited_for {
            ClientWait::Buffer | ClientWait::Response => Kind::RecordsSkipped,
            ClientWait::Connection => Kind::BrokerOutage,
            ClientWait::Leader => Kind::LeadersMoved,
            ClientWait::Throttle => Kind::Throttled,
        },
        LatenessCause::OtherPrograms { .. } => Kind::OtherPrograms,
        LatenessCause::Hypervisor { .. } => Kind::HypervisorTookCpu,
        LatenessCause::SharedProcessors => Kind::ProcessorsExhausted,
        LatenessCause::Unknown => Kind::GeneratorUnknown,
        LatenessCause::None | LatenessCause::Fault => return None,
    })
}

/// What can be done about warnings of one kind in this run: of a quick one, what its size causes.
pub(crate) fn remedy(findings: &[&Finding], is_quick: bool) -> String {
    let mut remedies: Vec<&str> = Vec::new();
    for kind in findings
        .iter()
        .filter_map(|finding| kind_of_remedy(finding))
    {
        let remedy = of_kind(kind, is_quick);
        if !remedies.contains(&remedy) {
            remedies.push(remedy);
        }
    }
    remedies.join(" ")
}

fn of_kind(kind: Kind, is_quick: bool) -> &'static str {
    match kind {
        Kind::NotSteady if is_quick => {
            "Discard these figures; drop --quick for a longer warm-up and a longer hold."
        }
        Kind::SteadinessUnknown | Kind::WideInterval | Kind::ShortHold if is_quick => {
            "Drop --quick for a longer hold."
        }
        _ => about(kind).remedy,
    }
}

const fn row(
    kind: Kind,
    level: Severity,
    title: &'static str,
    remedy: &'static str,
) -> AboutWarning {
    AboutWarning {
        kind,
        level,
        title,
        remedy,
    }
}

/// The title of those that are shown below the answer, with their whole texts.
const MORE: &str = "There are more caveats.";

const DEGRADED: &str = "The cluster was degraded during the run; check the broker logs and rerun.";
const LOST: &str =
    "Check the broker log and the network in between; events.jsonl lists each lost connection.";
const REPLICATION: &str =
    "Replication did not keep up with the acks; use acks=all or a lower rate.";

const ABOUT: [AboutWarning; 46] = [
    row(
        Kind::CoresShared,
        Caution,
        MORE,
        "Use more CPUs, fewer brokers, or a cluster on separate machines.",
    ),
    row(
        Kind::NotFinished,
        Grave,
        "This run did not finish.",
        "Rerun to completion before you rely on it.",
    ),
    row(
        Kind::AgentLost,
        Grave,
        "An agent was lost during the run.",
        "Check that machine and its network; its records are missing from the figures, so rerun.",
    ),
    row(
        Kind::BrokerOutage,
        Grave,
        "A broker stopped responding.",
        "Check the broker logs for why one did not respond, and rerun.",
    ),
    row(
        Kind::CountsDisagree,
        Grave,
        "Broker record counts differ from the acked records.",
        "Trust neither figure; check the broker logs and other writers to the topic.",
    ),
    row(
        Kind::CopyIncomplete,
        Grave,
        "Records acked by the source are missing from the copy.",
        "Use a longer drain stage: late records are not lost.",
    ),
    row(
        Kind::CopyDoubled,
        Caution,
        MORE,
        "Make consumers of the copy idempotent.",
    ),
    row(
        Kind::CorruptRecords,
        Grave,
        "Records have a wrong checksum.",
        "Check the brokers' disks and memory; stored data may be damaged.",
    ),
    row(
        Kind::SendsFailed,
        Grave,
        "Records failed permanently.",
        "Check the errors by code; a rate with failed sends is not sustained.",
    ),
    row(Kind::NoWorkDone, Grave, "A flow did no work.", LOST),
    row(
        Kind::ConnectionsBroken,
        Grave,
        "Broker connections were lost.",
        LOST,
    ),
    row(
        Kind::SendsIndeterminate,
        Grave,
        "Records may or may not have been written.",
        "Raise delivery.timeout.ms, or find out why brokers did not respond.",
    ),
    row(
        Kind::RecordsUnresolved,
        Grave,
        "Records have no known outcome.",
        "Use a longer drain stage; if the warning persists, report a kgauge bug.",
    ),
    row(
        Kind::GeneratorLimited,
        Grave,
        "The generator was the bottleneck; the target can do more than these figures show.",
        "Give the generator more producers, more cores or a second machine.",
    ),
    row(
        Kind::GeneratorLate,
        Grave,
        "The generator was late; latencies include its own delay.",
        "Check what stopped kgauge, such as a container CPU limit or a suspended virtual machine, and rerun.",
    ),
    row(
        Kind::AgentLate,
        Caution,
        "One agent was late, and the others were not.",
        "Check what else runs on that agent's machine, or leave the agent out.",
    ),
    row(
        Kind::AgentThrottled,
        Caution,
        "A CPU limit throttled an agent.",
        "Raise the agent's CPU limit, or use more agents.",
    ),
    row(
        Kind::AgentNetworkFull,
        Caution,
        "The network card of an agent's machine was saturated.",
        "Use more agents, or machines with faster network cards.",
    ),
    row(
        Kind::AgentSlow,
        Caution,
        "One agent sent much less than the others.",
        "Compare that agent's processors, network and distance to the brokers, or leave it out.",
    ),
    row(
        Kind::OtherPrograms,
        Grave,
        "Other load on this host took CPU.",
        "Stop it or use an idle host, and rerun. A lower rate does not help.",
    ),
    row(
        Kind::HypervisorTookCpu,
        Caution,
        "The hypervisor kept CPU from this machine; latencies include the delay.",
        "Use a machine with dedicated CPUs, and rerun.",
    ),
    row(
        Kind::ProcessorsExhausted,
        Grave,
        "The load generator and the target ran short of CPU; latencies include the delay.",
        "Run the brokers on other machines or pin the generator to its own CPUs (taskset), and rerun.",
    ),
    row(
        Kind::GeneratorUnknown,
        Caution,
        MORE,
        "Run kgauge where thread CPU time is readable (/proc on Linux).",
    ),
    row(
        Kind::NotSteady,
        Grave,
        "The target was not steady during measurement.",
        "Discard these figures; rerun with a longer warm-up limit (--set stages.warm-up-limit='2 min') and a longer hold.",
    ),
    row(
        Kind::SteadinessUnknown,
        Caution,
        "Whether the target was steady is unknown.",
        "Use a longer hold (--set stages.hold='1 min').",
    ),
    row(
        Kind::RecordsSkipped,
        Caution,
        MORE,
        "The target did not sustain the offered load; lower the rate.",
    ),
    row(Kind::UnderReplicated, Caution, MORE, DEGRADED),
    row(Kind::LeadersMoved, Caution, MORE, DEGRADED),
    row(Kind::FollowersFallBehind, Caution, MORE, REPLICATION),
    row(
        Kind::LittlesLawBroken,
        Caution,
        MORE,
        "Use a longer hold so that the load settles; in an open loop, discard these latencies.",
    ),
    row(Kind::FollowersBehind, Caution, MORE, REPLICATION),
    row(
        Kind::AcksNone,
        Caution,
        MORE,
        "Use acks=1 or acks=all to measure what brokers accepted.",
    ),
    row(
        Kind::ClockAnomalies,
        Caution,
        MORE,
        "Check the machine's clock source.",
    ),
    row(
        Kind::ClockSource,
        Note,
        MORE,
        "Switch the kernel clock source to tsc, or use another machine.",
    ),
    row(
        Kind::FreeMemoryReturned,
        Caution,
        MORE,
        "Use a physical machine, a virtual one without a memory balloon, or a fixed rate.",
    ),
    row(
        Kind::DebugBuild,
        Grave,
        "kgauge was built without optimisation.",
        "Build with --release.",
    ),
    row(
        Kind::BrokerSkew,
        Caution,
        MORE,
        "Use more partitions than brokers; otherwise the figures describe one broker.",
    ),
    row(
        Kind::Throttled,
        Caution,
        MORE,
        "Lift the quota of this client.id, or treat the figure as the quota.",
    ),
    row(Kind::TargetNote, Caution, MORE, ""),
    row(
        Kind::SameMachine,
        Caution,
        MORE,
        "For figures to rely on, use a cluster on separate machines.",
    ),
    row(Kind::SingleRepeat, Note, MORE, "Use --repeat 5."),
    row(
        Kind::RepeatsMissing,
        Caution,
        MORE,
        "Rerun to completion; check the outcome of each repeat.",
    ),
    row(
        Kind::TwoModes,
        Caution,
        MORE,
        "Compare the repeats one by one; the brokers may behave differently after each start.",
    ),
    row(
        Kind::WideInterval,
        Note,
        MORE,
        "Use more repeats (--repeat) or a longer hold.",
    ),
    row(
        Kind::ShortHold,
        Note,
        MORE,
        "Hold the load for at least 10 s, preferably for minutes.",
    ),
    row(
        Kind::FewSamples,
        Note,
        MORE,
        "Use a longer hold: a percentile needs 100 samples beyond it.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_warning_is_in_the_table() {
        let kinds: Vec<Kind> = ABOUT.iter().map(|about| about.kind).collect();
        assert_eq!(kinds, Kind::ALL);
    }

    #[test]
    fn a_lower_rate_helps_only_where_the_target_could_not_keep_up() {
        let skipped = |blame| Finding::RecordsSkipped { records: 5, blame };
        let by_target = skipped(LatenessCause::Target {
            waited_for: ClientWait::Response,
        });
        let by_broker = skipped(LatenessCause::Target {
            waited_for: ClientWait::Connection,
        });
        let by_others = skipped(LatenessCause::OtherPrograms { cores: 1.0 });
        let by_fault = skipped(LatenessCause::Fault);
        let target = "The target did not sustain the offered load; lower the rate.";
        assert_eq!(remedy(&[&by_target, &by_target], false), target);
        let outage = "Check the broker logs for why one did not respond, and rerun.";
        assert_eq!(remedy(&[&by_broker], false), outage);
        let others = "Stop it or use an idle host, and rerun. A lower rate does not help.";
        assert_eq!(
            remedy(&[&by_target, &by_others], false),
            format!("{target} {others}")
        );
        assert_eq!(remedy(&[&by_fault], false), "");
        let failed = about(Kind::SendsFailed).remedy;
        assert!(!failed.contains("lower"), "{failed}");
    }
}
