//! Least squares with coefficients that cannot be negative.
//!
//! A request, a batch or a byte costs time; none gives time back. Lawson and Hanson's active-set method finds the
//! exact solution ("Solving Least Squares Problems", 1974, chapter 23). The problems here have at most a dozen columns.

/// Smallest pivot, and smallest gradient, that count as different from 0; columns are scaled to a length of 1.
const TINY: f64 = 1e-10;

/// The non-negative `x` with the least |`rows`·x − `values`|². Rows must have the same length.
///
/// Columns without a value get 0. Equal columns share no cost: the first takes all of it, which gives the same
/// predictions.
pub(super) fn non_negative_least_squares(rows: &[Vec<f64>], values: &[f64]) -> Vec<f64> {
    let width = rows.first().map_or(0, Vec::len);
    let lengths: Vec<f64> = (0..width).map(|column| length(rows, column)).collect();
    let scaled: Vec<Vec<f64>> = rows.iter().map(|row| divided(row, &lengths)).collect();
    let mut free = vec![false; width];
    let mut solution = vec![0.0; width];
    // Each round frees one column; a column leaves only when another came in, so few rounds are ever needed.
    for _ in 0..10 * width {
        let gradient = gradient(&scaled, values, &solution);
        let candidates = (0..width).filter(|&column| !free[column] && lengths[column] > 0.0);
        let steepest = candidates.max_by(|&one, &other| gradient[one].total_cmp(&gradient[other]));
        let Some(column) = steepest.filter(|&column| gradient[column] > TINY) else {
            break;
        };
        free[column] = true;
        step(&scaled, values, &mut free, &mut solution);
    }
    divided(&solution, &lengths)
}

/// Moves to the best solution of the free columns, and back to the border where one would become negative.
fn step(rows: &[Vec<f64>], values: &[f64], free: &mut [bool], solution: &mut [f64]) {
    loop {
        let best = unbounded(rows, values, free);
        let crossing = |column: usize| free[column] && best[column] <= 0.0;
        let shares = (0..best.len())
            .filter(|&column| crossing(column))
            .map(|column| {
                let way = solution[column] - best[column];
                if way > 0.0 {
                    solution[column] / way
                } else {
                    0.0
                }
            });
        let Some(share) = shares.min_by(f64::total_cmp) else {
            solution.copy_from_slice(&best);
            return;
        };
        for (value, best) in solution.iter_mut().zip(&best) {
            *value += share * (best - *value);
        }
        for (column, is_free) in free.iter_mut().enumerate() {
            if *is_free && best[column] <= 0.0 && solution[column] <= TINY {
                *is_free = false;
                solution[column] = 0.0;
            }
        }
    }
}

/// The least squares of the free columns alone, by the normal equations; the others are 0.
fn unbounded(rows: &[Vec<f64>], values: &[f64], free: &[bool]) -> Vec<f64> {
    let columns: Vec<usize> = (0..free.len()).filter(|&column| free[column]).collect();
    let product =
        |one: usize, other: usize| rows.iter().map(|row| row[one] * row[other]).sum::<f64>();
    let mut matrix: Vec<Vec<f64>> = columns
        .iter()
        .map(|&one| {
            let mut line: Vec<f64> = columns.iter().map(|&other| product(one, other)).collect();
            line.push(
                rows.iter()
                    .zip(values)
                    .map(|(row, value)| row[one] * value)
                    .sum(),
            );
            line
        })
        .collect();
    let mut solution = vec![0.0; free.len()];
    for (column, value) in columns.iter().zip(eliminated(&mut matrix)) {
        solution[*column] = value;
    }
    solution
}

/// Gauss's elimination with the largest pivot; a column without one gets 0.
fn eliminated(matrix: &mut [Vec<f64>]) -> Vec<f64> {
    let size = matrix.len();
    // The column that each row is solved for. A column without a pivot takes no row: the row may be another one's.
    let mut solved: Vec<usize> = Vec::new();
    for column in 0..size {
        let next = solved.len();
        let largest = (next..size).max_by(|&one, &other| {
            matrix[one][column]
                .abs()
                .total_cmp(&matrix[other][column].abs())
        });
        let Some(largest) = largest.filter(|&row| matrix[row][column].abs() > TINY) else {
            continue;
        };
        solved.push(column);
        matrix.swap(next, largest);
        let pivot = matrix[next].clone();
        for (row, line) in matrix.iter_mut().enumerate() {
            let factor = if row == next {
                0.0
            } else {
                line[column] / pivot[column]
            };
            line.iter_mut()
                .zip(&pivot)
                .for_each(|(value, above)| *value -= factor * above);
        }
    }
    let mut solution = vec![0.0; size];
    for (row, column) in solved.into_iter().enumerate() {
        solution[column] = matrix[row][size] / matrix[row][column];
    }
    solution
}

