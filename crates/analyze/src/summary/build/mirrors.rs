//! What replicators made of a flow's records.

use super::hold::MeasuredRepeats;
use crate::statistics::Spread;
use crate::summary::MirrorSummary;
use kgauge_results::run::MirrorRecord;
use kgauge_results::stage::Stage;

/// The copies of a flow's records, over all its repeats.
pub(super) fn mirror(index: u16, measured: &MeasuredRepeats<'_>) -> Option<MirrorSummary> {
    let records = measured.repeats.iter().filter_map(|repeat| {
        let flow = repeat.record.as_ref()?.flows.get(usize::from(index))?;
        let hold_ns = flow.stage(Stage::Hold)?.length_ns();
        Some((flow.mirror.as_ref()?, hold_ns))
    });
    let all: Vec<(&MirrorRecord, u64)> = records.collect();
    let sum = |of: fn(&MirrorRecord) -> u64| {
        let values = all.iter().map(|(one, _)| of(one));
        values.fold(0, u64::saturating_add)
    };
    let spread = |of: &dyn Fn(&MirrorRecord, u64) -> Option<f64>| {
        let values = all.iter().map(|(one, hold_ns)| of(one, *hold_ns));
        Spread::of(&values.collect::<Option<Vec<_>>>()?)
    };
    Some(MirrorSummary {
        replicator: all.first()?.0.replicator.clone(),
        acked: sum(|one| one.acked),
        missing: sum(|one| one.missing),
        doubled: sum(|one| one.doubled),
        unsure: sum(|one| one.unsure),
        counted: all.iter().map(|(one, _)| one.counted).sum(),
        behind_records_max: spread(&|one, _| Some(one.behind_records_max as f64))?,
        caught_up_s: spread(&|one, _| Some(one.caught_up_ns? as f64 / 1e9)),
        replicator_cores: spread(&|one, hold_ns| {
            let cpu_ns = one.replicator_cpu_ns.filter(|_| hold_ns > 0)?;
            Some(cpu_ns as f64 / hold_ns as f64)
        }),
    })
}
