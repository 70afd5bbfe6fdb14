//! Periods to try as seasons: those of the calendar, and peaks of the periodogram that they do not explain.

/// The fewest steps in a period, and the fewest periods in the table.
const FEWEST_STEPS: f64 = 2.0;
const FEWEST_PERIODS: f64 = 2.0;
/// The highest harmonic of a calendar period that a peak may be.
const MOST_HARMONICS: usize = 12;

/// Periods in steps, those of the calendar first, for a table that spans this many steps. A peak within the resolution of the
/// table from a harmonic of a calendar period is that season: a year is not 372 days.
pub(super) fn proposed(calendar: &[f64], peaks: &[f64], span: f64) -> Vec<f64> {
    let fits = |period: &f64| *period >= FEWEST_STEPS * (1.0 - 1e-9) && span >= FEWEST_PERIODS * period;
    let mut periods: Vec<f64> = calendar.iter().copied().filter(fits).collect();
    let n_calendar = periods.len();
    for &peak in peaks {
        let is_harmonic = |period: &f64| {
            (1..=MOST_HARMONICS).any(|order| (1.0 / peak - order as f64 / period).abs() < 1.0 / span)
        };
        if !periods[..n_calendar].iter().any(is_harmonic) {
            periods.push(peak);
        }
    }
    periods
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calendar_periods_replace_the_peaks_that_they_explain() {
        // Twelve years of months: the periodogram cannot tell 12.2 from 12, nor 3.95 from 4.
        assert_eq!(proposed(&[1.0 / 30.4, 7.0 / 30.4, 12.0], &[12.2, 3.95], 143.0), [12.0]);
        // A peak at forty months is no calendar period, and stays.
        assert_eq!(proposed(&[12.0], &[12.2, 40.0], 143.0), [12.0, 40.0]);
        // Half a year of days has a week, and no year.
        assert_eq!(proposed(&[1.0, 7.0, 365.2425], &[7.01], 180.0), [7.0]);
        // Without a calendar the peaks are all there is.
        assert_eq!(proposed(&[], &[24.0, 168.0], 2000.0), [24.0, 168.0]);
    }
}
