//! What limits a load right now, in two or three words: the verdict on the last seconds, made short.

use kgauge_results::live::LiveVerdict;
use kgauge_results::summary::{LatenessCause, LimitWord};

/// The words of page and progress line; `None` where the verdict is not decided.
pub fn limit_in_short(verdict: &LiveVerdict) -> Option<&'static str> {
    // Times that contain a delay of the generator's side are worth more words than a load that is kept.
    let late = match verdict.generator.blame {
        LatenessCause::Generator { is_busy: false } => Some("generator late"),
        LatenessCause::Generator { is_busy: true } => Some("generator busy"),
        LatenessCause::OtherPrograms { .. } => Some("other programs busy"),
        LatenessCause::SharedProcessors => Some("processors busy"),
        LatenessCause::None
        | LatenessCause::Target { .. }
        | LatenessCause::Fault
        | LatenessCause::Unknown => None,
    };
    match verdict.limit.word {
        LimitWord::Load => late.or(Some("load is the limit")),
        LimitWord::Generator => late.or(Some("generator busy")),
        LimitWord::Broker => Some("a broker does not answer"),
        LimitWord::OtherPrograms => Some("other programs busy"),
        LimitWord::Target => Some("slow answers"),
        LimitWord::Quota => Some("quota"),
        LimitWord::Processors => Some("processors busy"),
        LimitWord::CpuLimit => Some("CPU limit of brokers"),
        LimitWord::Disk => Some("disk busy"),
        LimitWord::NetworkCard => Some("network full"),
        LimitWord::HotBroker => Some("one broker leads too much"),
        LimitWord::Replication => Some("followers"),
        LimitWord::Batching => Some("small requests"),
        LimitWord::Buffer => Some("producer buffer full"),
        LimitWord::RequestHandlers => Some("request handlers busy"),
        LimitWord::NetworkThreads => Some("network threads busy"),
        LimitWord::Consumer => Some("consumers behind"),
        LimitWord::Undecided => late,
    }
}
