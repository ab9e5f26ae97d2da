//! The bottleneck of a load right now, in two or three words.

use kgauge_analyze::live::LiveVerdict;
use kgauge_analyze::summary::{Bottleneck, LatenessCause};

/// The text of page and progress line; `None` where the verdict is not decided.
pub fn limit_in_short(verdict: &LiveVerdict) -> Option<&'static str> {
    // Times that contain a delay of the generator's side are worth more words than a load that is kept.
    let late = match verdict.generator.blame {
        LatenessCause::Generator { is_busy: false } => Some("generator late"),
        LatenessCause::Generator { is_busy: true } => Some("generator busy"),
        LatenessCause::OtherPrograms { .. } => Some("other load on this host"),
        LatenessCause::SharedProcessors => Some("processors busy"),
        LatenessCause::None
        | LatenessCause::Target { .. }
        | LatenessCause::Fault
        | LatenessCause::Unknown => None,
    };
    match verdict.limit.word {
        Bottleneck::Load => late.or(Some("no bottleneck")),
        Bottleneck::Generator => late.or(Some("generator busy")),
        Bottleneck::Broker => Some("broker not responding"),
        Bottleneck::OtherPrograms => Some("other load on this host"),
        Bottleneck::Target => Some("slow responses"),
        Bottleneck::Quota => Some("quota"),
        Bottleneck::Processors => Some("processors busy"),
        Bottleneck::CpuLimit => Some("broker CPU limit"),
        Bottleneck::Disk => Some("disk busy"),
        Bottleneck::NetworkCard => Some("network saturated"),
        Bottleneck::HotBroker => Some("hot broker"),
        Bottleneck::Replication => Some("followers"),
        Bottleneck::Batching => Some("small requests"),
        Bottleneck::Buffer => Some("producer buffer full"),
        Bottleneck::RequestHandlers => Some("request handlers busy"),
        Bottleneck::NetworkThreads => Some("network threads busy"),
        Bottleneck::Consumer => Some("consumers behind"),
        Bottleneck::Undecided => late,
    }
}
