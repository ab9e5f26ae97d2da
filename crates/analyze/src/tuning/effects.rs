//! The effects of single settings, from a screening.

use kgauge_results::run::TunePhase;

use super::design;
use crate::sequential::ALPHA;
use crate::statistics::{Interval, mean, t_factor};

/// The effect of one setting: by how much its new value changes the logarithm of the figure; positive is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScreenedEffect {
    /// The setting's position.
    pub setting: usize,
    /// The mean over all combinations of the other settings.
    pub gain: f64,
    /// Its interval, by Student's t over what the effects of single settings leave unexplained. All intervals of a
    /// screening hold together with 95 % (Bonferroni), so that a table of many settings has no false effect.
    pub interval: Interval,
}

/// The effects, in the order of the settings; empty before the second block is complete. `sign` is -1 if less is
/// better.
///
/// With orthogonal rows, the estimate of each effect is the difference of the means of both halves, after the mean of
/// each block is taken off. With `N` values in `b` blocks and `k` settings, the residual sum of squares is
/// `S = sum(y^2) - N / 4 sum(effect^2)` with `N - b - k` degrees of freedom, and the standard error of an effect is
/// `2 sqrt(S / (N - b - k) / N)` (D. C. Montgomery, "Design and Analysis of Experiments", chapters 4 and 6).
pub fn screened(phase: &TunePhase, settings: usize, sign: f64) -> Vec<ScreenedEffect> {
    let rows = design::screening(settings);
    let per_block = design::rows_for(settings);
    let mut seen: Vec<(&[bool], f64)> = Vec::new();
    let mut blocks = 0;
    for block in 0..phase.blocks_started() {
        let first = arms_start(block, per_block);
        let arms = first..first + per_block;
        let values = arms.map(|arm| Some((arm, sign * phase.value(arm, block)?.ln())));
        let Some(values) = values.collect::<Option<Vec<_>>>() else {
            continue;
        };
        let level = mean(values.iter().map(|(_, value)| *value)).unwrap_or_default();
        blocks += 1;
        let rows = values
            .iter()
            .filter_map(|(arm, value)| Some((rows.get(*arm)?, value - level)));
        seen.extend(rows.map(|(row, value)| (row.as_slice(), value)));
    }
    let count = seen.len() as f64;
    let Some(freedom) = seen.len().checked_sub(blocks + settings) else {
        return Vec::new();
    };
    let Some(factor) = t_factor(freedom, ALPHA / settings.max(1) as f64) else {
        return Vec::new();
    };
    let gain = |setting: usize| {
        let signed = seen.iter().map(|(row, value)| match row.get(setting) {
            Some(true) => *value,
            _ => -*value,
        });
        2.0 * signed.sum::<f64>() / count
    };
    let gains: Vec<f64> = (0..settings).map(gain).collect();
    let all: f64 = seen.iter().map(|(_, value)| value * value).sum();
    let explained: f64 = gains.iter().map(|gain| count * gain * gain / 4.0).sum();
    let deviation = ((all - explained).max(0.0) / freedom as f64).sqrt();
    let half = factor * 2.0 * deviation / count.sqrt();
    let effects = gains.into_iter().enumerate();
    let effects = effects.map(|(setting, gain)| ScreenedEffect {
        setting,
        gain,
        interval: Interval {
            low: gain - half,
            high: gain + half,
        },
    });
    effects.collect()
}

/// The first arm of a block: plain and mirrored rows take turns.
pub(super) fn arms_start(block: u32, per_block: usize) -> usize {
    (block as usize % 2) * per_block
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use kgauge_results::run::{TuneArm, TuneMeasure, TunePhaseKind};

    use super::*;

    /// A screening whose figure is the product of 1.1 for each new value of the first setting and `rest` in a row.
    fn phase(settings: usize, blocks: u32, figure: impl Fn(&[bool], usize) -> f64) -> TunePhase {
        let rows = design::screening(settings);
        let per_block = design::rows_for(settings);
        let mut measures = Vec::new();
        for block in 0..blocks {
            let first = arms_start(block, per_block);
            for (arm, row) in rows.iter().enumerate().skip(first).take(per_block) {
                measures.push(TuneMeasure {
                    arm: u32::try_from(arm).unwrap(),
                    block,
                    repeat: block,
                    value: Some(figure(row, measures.len())),
                    keep: Vec::new(),
                    void: None,
                    took_ns: 1,
                });
            }
        }
        TunePhase {
            kind: TunePhaseKind::Screening,
            arms: vec![TuneArm::default(); rows.len()],
            blocks: Some(blocks),
            measures,
        }
    }

    #[test]
    fn effects_come_out_exactly_without_noise_and_blocks_may_drift() {
        let figure = |row: &[bool], index: usize| {
            let drift = if index >= 8 { 1.3 } else { 1.0 };
            let first = if row[0] { 1.1 } else { 1.0 };
            let second = if row[1] { 0.8 } else { 1.0 };
            1_000.0 * drift * first * second
        };
        let effects = screened(&phase(5, 2, figure), 5, 1.0);
        let expected = [1.1_f64.ln(), 0.8_f64.ln(), 0.0, 0.0, 0.0];
        for (effect, expected) in effects.iter().zip(expected) {
            assert!((effect.gain - expected).abs() < 1e-12, "{effect:?}");
            assert!(
                effect.interval.high - effect.interval.low < 1e-6,
                "{effect:?}"
            );
        }
        let less_is_better = screened(&phase(5, 2, figure), 5, -1.0);
        assert!((less_is_better[1].gain - 1.25_f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn what_two_settings_do_together_widens_the_intervals_and_moves_no_effect() {
        let figure = |row: &[bool], _: usize| if row[0] && row[1] { 1.2 } else { 1.0 };
        let effects = screened(&phase(4, 2, figure), 4, 1.0);
        let half = 1.2_f64.ln() / 2.0;
        assert!((effects[0].gain - half).abs() < 1e-12, "{effects:?}");
        assert!(effects[2].gain.abs() < 1e-12 && effects[3].gain.abs() < 1e-12);
        assert!(effects[2].interval.high > 0.03, "{effects:?}");
    }

    #[test]
    fn an_interval_is_that_of_the_formula() {
        // Three settings in two blocks of four rows. The first row is 0.04 above the others, so after the mean of its
        // block is taken off it is 0.03, and the other three rows are -0.01: the sum of squares is 0.0012.
        let figure = |_: &[bool], index: usize| if index == 0 { 0.04_f64.exp() } else { 1.0 };
        let effects = screened(&phase(3, 2, figure), 3, 1.0);
        // Each effect is plus or minus 2 * 0.04 / 8.
        let explained = 3.0 * 8.0 / 4.0 * 0.01_f64.powi(2);
        let deviation = ((0.0012 - explained) / 3.0_f64).sqrt();
        let half = t_factor(3, 0.05 / 3.0).unwrap() * 2.0 * deviation / 8.0_f64.sqrt();
        for effect in &effects {
            assert!((effect.gain.abs() - 0.01).abs() < 1e-12, "{effect:?}");
            let width = effect.interval.high - effect.interval.low;
            assert!((width - 2.0 * half).abs() < 1e-9, "{effect:?}");
        }
    }

    #[test]
    fn a_block_that_is_not_complete_does_not_count() {
        let mut phase = phase(3, 2, |_, _| 1.0);
        phase.measures.pop();
        assert_eq!(screened(&phase, 3, 1.0), []);
    }
}
