//! Suggests the name a user probably meant.

/// The candidate nearest to a misspelled name, or `None` if none is near. Case is ignored; the first of equally near ones wins.
pub fn nearest_name<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = name.to_lowercase();
    let most = (wanted.chars().count() / 3).max(2);
    let distance = |candidate: &str| strsim::osa_distance(&wanted, &candidate.to_lowercase());
    let scored = candidates.into_iter().map(|candidate| (distance(candidate), candidate));
    // A candidate in which every letter differs is not near.
    let near =
        scored.filter(|(distance, candidate)| *distance <= most && *distance < candidate.chars().count());
    near.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

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
