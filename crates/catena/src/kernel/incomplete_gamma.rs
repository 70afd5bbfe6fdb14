//! Lower incomplete gamma functions of integer order, the integrals behind every Matérn process noise.

/// 1/j at index j.
const RECIPROCALS: [f64; 32] = {
    let mut table = [0.0; 32];
    let mut j = 1;
    while j < table.len() {
        table[j] = 1.0 / j as f64;
        j += 1;
    }
    table
};

/// `1 − e^−v Σ_{j≤ORDER} v^j/j!`: the probability that a Poisson(v) count exceeds ORDER, with `decay = e^−v` given.
///
/// Below v = 2 the tail is summed instead of subtracted from 1, which would cancel; 20 terms reach rounding there.
/// At v = 2 the difference loses at most a factor 20 (ORDER = 4) of the last digit.
#[inline(always)]
pub(super) fn poisson_tail<const ORDER: usize>(v: f64, decay: f64) -> f64 {
    if v < 2.0 {
        let mut tail = 1.0;
        for j in (ORDER + 2..ORDER + 22).rev() {
            tail = 1.0 + v * RECIPROCALS[j] * tail;
        }
        let mut leading = decay;
        for j in 1..=ORDER + 1 {
            leading *= v * RECIPROCALS[j];
        }
        leading * tail
    } else {
        let mut head = 1.0;
        for j in (1..=ORDER).rev() {
            head = 1.0 + v * RECIPROCALS[j] * head;
        }
        // e^−v underflows before v overflows the polynomial only in the sense that matters: 0·∞ must be 0.
        1.0 - if decay == 0.0 { 0.0 } else { decay * head }
    }
}
