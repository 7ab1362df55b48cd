//! Tables of the text reports: every table is lines of cells, each cell aligned in a [`Column`].

use crate::layout;

/// The alignment of a column's cells, in this many columns of the terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Column {
    /// Blanks after the cell.
    Left(usize),
    /// Blanks before the cell.
    Right(usize),
}

/// Returns one line of a table. A cell that is wider than its column moves those after it.
pub(crate) fn line<T: AsRef<str>>(
    columns: impl IntoIterator<Item = Column>,
    cells: impl IntoIterator<Item = T>,
) -> String {
    let pairs = columns.into_iter().zip(cells);
    let aligned = pairs.map(|(column, cell)| match column {
        Column::Left(width) => layout::left(cell.as_ref(), width),
        Column::Right(width) => layout::right(cell.as_ref(), width),
    });
    aligned.collect()
}

/// The name of a row, which is indented below the table's heading.
pub(crate) fn indented(name: &str) -> String {
    format!("  {name}")
}

/// Columns that the widest of these cells takes.
pub(crate) fn widest<T: AsRef<str>>(cells: impl IntoIterator<Item = T>) -> usize {
    let widths = cells.into_iter().map(|cell| layout::width(cell.as_ref()));
    widths.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_aligned_and_a_wide_one_moves_the_rest() {
        let columns = [Column::Left(6), Column::Right(5), Column::Right(4)];
        assert_eq!(line(columns, ["  p50", "12", "µs"]), "  p50    12  µs");
        assert_eq!(line(columns, ["a", "1234567", "8"]), "a     1234567   8");
        assert_eq!(widest(["µs", "20 000", ""]), 6);
        assert_eq!(widest::<&str>([]), 0);
    }
}
