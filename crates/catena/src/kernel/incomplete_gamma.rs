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
/// For small v the tail is summed, since subtracting the head from 1 would cancel; the terms kept are exact to rounding.
/// The difference is used where it loses at most two digits.
#[inline(always)]
pub(super) fn poisson_tail<const ORDER: usize>(v: f64, decay: f64) -> f64 {
    // The higher the order, the smaller the tail, and the later the difference is safe.
    let (switch, terms) = match ORDER {
        0 => (0.1, 11),
        1..=2 => (0.5, 14),
        _ => (2.0, 20),
    };
    if v < switch {
        let mut tail = 1.0;
        for j in (ORDER + 2..ORDER + 2 + terms).rev() {
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
        // Where the exponential has vanished the polynomial may be infinite, and 0·∞ must be 0.
        1.0 - if decay == 0.0 { 0.0 } else { decay * head }
    }
}
