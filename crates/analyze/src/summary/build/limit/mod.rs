//! What limited a trial: each suspect with its evidence. A suspect that explains others takes them with it: small
//! requests make processors busy, a disk makes request handlers busy. A single remaining suspect is the verdict; with
//! none or several, the verdict is inconclusive.
//!
//! docs/guide/report.md has the rules, each with its numbers.

mod brokers;
mod clients;
mod facts;
mod machine;
mod network;
mod outages;

use kgauge_scenario::Trial;

use super::hold::MeasuredRepeats;
use super::shares;
use crate::summary::{Bottleneck, GeneratorState, LimitFact, LimitVerdict, TrialSummary};
use facts::Facts;
use kgauge_results::folder::RunRead;

/// How sure a suspicion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    /// It would be a bottleneck without any other cause.
    Strong,
    /// It is near to that.
    Weak,
    /// No suspicion: evidence only.
    None,
}

impl Weight {
    fn of(is_strong: bool, is_weak: bool) -> Weight {
        match (is_strong, is_weak) {
            (true, _) => Weight::Strong,
            (_, true) => Weight::Weak,
            _ => Weight::None,
        }
    }
}

/// What is known of each suspect.
#[derive(Default)]
struct Findings {
    strong: Vec<Bottleneck>,
    weak: Vec<Bottleneck>,
    evidence: Vec<LimitFact>,
}

impl Findings {
    fn note(&mut self, word: Bottleneck, weight: Weight, fact: LimitFact) {
        let suspects = match weight {
            Weight::Strong => Some(&mut self.strong),
            Weight::Weak => Some(&mut self.weak),
            Weight::None => None,
        };
        if let Some(suspects) = suspects.filter(|suspects| !suspects.contains(&word)) {
            suspects.push(word);
        }
        if !self.evidence.contains(&fact) {
            self.evidence.push(fact);
        }
    }

    /// Nothing is sure any more: what was done to the target may be what is seen.
    fn doubt(&mut self, fact: LimitFact) {
        let strong = std::mem::take(&mut self.strong);
        self.weak.retain(|word| !strong.contains(word));
        self.weak.splice(0..0, strong);
        self.evidence.push(fact);
    }

    fn is_strong(&self, word: Bottleneck) -> bool {
        self.strong.contains(&word)
    }

    fn verdict(self) -> LimitVerdict {
        let explained = |word: &Bottleneck| {
            let mut others = self.strong.iter();
            others.any(|other| other != word && explains(*other).contains(word))
        };
        let left = |words: &[Bottleneck]| -> Vec<Bottleneck> {
            let left = words.iter().filter(|word| !explained(word));
            left.copied().collect()
        };
        let strong = left(&self.strong);
        match strong.as_slice() {
            [Bottleneck::Target] => {
                let weak = left(&self.weak);
                verdict(Bottleneck::Target, self.evidence, weak)
            }
            [one] => verdict(*one, self.evidence, Vec::new()),
            [] => {
                let weak = left(&self.weak);
                verdict(Bottleneck::Undecided, self.evidence, weak)
            }
            _ => verdict(Bottleneck::Undecided, self.evidence, strong),
        }
    }
}

/// All that limits only while brokers answer.
const ALL_BUT_OUTAGES: [Bottleneck; 16] = [
    Bottleneck::Target,
    Bottleneck::Generator,
    Bottleneck::Quota,
    Bottleneck::OtherPrograms,
    Bottleneck::Hypervisor,
    Bottleneck::Processors,
    Bottleneck::CpuLimit,
    Bottleneck::Disk,
    Bottleneck::NetworkCard,
    Bottleneck::HotBroker,
    Bottleneck::Replication,
    Bottleneck::Batching,
    Bottleneck::Buffer,
    Bottleneck::RequestHandlers,
    Bottleneck::NetworkThreads,
    Bottleneck::Consumer,
];

/// What else is seen where this is the limit, because of it.
fn explains(word: Bottleneck) -> &'static [Bottleneck] {
    use Bottleneck as W;
    match word {
        // Whoever waits for a broker that does not answer does nothing else, and neither do the other brokers.
        W::Broker => &ALL_BUT_OUTAGES,
        W::OtherPrograms | W::Hypervisor => &[
            W::Target,
            W::Processors,
            W::RequestHandlers,
            W::NetworkThreads,
            W::Replication,
            W::Consumer,
            W::HotBroker,
            W::Buffer,
        ],
        // Whoever has to wait keeps its buffer full and its answers late.
        W::Quota => &[
            W::Buffer,
            W::Consumer,
            W::NetworkThreads,
            W::Replication,
            W::HotBroker,
        ],
        W::Batching => &[
            W::Generator,
            W::Processors,
            W::RequestHandlers,
            W::NetworkThreads,
            W::Buffer,
            W::Replication,
        ],
        W::Generator => &[
            W::OtherPrograms,
            W::Hypervisor,
            W::Processors,
            W::Buffer,
            W::Consumer,
            W::HotBroker,
        ],
        W::Buffer => &[W::Replication],
        // Threads that get no processor are busy too.
        W::Processors => &[
            W::RequestHandlers,
            W::NetworkThreads,
            W::Replication,
            W::Consumer,
            W::HotBroker,
            W::Buffer,
        ],
        W::CpuLimit => &[
            W::RequestHandlers,
            W::NetworkThreads,
            W::Replication,
            W::Consumer,
            W::Buffer,
        ],
        W::HotBroker => &[
            W::CpuLimit,
            W::RequestHandlers,
            W::NetworkThreads,
            W::Replication,
            W::Buffer,
            W::Consumer,
        ],
        W::Disk => &[W::RequestHandlers, W::Replication, W::Buffer, W::Consumer],
        // What waits for the wire waits in buffers, to be sent, and for followers that get it late.
        W::NetworkCard => &[W::NetworkThreads, W::Buffer, W::Replication, W::Consumer],
        W::RequestHandlers | W::NetworkThreads => &[W::Buffer, W::Replication, W::Consumer],
        W::Target | W::Replication | W::Consumer | W::Load | W::Undecided => &[],
    }
}

