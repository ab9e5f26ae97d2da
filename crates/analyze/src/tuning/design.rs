//! Screening designs: few measurements that tell the effects of many settings apart.
//!
//! The rows are those of R. L. Plackett and J. P. Burman ("The design of optimum multifactorial experiments",
//! Biometrika 33, 1946): each setting has its new value in half of the rows, and each pair of settings has all four
//! combinations equally often. The mirror image of the rows as a second block keeps effects of single settings apart
//! from those of pairs (G. E. P. Box and K. B. Wilson, 1951: fold-over).

/// The generating rows, by the number of measurements per block.
const GENERATORS: [&str; 3] = ["++-", "+++-+--", "++-+++---+-"];

/// More settings do not fit into a screening.
pub const SCREENED_MAX: usize = 11;

/// The number of measurements in a block that tells the effects of this number of settings apart.
pub fn rows_for(settings: usize) -> usize {
    let sizes = GENERATORS.iter().map(|row| row.len() + 1);
    let mut fitting = sizes.filter(|rows| *rows > settings);
    fitting.next().unwrap_or(SCREENED_MAX + 1)
}

/// Which settings have their new value in each row; the rows of the mirror image follow.
pub fn screening(settings: usize) -> Vec<Vec<bool>> {
    let rows = rows_for(settings);
    let generators = GENERATORS.iter().find(|row| row.len() + 1 == rows);
    let generator: Vec<bool> = generators.map_or_else(Vec::new, |row| {
        row.bytes().map(|sign| sign == b'+').collect()
    });
    let length = generator.len();
    let row = |shift: usize| -> Vec<bool> {
        let columns = 0..settings.min(length);
        match shift == length {
            true => columns.map(|_| false).collect(),
            false => columns
                .map(|column| generator[(column + length - shift) % length])
                .collect(),
        }
    };
    let plain: Vec<Vec<bool>> = (0..rows).map(row).collect();
    let mirrored = plain
        .iter()
        .map(|row| row.iter().map(|is_new| !is_new).collect());
    plain.iter().cloned().chain(mirrored).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_of_settings_has_all_combinations_equally_often() {
        for settings in 1..=SCREENED_MAX {
            let rows = screening(settings);
            assert_eq!(rows.len(), 2 * rows_for(settings));
            for block in rows.chunks(rows_for(settings)) {
                for a in 0..settings {
                    let new = block.iter().filter(|row| row[a]).count();
                    assert_eq!(2 * new, block.len(), "{settings}: {a}");
                    for b in 0..a {
                        let both = block.iter().filter(|row| row[a] && row[b]).count();
                        assert_eq!(4 * both, block.len(), "{settings}: {a}, {b}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_block_has_one_row_more_than_settings_or_up_to_four() {
        assert_eq!([2, 3, 4, 7, 8, 11].map(rows_for), [4, 4, 8, 8, 12, 12]);
        let rows = screening(3);
        assert_eq!(rows[3], [false; 3], "the settings in force");
        assert_eq!(rows[7], [true; 3]);
    }
}