/// Half the steepest way down, column by column.
fn gradient(rows: &[Vec<f64>], values: &[f64], solution: &[f64]) -> Vec<f64> {
    let mut gradient = vec![0.0; solution.len()];
    for (row, value) in rows.iter().zip(values) {
        let predicted: f64 = row
            .iter()
            .zip(solution)
            .map(|(cell, part)| cell * part)
            .sum();
        for (total, cell) in gradient.iter_mut().zip(row) {
            *total += cell * (value - predicted);
        }
    }
    gradient
}

fn length(rows: &[Vec<f64>], column: usize) -> f64 {
    rows.iter()
        .map(|row| row[column].powi(2))
        .sum::<f64>()
        .sqrt()
}

/// Each cell by its column's length; 0 in a column without values.
fn divided(cells: &[f64], lengths: &[f64]) -> Vec<f64> {
    let pairs = cells.iter().zip(lengths);
    pairs
        .map(|(cell, length)| if *length > 0.0 { cell / length } else { 0.0 })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: &[f64], truth: &[f64]) {
        assert_eq!(found.len(), truth.len());
        for (found, truth) in found.iter().zip(truth) {
            assert!(
                (found - truth).abs() < 1e-9 * truth.abs().max(1.0),
                "{found} is not {truth}"
            );
        }
    }

    #[test]
    fn an_exact_system_is_solved() {
        let rows = [vec![1.0, 2.0], vec![3.0, 1.0], vec![0.0, 5.0]];
        near(
            &non_negative_least_squares(&rows, &[8.0, 9.0, 15.0]),
            &[2.0, 3.0],
        );
    }

    /// Without the bound, 2 points (1, 1) and (2, 0) give the line 2 - x; with it, the slope is 0 and the constant 1/2.
    #[test]
    fn a_coefficient_that_would_be_negative_is_0() {
        let rows = [vec![1.0, 1.0], vec![1.0, 2.0]];
        near(&non_negative_least_squares(&rows, &[1.0, 0.0]), &[0.5, 0.0]);
    }

    #[test]
    fn sizes_of_columns_do_not_matter() {
        let rows = [vec![1e9, 1e-6], vec![2e9, 3e-6], vec![5e9, 1e-6]];
        let values: Vec<f64> = rows
            .iter()
            .map(|row| 4e-9 * row[0] + 7e6 * row[1])
            .collect();
        near(&non_negative_least_squares(&rows, &values), &[4e-9, 7e6]);
    }

    #[test]
    fn equal_columns_give_the_same_sum() {
        let rows = [vec![1.0, 1.0], vec![2.0, 2.0]];
        let found = non_negative_least_squares(&rows, &[3.0, 6.0]);
        near(&[found[0] + found[1]], &[3.0]);
        assert!(non_negative_least_squares(&[], &[]).is_empty());
        near(&non_negative_least_squares(&[vec![0.0]], &[1.0]), &[0.0]);
    }

    /// The third column is the sum of the first two, so its row of the normal equations says nothing new; that of the
    /// fourth does, wherever the pivots put it.
    #[test]
    fn a_column_that_others_make_up_takes_no_equation_from_the_rest() {
        let rows = [
            [1.0, 0.0, 1.0, 20.0],
            [0.0, 1.0, 1.0, 10.0],
            [1.0, 1.0, 2.0, 50.0],
            [2.0, 1.0, 3.0, 0.0],
            [1.0, 3.0, 4.0, 10.0],
        ]
        .map(|row| row.to_vec());
        let values: Vec<f64> = rows
            .iter()
            .map(|row| row[0] + 2.0 * row[1] + 0.3 * row[3])
            .collect();
        let mut matrix = vec![
            vec![1.0, 1.0, 0.0, 3.0],
            vec![1.0, 1.0, 2.0, 7.0],
            vec![0.0, 2.0, 4.0, 12.0],
        ];
        near(&eliminated(&mut matrix), &[1.0, 2.0, 2.0]);
        let mut singular = vec![
            vec![0.0, 0.0, 2.0, 4.0],
            vec![0.0, 3.0, 0.0, 9.0],
            vec![0.0, 0.0, 0.0, 0.0],
        ];
        near(&eliminated(&mut singular), &[0.0, 3.0, 2.0]);
        let found = non_negative_least_squares(&rows, &values);
        for (row, value) in rows.iter().zip(&values) {
            let predicted: f64 = row.iter().zip(&found).map(|(cell, part)| cell * part).sum();
            assert!(
                (predicted - value).abs() < 1e-9,
                "{predicted} is not {value}"
            );
        }
    }
}