/// The verdict on a trial; `None` when nothing of it was measured.
pub(super) fn limit(
    run: &RunRead,
    plan: Option<&Trial>,
    trial: &TrialSummary,
    measured: &MeasuredRepeats<'_>,
) -> Option<LimitVerdict> {
    if trial.repeats_measured == 0 || trial.flows.iter().all(|flow| flow.throughput.is_none()) {
        return None;
    }
    let facts = Facts::of(run, plan, trial, measured);
    let faults = plan.map_or(0, |plan| plan.faults.len() as u32);
    let mut findings = Findings::default();
    let outage = outages::find(&facts, &mut findings);
    clients::consumers(&facts, &mut findings);
    clients::linger(&facts, &mut findings);
    let is_only_outage = findings
        .strong
        .iter()
        .all(|word| *word == Bottleneck::Broker);
    if let Some(done) = clients::all_done(&facts).filter(|_| is_only_outage) {
        let mut evidence = vec![done];
        evidence.append(&mut findings.evidence);
        evidence.extend((faults > 0).then_some(LimitFact::Faults));
        return Some(LimitVerdict {
            faults,
            outage,
            ..verdict(Bottleneck::Load, evidence, Vec::new())
        });
    }
    let idle = clients::without_work(&facts).map(|flow| flow.name.clone());
    if let Some(flow) = idle.filter(|_| !findings.is_strong(Bottleneck::Broker)) {
        return Some(LimitVerdict {
            idle_flow: Some(flow),
            ..verdict(Bottleneck::Undecided, findings.evidence, Vec::new())
        });
    }
    suspects(&facts, &mut findings);
    if faults > 0 {
        let is_outage = findings.is_strong(Bottleneck::Broker);
        findings.doubt(LimitFact::Faults);
        if is_outage {
            findings.strong.push(Bottleneck::Broker);
        }
    }
    if findings.strong.is_empty()
        && let Some(slow) = clients::slow_answers(&facts)
    {
        findings.note(Bottleneck::Target, Weight::Strong, slow);
    }
    Some(LimitVerdict {
        faults,
        outage,
        ..findings.verdict()
    })
}

/// Everyone who may have limited a load that was not kept.
fn suspects(facts: &Facts<'_>, findings: &mut Findings) {
    if facts.trial.generator.word == GeneratorState::Limited {
        findings.note(Bottleneck::Generator, Weight::Strong, LimitFact::Generator);
    }
    clients::late(facts, findings);
    clients::quota(facts, findings);
    clients::requests(facts, findings);
    clients::buffers(facts, findings);
    machine::processors(facts, findings);
    machine::cpu_limits(facts, findings);
    machine::disks(facts, findings);
    network::cards(facts, findings);
    brokers::threads(facts, findings);
    brokers::flushes(facts, findings);
    brokers::followers(facts, findings);
    if let Some(skew) = shares::skew(facts.trial) {
        let weight = brokers::skew(facts, findings);
        findings.note(Bottleneck::HotBroker, weight, LimitFact::HotBroker { skew });
    }
}

fn verdict(
    word: Bottleneck,
    evidence: Vec<LimitFact>,
    candidates: Vec<Bottleneck>,
) -> LimitVerdict {
    LimitVerdict {
        word,
        evidence,
        candidates,
        faults: 0,
        outage: None,
        idle_flow: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(strong: &[Bottleneck], weak: &[Bottleneck]) -> (Bottleneck, Vec<Bottleneck>) {
        let findings = Findings {
            strong: strong.to_vec(),
            weak: weak.to_vec(),
            evidence: Vec::new(),
        };
        let verdict = findings.verdict();
        (verdict.word, verdict.candidates)
    }

    #[test]
    fn a_cause_takes_what_it_explains_with_it() {
        use Bottleneck as W;
        assert_eq!(
            decided(&[W::Batching, W::Processors, W::Generator], &[W::Disk]),
            (W::Batching, vec![])
        );
        assert_eq!(
            decided(&[W::RequestHandlers, W::Disk], &[]),
            (W::Disk, vec![])
        );
        assert_eq!(
            decided(&[W::Disk, W::Processors], &[]),
            (W::Undecided, vec![W::Disk, W::Processors])
        );
        assert_eq!(
            decided(&[], &[W::Replication, W::HotBroker]),
            (W::Undecided, vec![W::Replication, W::HotBroker])
        );
        assert_eq!(decided(&[], &[]), (W::Undecided, vec![]));
    }

    #[test]
    fn no_two_causes_explain_each_other() {
        use Bottleneck as W;
        let all = [
            W::Load,
            W::Generator,
            W::Broker,
            W::OtherPrograms,
            W::Hypervisor,
            W::Target,
            W::Quota,
            W::Processors,
            W::CpuLimit,
            W::Disk,
            W::NetworkCard,
            W::HotBroker,
            W::Replication,
            W::Batching,
            W::Buffer,
            W::RequestHandlers,
            W::NetworkThreads,
            W::Consumer,
            W::Undecided,
        ];
        for one in all {
            assert!(!explains(one).contains(&one), "{one:?}");
            for other in explains(one) {
                assert!(!explains(*other).contains(&one), "{one:?} and {other:?}");
            }
        }
    }
}
