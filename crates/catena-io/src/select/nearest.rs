//! Finds the name a user probably meant.

/// The candidate nearest to a misspelled name, or `None` if nothing is near. Case does not count; ties go to the first.
pub fn nearest_name<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = name.to_lowercase();
    let most = (wanted.chars().count() / 3).max(2);
    let scored = candidates
        .into_iter()
        .map(|candidate| (edit_distance(&wanted, &candidate.to_lowercase()), candidate));
    // A candidate with every letter changed is no candidate.
    let near =
        scored.filter(|(distance, candidate)| *distance <= most && *distance < candidate.chars().count());
    near.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// How many letters must be inserted, removed, replaced or swapped with their neighbor to get from one text to the other.
fn edit_distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    // Three rows of the table of distances between beginnings: swaps look two rows back.
    let mut before: Vec<usize> = vec![];
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, letter) in left.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, other) in right.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != other);
            let mut distance = replaced.min(last[column + 1] + 1).min(current[column] + 1);
            if row > 0 && column > 0 && *letter == right[column - 1] && left[row - 1] == *other {
                distance = distance.min(before[column - 1] + 1);
            }
            current.push(distance);
        }
        before = last;
        last = current;
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, without memory.
    fn slow_distance(left: &[char], right: &[char]) -> usize {
        match (left, right) {
            ([], rest) | (rest, []) => rest.len(),
            ([first, left_rest @ ..], [other, right_rest @ ..]) => {
                let replaced = slow_distance(left_rest, right_rest) + usize::from(first != other);
                let removed = slow_distance(left_rest, right) + 1;
                let swapped = match (left, right) {
                    ([a, b, left @ ..], [c, d, right @ ..]) if a == d && b == c => {
                        slow_distance(left, right) + 1
                    }
                    _ => usize::MAX,
                };
                replaced.min(removed).min(slow_distance(left, right_rest) + 1).min(swapped)
            }
        }
    }

    #[test]
    fn distances_follow_the_definition() {
        for (left, right) in
            [("temp", "tmep"), ("", "abc"), ("kitten", "sitting"), ("x", "x"), ("dewp", "temp")]
        {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            assert_eq!(edit_distance(left, right), slow_distance(&letters(left), &letters(right)));
        }
    }

    #[test]
    fn the_nearest_name_is_suggested_only_if_near() {
        let names = ["time", "temp", "dew_point", "pressure"];
        assert_eq!(nearest_name("Temp", names), Some("temp"));
        assert_eq!(nearest_name("tmep", names), Some("temp"));
        assert_eq!(nearest_name("dewpoint", names), Some("dew_point"));
        assert_eq!(nearest_name("humidity", names), None);
        assert_eq!(nearest_name("zz", ["a", "b"]), None);
    }
}
