//! What limited a trial: each suspect with its evidence. A suspect that explains others takes them with it: small requests
//! make processors busy, a disk makes request handlers busy. Where one is left, that is the verdict; where none or several are,
//! it is not decided, and that is said.
//!
//! The rules stand in docs/guide/report.md, each with its numbers.

mod brokers;
mod clients;
mod facts;
mod machine;
mod network;

use kgauge_scenario::Trial;

use super::hold::Measured;
use super::shares;
use crate::folder::RunRead;
use crate::summary::{GeneratorWord, LimitVerdict, LimitWord, TrialSummary, words};
use facts::Facts;

/// What is said where all was done although the scenario did something to the target.
const WEATHERED: &str = "Nothing held it back for good: what was asked for was done by the end, whatever the scenario did \
                         to the target.";

/// How sure a suspicion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    /// It would limit by itself.
    Strong,
    /// It is near to that.
    Weak,
    /// It is none: only said.
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
    strong: Vec<LimitWord>,
    weak: Vec<LimitWord>,
    evidence: Vec<String>,
}

impl Findings {
    fn note(&mut self, word: LimitWord, weight: Weight, said: String) {
        let suspects = match weight {
            Weight::Strong => Some(&mut self.strong),
            Weight::Weak => Some(&mut self.weak),
            Weight::None => None,
        };
        if let Some(suspects) = suspects.filter(|suspects| !suspects.contains(&word)) {
            suspects.push(word);
        }
        if !self.evidence.contains(&said) {
            self.evidence.push(said);
        }
    }

    /// Nothing is sure any more: what was done to the target may be what is seen.
    fn doubt(&mut self, said: String) {
        let strong = std::mem::take(&mut self.strong);
        self.weak.retain(|word| !strong.contains(word));
        self.weak.splice(0..0, strong);
        self.evidence.push(said);
    }

    fn is_strong(&self, word: LimitWord) -> bool {
        self.strong.contains(&word)
    }

    fn verdict(self) -> LimitVerdict {
        let explained = |word: &LimitWord| {
            let mut others = self.strong.iter();
            others.any(|other| other != word && explains(*other).contains(word))
        };
        let left = |words: &[LimitWord]| -> Vec<LimitWord> {
            let left = words.iter().filter(|word| !explained(word));
            left.copied().collect()
        };
        let strong = left(&self.strong);
        match strong.as_slice() {
            [one] => verdict(*one, self.evidence, Vec::new()),
            [] => {
                let weak = left(&self.weak);
                verdict(LimitWord::Undecided, self.evidence, weak)
            }
            _ => verdict(LimitWord::Undecided, self.evidence, strong),
        }
    }
}

/// What else is seen where this is the limit, because of it.
fn explains(word: LimitWord) -> &'static [LimitWord] {
    use LimitWord as W;
    match word {
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
        W::Generator => &[W::Processors, W::Buffer, W::Consumer, W::HotBroker],
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
        W::Replication | W::Consumer | W::Load | W::Undecided => &[],
    }
}

/// The verdict on a trial; `None` when nothing of it was measured.
pub(super) fn limit(
    run: &RunRead,
    plan: Option<&Trial>,
    trial: &TrialSummary,
    measured: &Measured<'_>,
) -> Option<LimitVerdict> {
    if trial.repeats_measured == 0 || trial.flows.iter().all(|flow| flow.throughput.is_none()) {
        return None;
    }
    let facts = Facts::of(run, plan, trial, measured);
    let faults = plan.map_or(0, |plan| plan.faults.len() as u64);
    let mut findings = Findings::default();
    clients::consumers(&facts, &mut findings);
    clients::linger(&facts, &mut findings);
    if let Some(said) = clients::all_done(&facts).filter(|_| findings.strong.is_empty()) {
        let mut evidence = vec![said];
        evidence.append(&mut findings.evidence);
        let mut limit = verdict(LimitWord::Load, evidence, Vec::new());
        if faults > 0 {
            limit.sentence = WEATHERED.to_owned();
            let faults = words::counted(faults, "fault");
            limit.evidence.push(format!(
                "The scenario did {faults} to the target meanwhile: what was due then may have waited."
            ));
        }
        return Some(limit);
    }
    if trial.generator.word == GeneratorWord::Limited {
        findings.strong.push(LimitWord::Generator);
        findings.evidence.extend(trial.generator.evidence.clone());
    }
    clients::quota(&facts, &mut findings);
    clients::requests(&facts, &mut findings);
    clients::buffers(&facts, &mut findings);
    machine::processors(&facts, &mut findings);
    machine::cpu_limits(&facts, &mut findings);
    machine::disks(&facts, &mut findings);
    network::cards(&facts, &mut findings);
    brokers::threads(&facts, &mut findings);
    brokers::flushes(&facts, &mut findings);
    brokers::followers(&facts, &mut findings);
    if let Some(said) = shares::skew(trial) {
        let weight = brokers::skew(&facts, &findings);
        findings.note(LimitWord::HotBroker, weight, said);
    }
    if faults > 0 {
        findings.doubt(format!(
            "The scenario did {} to the target meanwhile: what is seen may be these.",
            words::counted(faults, "fault")
        ));
    }
    let mut verdict = findings.verdict();
    if verdict.word == LimitWord::Processors && machine::others_took_much(&facts) {
        verdict.sentence = format!("{} {}", verdict.sentence, machine::OTHERS);
    }
    Some(verdict)
}

fn verdict(word: LimitWord, evidence: Vec<String>, candidates: Vec<LimitWord>) -> LimitVerdict {
    let sentence = match (word, candidates.as_slice()) {
        (LimitWord::Load, _) => {
            "Nothing held it back: what was asked for was done in time, so more may be possible."
                .to_owned()
        }
        (LimitWord::Undecided, []) => "What limited it is not known from what was seen.".to_owned(),
        (LimitWord::Undecided, candidates) => {
            let names: Vec<&str> = candidates.iter().map(|one| one.as_words()).collect();
            format!(
                "What limited it is not decided; it may be {}.",
                names.join(", or ")
            )
        }
        (word, _) => format!("The limit was {}.", word.as_words()),
    };
    LimitVerdict {
        word,
        sentence,
        evidence,
        candidates,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(strong: &[LimitWord], weak: &[LimitWord]) -> (LimitWord, Vec<LimitWord>) {
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
        use LimitWord as W;
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
        use LimitWord as W;
        let all = [
            W::Load,
            W::Generator,
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
