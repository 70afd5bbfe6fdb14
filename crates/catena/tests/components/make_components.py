"""Makes the fixture of the pieces for time: exact steps and their slopes, from definitions evaluated in 80 digits.

Usage: python3 make_components.py > components.txt        (needs mpmath; a few seconds)

One line per case: piece, length-scale, shape, distance (hexadecimal f64, as an f64 program sees them), then A (row-major),
Q (row-major), and the slopes of both in the logarithms of the length-scale and of the shape, with 20 digits. A is the
exponential of the drift by its eigenvalues, Q the integral that the drift's own equation gives; no formula is shared with
the program.
"""

import random

from mpmath import mp, mpf, mpc

mp.dps = 80


def sho(length_scale, quality, distance):
    """exp([[0, 1], [-1, -1/quality]] u) by eigenvalues, and Q = I - A A^T (the stationary covariance is I)."""
    u, b = distance / length_scale, 1 / (2 * quality)
    root = mp.sqrt(mpc(b * b - 1))
    one, two = -b + root, -b - root
    if abs(root) < mpf(10) ** -30:
        decay = mp.exp(-b * u)
        a = [[decay * (1 + u), decay * u], [-decay * u, decay * (1 - u)]]
    else:
        e1, e2 = mp.exp(one * u), mp.exp(two * u)
        gap = one - two
        a = [[(one * e2 - two * e1) / gap, (e1 - e2) / gap], [one * two * (e2 - e1) / gap, (one * e1 - two * e2) / gap]]
        a = [[entry.real for entry in row] for row in a]
    q = [[(1 if i == j else 0) - sum(a[i][k] * a[j][k] for k in range(2)) for j in range(2)] for i in range(2)]
    return a, q


def qp(length_scale, period, distance):
    decay, angle = mp.exp(-distance / length_scale), 2 * mp.pi * distance / period
    a = [[decay * mp.cos(angle), decay * mp.sin(angle)], [-decay * mp.sin(angle), decay * mp.cos(angle)]]
    noise = 1 - mp.exp(-2 * distance / length_scale)
    return a, [[noise, mpf(0)], [mpf(0), noise]]


def rw(length_scale, _shape, distance):
    return [[mpf(1)]], [[distance / length_scale]]


def llt(length_scale, _shape, distance):
    u = distance / length_scale
    return [[mpf(1), u], [mpf(0), mpf(1)]], [[u**3 / 3, u**2 / 2], [u**2 / 2, u]]


def dt(length_scale, _shape, distance):
    """A and Q from the exponential of a block matrix (Van Loan)."""
    u = distance / length_scale
    drift, diffusion = mp.matrix([[0, 1], [0, -1]]), mp.matrix([[0, 0], [0, 2]])
    block = mp.zeros(4, 4)
    for i in range(2):
        for j in range(2):
            block[i, j] = -drift[i, j] * u
            block[i, j + 2] = diffusion[i, j] * u
            block[i + 2, j + 2] = drift[j, i] * u
    whole = mp.expm(block, method="taylor")
    a = whole[2:4, 2:4].T
    q = a * whole[0:2, 2:4]
    return a.tolist(), q.tolist()


PIECES = {"sho": sho, "qp": qp, "rw": rw, "llt": llt, "dt": dt}


def flat(step):
    return [entry for matrix in step for row in matrix for entry in row]


def log_slope(function, value):
    """By central differences in the logarithm; a step of 1e-20 is off by 1e-40."""
    step = mpf(10) ** -20
    high, low = function(value * mp.exp(step)), function(value * mp.exp(-step))
    return [(a - b) / (2 * step) for a, b in zip(high, low)]


def write(name, length_scale, shape, distance):
    piece = PIECES[name]
    scale, form, gap = mpf(length_scale), mpf(shape), mpf(distance)
    numbers = flat(piece(scale, form, gap))
    numbers += log_slope(lambda value: flat(piece(value, form, gap)), scale)
    numbers += log_slope(lambda value: flat(piece(scale, value, gap)), form)
    inputs = [float(value).hex() for value in (length_scale, shape, distance)]
    print(name, *inputs, *(mp.nstr(number, 20) for number in numbers))


generator = random.Random(5)
for _ in range(200):
    distance = 10 ** generator.uniform(-8, 1.5)
    write("sho", 10 ** generator.uniform(-0.5, 3), 10 ** generator.uniform(-1, 1.7), distance)
for quality in (0.5, 0.5 * (1 + 1e-12), 0.5 * (1 - 1e-9), 0.4999, 0.5001, 0.49, 0.51, 0.45, 0.6):
    for distance in (1e-8, 1e-4, 0.03, 0.5, 1.0, 1.49, 1.51, 3.0, 10.0, 40.0):
        write("sho", 1.0, quality, distance)
for exponent in (-6, -5, -4, -3, -2, 2, 3, 4, 6, 8, 12):
    quality = 10.0**exponent
    slowest = max(1.0, 0.5 / quality)
    for time in (0.01, 0.3, 0.99, 1.01, 1.49, 1.51, 1.7, 2.5, 6.0, 30.0, 400.0):
        write("sho", 1.0, quality, time / slowest)
        write("sho", 3.0, quality, time * 7.0)
for _ in range(60):
    period = 10 ** generator.uniform(-1, 3)
    write("qp", 10 ** generator.uniform(-1, 4), period, 10 ** generator.uniform(-8, 2))
for _ in range(20):
    write("rw", 10 ** generator.uniform(-1, 6), 1.0, 10 ** generator.uniform(-8, 3))
    write("llt", 10 ** generator.uniform(-1, 6), 1.0, 10 ** generator.uniform(-8, 3))
for _ in range(40):
    length_scale = 10 ** generator.uniform(-1, 6)
    write("dt", length_scale, 1.0, length_scale * 10 ** generator.uniform(-8, 1.3))
for time in (0.5, 0.9, 0.999, 1.0, 1.001, 1.1, 2.0, 30.0):
    write("dt", 3.0, 1.0, 3.0 * time)
