//! A table similar to ETTh1: seven hourly channels of a transformer station, quantized, with a daily cycle and stuck
//! readings, 30 % of the cells held out.

use catena::data::InputPoints;
use catena::kernel::Kernel;
use catena::units::LengthScale;
use std::f64::consts::TAU;

use crate::process_draws::draw_on_line;
use crate::random::SeededDraws;
use catena_studies::gap_table::GapTable;

/// The composition of a channel.
struct Channel {
    level: f64,
    /// Weights of the season (weeks), the load (hours) and the daily cycle.
    season: f64,
    load: f64,
    cycle: f64,
    /// Delay of its daily cycle, in hours.
    delay: f64,
    /// Standard deviation and length-scale (hours) of its private process.
    own: (f64, f64),
    /// Readings are multiples of this.
    step: f64,
}

/// Useful and useless load at three voltage levels, and the oil temperature, which is slow.
const CHANNELS: [Channel; 7] = [
    Channel { level: 7.4, season: 1.5, load: 2.0, cycle: 3.0, delay: 0.0, own: (0.8, 3.0), step: 0.067 },
    Channel { level: 2.2, season: 1.2, load: 0.6, cycle: 0.7, delay: 1.0, own: (1.0, 5.0), step: 0.067 },
    Channel { level: 4.3, season: 1.0, load: 1.9, cycle: 2.8, delay: 0.0, own: (0.6, 2.0), step: 0.035 },
    Channel { level: 0.9, season: 1.1, load: 0.5, cycle: 0.6, delay: 1.0, own: (0.7, 5.0), step: 0.035 },
    Channel { level: 3.1, season: 0.5, load: 0.5, cycle: 0.4, delay: 3.0, own: (0.7, 20.0), step: 0.03 },
    Channel { level: 0.9, season: 0.4, load: 0.1, cycle: 0.1, delay: 3.0, own: (0.3, 60.0), step: 0.03 },
    Channel { level: 13.3, season: 7.0, load: 0.5, cycle: 1.8, delay: 6.0, own: (2.0, 50.0), step: 0.07 },
];

/// The fraction of stuck readings: the row repeats the one before.
const STUCK: f64 = 0.04;
const HIDDEN: f64 = 0.3;

/// The first `n_rows` hours of the station of this seed.
///
/// # Panics
/// If there are no rows.
pub fn station_table(n_rows: usize, seed: u64) -> GapTable {
    let mut draws = SeededDraws::new(seed);
    let hours: Vec<f64> = (0..n_rows).map(|row| row as f64).collect();
    let mut process = |kernel: Kernel, length: f64| {
        draw_on_line(kernel, LengthScale::new(length).unwrap(), &hours, &mut draws)
    };
    let season = process(Kernel::Matern32, 500.0);
    let load = process(Kernel::Matern12, 12.0);
    let swing = process(Kernel::Matern32, 200.0);
    let own: Vec<Vec<f64>> =
        CHANNELS.iter().map(|channel| process(Kernel::Matern12, channel.own.1)).collect();
    let mut values: Vec<f64> = Vec::with_capacity(n_rows * CHANNELS.len());
    for row in 0..n_rows {
        if row > 0 && draws.chance(STUCK) {
            values.extend_from_within(values.len() - CHANNELS.len()..);
            continue;
        }
        for (channel, own) in CHANNELS.iter().zip(&own) {
            let phase = TAU * (hours[row] - channel.delay) / 24.0;
            // A day has a broad maximum in the morning and a peak in the evening; its amplitude drifts over weeks.
            let day = (1.0 + 0.3 * swing[row]) * ((phase - 4.0).sin() + 0.5 * (2.0 * phase).sin());
            let value = channel.level
                + channel.season * season[row]
                + channel.load * load[row]
                + channel.cycle * day
                + channel.own.0 * own[row];
            values.push((value / channel.step).round() * channel.step);
        }
    }
    let hide: Vec<usize> = (0..values.len()).filter(|_| draws.chance(HIDDEN)).collect();
    let inputs = InputPoints::from_column(hours).unwrap();
    GapTable::new(format!("station, {n_rows} rows"), inputs, CHANNELS.len(), values, hide).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The complete table, channel by channel.
    fn channels(table: &GapTable) -> Vec<Vec<f64>> {
        let mut values = table.values.clone();
        table.hidden.iter().for_each(|&(at, value)| values[at] = value);
        (0..7).map(|channel| values.iter().skip(channel).step_by(7).copied().collect()).collect()
    }

    fn correlation(a: &[f64], b: &[f64]) -> f64 {
        let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len() as f64;
        let (center_a, center_b) = (mean(a), mean(b));
        let products = |a: &[f64], b: &[f64], of_a: f64, of_b: f64| -> f64 {
            a.iter().zip(b).map(|(a, b)| (a - of_a) * (b - of_b)).sum()
        };
        let variances = products(a, a, center_a, center_a) * products(b, b, center_b, center_b);
        products(a, b, center_a, center_b) / variances.sqrt()
    }

    fn at_lag(channel: &[f64], lag: usize) -> f64 {
        correlation(&channel[lag..], &channel[..channel.len() - lag])
    }

    #[test]
    fn the_station_has_its_stated_properties() {
        let table = station_table(4000, 1);
        let complete = channels(&table);
        assert!(complete.iter().all(|channel| channel.len() == 4000));
        // Five standard errors of 28 000 draws.
        let hidden = table.hidden.len() as f64 / 28_000.0;
        assert!((hidden - 0.3).abs() < 5.0 * (0.21_f64 / 28_000.0).sqrt(), "{hidden}");
        for (channel, recipe) in complete.iter().zip(&CHANNELS) {
            assert!((0.01..=0.1).contains(&recipe.step));
            assert!(
                channel
                    .iter()
                    .all(|value| (value / recipe.step - (value / recipe.step).round()).abs() < 1e-9)
            );
        }
        let repeats =
            (1..4000).filter(|&row| complete.iter().all(|channel| channel[row] == channel[row - 1]));
        let repeats = repeats.count() as f64 / 4000.0;
        assert!((repeats - STUCK).abs() < 5.0 * (STUCK / 4000.0).sqrt(), "{repeats}");
        for busy in [0, 2] {
            assert!(at_lag(&complete[busy], 24) > at_lag(&complete[busy], 12) + 0.2, "channel {busy}");
        }
        assert!(correlation(&complete[0], &complete[2]) > 0.9);
        // Roughness: one minus the correlation at a lag of one hour.
        let roughness: Vec<f64> = complete.iter().map(|channel| 1.0 - at_lag(channel, 1)).collect();
        let smoothest = roughness.iter().copied().fold(f64::INFINITY, f64::min);
        let roughest = roughness.iter().copied().fold(0.0, f64::max);
        assert!(roughest > 5.0 * smoothest, "{roughness:?}");
    }

    #[test]
    fn the_same_seed_is_the_same_station() {
        let (first, second, other) = (station_table(300, 5), station_table(300, 5), station_table(300, 6));
        assert_eq!(first.hidden, second.hidden);
        let bits = |table: &GapTable| table.values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&first), bits(&second));
        assert_ne!(bits(&first), bits(&other));
    }
}
