//! The bottleneck of a load right now, in two or three words.

use kgauge_analyze::live::LiveVerdict;
use kgauge_analyze::summary::{Bottleneck, LatenessCause};

use super::bottleneck::brief;

/// The text of page and progress line; `None` where the verdict is not decided.
pub fn limit_in_short(verdict: &LiveVerdict) -> Option<&'static str> {
    // Times that contain a delay of the generator's side are worth more words than a load that is kept.
    let late = match verdict.generator.blame {
        LatenessCause::Generator { is_busy: false } => Some("generator late"),
        LatenessCause::Generator { is_busy: true } => Some("generator busy"),
        LatenessCause::OtherPrograms { .. } => Some("other load"),
        LatenessCause::Hypervisor { .. } => Some("hypervisor"),
        LatenessCause::SharedProcessors => Some("CPU"),
        LatenessCause::None
        | LatenessCause::Target { .. }
        | LatenessCause::Fault
        | LatenessCause::Unknown => None,
    };
    let limit = &verdict.limit;
    if limit.word == Bottleneck::Undecided {
        late
    } else if limit.word == Bottleneck::Load {
        late.or(Some("no bottleneck"))
    } else if limit.word == Bottleneck::Generator {
        late.or(Some("generator busy"))
    } else {
        Some(brief(limit))
    }
}
