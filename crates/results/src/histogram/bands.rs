//! Counts in bands of equal width on a log axis, for charts of a distribution.

use super::Histogram;

/// Bands per decade: each ends 26 % above the one below it.
pub const BANDS_A_DECADE: u32 = 10;

/// 10^(k/10) for k from 0 to 9, in hundred-millionths: as integers, so that borders are the same everywhere.
const STEPS: [u64; BANDS_A_DECADE as usize] = [
    100_000_000,
    125_892_541,
    158_489_319,
    199_526_231,
    251_188_643,
    316_227_766,
    398_107_171,
    501_187_234,
    630_957_344,
    794_328_235,
];
/// The denominator of [`STEPS`].
const WHOLE: u128 = 100_000_000;

/// The smallest time in a band, rounded to whole nanoseconds. Below 10 ns borders coincide, and bands are empty.
fn band_floor_ns(band: u8) -> u64 {
    let (decade, step) = (
        u32::from(band) / BANDS_A_DECADE,
        u32::from(band) % BANDS_A_DECADE,
    );
    let scaled = u128::from(STEPS[step as usize]) * 10_u128.pow(decade);
    u64::try_from((scaled + WHOLE / 2) / WHOLE).unwrap_or(u64::MAX)
}

impl Histogram {
    /// The number of times in each non-empty band, ascending. A histogram bucket belongs to the band of its largest
    /// time, so borders are accurate to 0.1 %. A time of 0 is in the lowest band.
    pub fn bands(&self) -> Vec<(u8, u64)> {
        let mut bands: Vec<(u8, u64)> = Vec::new();
        let (mut band, mut next_ns) = (0_u8, band_floor_ns(1));
        for (top_ns, count) in self.buckets() {
            while band < u8::MAX - 1 && next_ns <= top_ns {
                band += 1;
                next_ns = band_floor_ns(band + 1);
            }
            match bands.last_mut() {
                Some((last, sum)) if *last == band => *sum = sum.saturating_add(count),
                _ => bands.push((band, count)),
            }
        }
        bands
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_bands_make_a_decade() {
        assert_eq!(band_floor_ns(0), 1);
        assert_eq!(band_floor_ns(60), 1_000_000);
        assert_eq!(band_floor_ns(63), 1_995_262);
        assert_eq!(band_floor_ns(90), 1_000_000_000);
        assert_eq!(band_floor_ns(u8::MAX), u64::MAX);
        assert!((1..=u8::MAX).all(|band| band_floor_ns(band - 1) <= band_floor_ns(band)));
    }

    #[test]
    fn every_time_lies_in_one_band_and_none_is_lost() {
        let mut times = Histogram::new();
        times.record(0, 2, 0);
        times.record(999_000, 3, 0);
        times.record(1_002_000, 5, 0);
        times.record(1_200_000, 7, 0);
        times.record(u64::MAX, 1, 0);
        let bands = times.bands();
        assert_eq!(bands[..3], [(0, 2), (59, 3), (60, 12)]);
        assert_eq!(bands.iter().map(|(_, count)| count).sum::<u64>(), 18);
        assert!(Histogram::new().bands().is_empty());
    }
}
