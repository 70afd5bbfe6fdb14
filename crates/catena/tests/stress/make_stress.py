"""Makes the stress fixture: exact posteriors of hard chains, computed densely in 80 digits.

Usage: python3 make_stress.py > stress.txt        (needs mpmath; about three minutes of one core)

Each case is a chain of C = 200 sorted inputs with two latents in derivative states and two outputs, half of the cells
missing. The covariance of all observed cells is written down from the kernels' closed forms over the *path length*,
which is the exact sum of the gaps as an f64 program sees them (|x_i - x_(i-1)| rounded to f64), and solved by
Cholesky. Numbers that go in are f64 and printed in hexadecimal; numbers that come out have 25 digits.
"""

import random

from mpmath import mp, mpf

mp.dps = 80
POINTS = 200


def correlation(kernel, distance, length_scale):
    if kernel == "matern12":
        return mp.exp(-distance / length_scale)
    if kernel == "matern32":
        u = mp.sqrt(3) * distance / length_scale
        return (1 + u) * mp.exp(-u)
    u = mp.sqrt(5) * distance / length_scale
    return (1 + u + u * u / 3) * mp.exp(-u)


def log_uniform(generator, low, high):
    return 10.0 ** generator.uniform(low, high)


def accumulate(gaps):
    place, places = 0.0, []
    for gap in gaps:
        place += gap
        places.append(place)
    return places


def zero_gaps(generator):
    return accumulate(0.0 if generator.random() < 0.3 else generator.uniform(0.01, 0.3) for _ in range(POINTS))


def small_gaps(generator):
    return accumulate(log_uniform(generator, -6, -3) for _ in range(POINTS))


def large_gaps(generator):
    return accumulate(log_uniform(generator, -3, 6) for _ in range(POINTS))


def duplicates(generator):
    return accumulate(0.0 if generator.random() < 0.3 else generator.uniform(0.0, 0.2) for _ in range(POINTS))


def even_gaps(generator):
    return accumulate(generator.uniform(0.0, 0.2) for _ in range(POINTS))


def minute_gaps(generator):
    return accumulate(log_uniform(generator, -12, -8) for _ in range(POINTS))


CASES = [
    ("zero_gaps", zero_gaps, [1.0, 2.5], [0.01, 0.05]),
    ("small_gaps", small_gaps, [1.0, 0.3], [0.01, 0.05]),
    ("gaps_up_to_a_million", large_gaps, [1.0, 2.5], [0.01, 0.05]),
    ("noise_1e-8_with_duplicates", duplicates, [1.0, 2.5], [1e-8, 1e-8]),
    ("length_scale_1e4_noise_1e-6", even_gaps, [1e4, 1e4], [1e-6, 1e-6]),
    ("minute_gaps_noise_1e-8", minute_gaps, [1.0, 2.5], [1e-8, 1e-8]),
]
KERNELS = [("matern32", "matern32"), ("matern12", "matern52")]
MIXING = [[0.8, -0.6], [0.5, 1.1]]


def cholesky(matrix):
    """The lower factor, row by row."""
    factor = []
    for i, given in enumerate(matrix):
        row = []
        for j in range(i):
            row.append((given[j] - mp.fdot(row, factor[j][:j])) / factor[j][j])
        row.append(mp.sqrt(given[i] - mp.fdot(row, row)))
        factor.append(row)
    return factor


def solve_lower(factor, right):
    solved = []
    for row, value in zip(factor, right):
        solved.append((value - mp.fdot(row[:-1], solved)) / row[-1])
    return solved


def exact_posterior(places, values, kernels, length_scales, noise):
    """Means and variances of both outputs at every place, from the observed cells."""
    gaps = [mpf(0)] + [mpf(b - a) for a, b in zip(places, places[1:])]
    path = []
    for gap in gaps:
        path.append((path[-1] if path else mpf(0)) + gap)
    weights = [[mpf(weight) for weight in row] for row in MIXING]
    scales = [mpf(scale) for scale in length_scales]
    correlations = [
        [[correlation(kernel, abs(a - b), scale) for b in path] for a in path] for kernel, scale in zip(kernels, scales)
    ]

    def covariance(i, d, j, e):
        return sum(weights[d][l] * weights[e][l] * correlations[l][i][j] for l in range(2))

    cells = [(i, d) for i in range(len(places)) for d in range(2) if values[i][d] is not None]
    matrix = [[covariance(*a, *b) + (mpf(noise[a[1]]) if a == b else 0) for b in cells] for a in cells]
    factor = cholesky(matrix)
    whitened_values = solve_lower(factor, [mpf(values[i][d]) for i, d in cells])
    posterior = []
    for i in range(len(places)):
        row = []
        for d in range(2):
            whitened = solve_lower(factor, [covariance(i, d, *cell) for cell in cells])
            mean = mp.fdot(whitened, whitened_values)
            row.append((mean, covariance(i, d, i, d) - mp.fdot(whitened, whitened)))
        posterior.append(row)
    log_determinant = 2 * sum(mp.log(row[-1]) for row in factor)
    mahalanobis = mp.fdot(whitened_values, whitened_values)
    evidence = -(mahalanobis + log_determinant + len(cells) * mp.log(2 * mp.pi)) / 2
    return posterior, evidence


def draw_values(generator, places, kernels, length_scales, noise):
    """Values with the sizes the model expects: smooth waves on the model's scales plus noise; None where missing."""
    waves = [[(generator.gauss(0, 0.5), generator.gauss(0, 1), generator.uniform(0, 6.28)) for _ in range(4)] for _ in range(2)]
    table = []
    for place in places:
        latent = [
            sum(size * float(mp.sin(rate * place / scale + phase)) for size, rate, phase in wave)
            for wave, scale in zip(waves, length_scales)
        ]
        row = []
        for d in range(2):
            value = sum(MIXING[d][l] * latent[l] for l in range(2)) + generator.gauss(0, noise[d] ** 0.5)
            row.append(None if generator.random() < 0.5 else value)
        table.append(row)
    return table


def digits(number):
    return mp.nstr(number, 25, min_fixed=0, max_fixed=0)


def main():
    print("# Made by make_stress.py; do not edit. Fields per row: input, two observed values, then mean and variance")
    print("# of each output. Inputs and values are hexadecimal f64, '-' is a missing cell.")
    for kernels in KERNELS:
        for name, builder, length_scales, noise in CASES:
            generator = random.Random(f"{name} {kernels}")
            places = builder(generator)
            values = draw_values(generator, places, kernels, length_scales, noise)
            posterior, evidence = exact_posterior(places, values, kernels, length_scales, noise)
            print("case", name)
            for kernel, scale in zip(kernels, length_scales):
                print("latent", kernel, scale.hex())
            for row, variance in zip(MIXING, noise):
                print("output", *(weight.hex() for weight in row), variance.hex())
            print("log_evidence", digits(evidence))
            print("rows", len(places))
            for place, cells, exact in zip(places, values, posterior):
                shown = ["-" if cell is None else cell.hex() for cell in cells]
                print(place.hex(), *shown, *(digits(number) for pair in exact for number in pair), flush=True)


if __name__ == "__main__":
    main()
