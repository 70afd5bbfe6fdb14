//! The line of each row in its file, stored compactly.

/// Lines of rows. Consecutive rows are almost always on consecutive lines, so only exceptions are stored.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lines {
    /// Rows from which on `line - row` has a new value, ascending.
    breaks: Vec<(usize, u64)>,
}

impl Lines {
    /// Adds the line of the next row.
    pub(crate) fn push(&mut self, row: usize, line: u64) {
        let shift = line - row as u64;
        if self.breaks.last().is_none_or(|&(_, last)| last != shift) {
            self.breaks.push((row, shift));
        }
    }

    pub(crate) fn line_of(&self, row: usize) -> u64 {
        let after = self.breaks.partition_point(|&(first, _)| first <= row);
        let shift = after.checked_sub(1).map_or(2, |last| self.breaks[last].1);
        row as u64 + shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_stored() {
        let noted = [2, 3, 4, 9, 10, 12, 13, 14];
        let mut lines = Lines::default();
        for (row, line) in noted.iter().enumerate() {
            lines.push(row, *line);
        }
        for (row, line) in noted.iter().enumerate() {
            assert_eq!(lines.line_of(row), *line);
        }
        assert_eq!(lines.breaks.len(), 3);
    }
}
