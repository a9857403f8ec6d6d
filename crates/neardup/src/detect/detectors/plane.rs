//! Projects columns of a matrix into a plane, by singular value decomposition.

use nalgebra::{DMatrix, SymmetricEigen};

/// Terms and their weights, ascending by term.
pub(super) type Column = [(u32, f64)];

/// Returns the columns' coordinates in the plane that is nearest to all of them together.
///
/// With `A = U·Σ·Vᵀ`, singular values falling, column `j` has the coordinates `(σ₁·v_j1, σ₂·v_j2)`: its projection on
/// the first two left singular vectors. `V` and `Σ²` are the eigenvectors and eigenvalues of `AᵀA`, which has a row
/// for each column, not for each term.
///
/// The plane is not determined where the second and the third singular value are equal; then it depends on the order
/// of the columns only. The digits are the same on every machine.
///
/// Cost for `k` columns of `n` terms: `k²·n / 2` steps for `AᵀA`, and about `10·k³` for its eigenvectors.
pub(super) fn coordinates(columns: &[&Column]) -> Vec<[f64; 2]> {
    // The library cannot decompose an empty matrix.
    if columns.is_empty() {
        return Vec::new();
    }
    let products = DMatrix::from_fn(columns.len(), columns.len(), |row, column| {
        if row < column { 0.0 } else { dot(columns[row], columns[column]) }
    });
    // Only the lower triangle is read.
    let SymmetricEigen { eigenvectors, eigenvalues } = SymmetricEigen::new(products);
    let mut axes: Vec<usize> = (0..columns.len()).collect();
    axes.sort_by(|&one, &other| eigenvalues[other].total_cmp(&eigenvalues[one]).then(one.cmp(&other)));
    // An eigenvalue of 0 may come out slightly negative.
    let coordinate = |place: usize, column: usize| {
        axes.get(place).map_or(0.0, |&axis| eigenvectors[(column, axis)] * libm::sqrt(eigenvalues[axis].max(0.0)))
    };
    (0..columns.len()).map(|column| [coordinate(0, column), coordinate(1, column)]).collect()
}

/// Returns the cosine of the angle between two points as seen from the origin; 0 if one is at the origin.
pub(super) fn cosine(a: [f64; 2], b: [f64; 2]) -> f64 {
    let product = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
    let norms = libm::sqrt(product(a, a)) * libm::sqrt(product(b, b));
    if norms > 0.0 { product(a, b) / norms } else { 0.0 }
}

fn dot(a: &Column, b: &Column) -> f64 {
    let (mut sum, mut rest) = (0.0, b.iter().peekable());
    for &(term, weight) in a {
        while rest.next_if(|(other, _)| *other < term).is_some() {}
        if let Some((_, other)) = rest.next_if(|(other, _)| *other == term) {
            sum += weight * other;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(columns: &[&[(u32, f64)]]) -> Vec<[f64; 2]> {
        coordinates(columns)
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn two_columns_keep_their_angle_and_their_lengths() {
        let (a, b) = ([(0, 3.0), (1, 4.0)], [(1, 2.0), (2, 1.0)]);
        let points = points(&[&a, &b]);
        assert!(close(cosine(points[0], points[1]), 8.0 / (5.0 * 5_f64.sqrt())));
        assert!(close(points[0][0].hypot(points[0][1]), 5.0));
    }

    #[test]
    fn one_column_or_none_or_an_empty_one_is_no_trouble() {
        assert!(points(&[]).is_empty());
        assert!(close(points(&[&[(7, 2.0)]])[0][0].abs(), 2.0));
        let points = points(&[&[(7, 2.0)], &[]]);
        assert_eq!(cosine(points[0], points[1]), 0.0);
    }

    #[test]
    fn a_plane_cannot_hold_three_directions() {
        // Two heavy directions take the plane; of the third nothing is left in it.
        let columns: [&[(u32, f64)]; 3] = [&[(0, 3.0)], &[(1, 2.0)], &[(2, 1.0)]];
        let points = points(&columns);
        assert!(close(points[2][0], 0.0) && close(points[2][1], 0.0));
        assert!(close(cosine(points[0], points[1]), 0.0));
    }

    #[test]
    fn columns_that_differ_only_off_the_plane_fall_together() {
        // A cosine of 0.62 before, of 1 in the plane.
        let third = |term| [(0, 4.0), (term, 3.1)];
        let (a, b, far) = (third(2), third(3), [(1, 30.0)]);
        let points = points(&[&a, &b, &far]);
        assert!(cosine(points[0], points[1]) > 0.999_999);
    }
}
