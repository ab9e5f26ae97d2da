//! The one number that a scenario varies, where it is one.

use kgauge_analyze::answer::{FactorUnit, FactorValues};
use kgauge_analyze::summary::TrialSummary;

use crate::chart::AxisUnit;
use crate::view::{Sweep, SweepFlow, TrialView};

/// The sweep of a scenario: all trials vary the same single setting, and its values are numbers.
pub(super) fn sweep<'a>(
    summaries: &[&TrialSummary],
    trials: &[TrialView<'a>],
) -> Option<Sweep<'a>> {
    let values = FactorValues::of(summaries).filter(FactorValues::is_a_series)?;
    let mut flows: Vec<SweepFlow<'a>> = Vec::new();
    for (value, trial) in values.values.iter().zip(trials) {
        for flow in &trial.flows {
            let point = (*value, *flow);
            match flows.iter_mut().find(|known| known.name == flow.name()) {
                Some(known) => known.points.push(point),
                None => flows.push(SweepFlow {
                    name: flow.name(),
                    points: vec![point],
                }),
            }
        }
    }
    for flow in &mut flows {
        flow.points.sort_by(|one, next| one.0.total_cmp(&next.0));
    }
    Some(Sweep {
        factor: values.path,
        unit: match values.unit {
            FactorUnit::Plain => AxisUnit::Plain,
            FactorUnit::Bytes => AxisUnit::Bytes,
            FactorUnit::Nanoseconds => AxisUnit::Nanoseconds,
        },
        flows,
    })
}
