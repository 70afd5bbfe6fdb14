"""Microseconds per point of statsmodels' Kalman smoother on models along time, compared with `catena-bench time`.

Seven outputs, 4000 regular rows, the state sizes of `catena-bench time`: oscillators (n = 14), with one harmonic of a day
(28), with a level and three harmonics (63). Each point costs the same whatever the numbers, so the table is made up.
catena's figure is evidence and gradient; statsmodels' is its filter and smoother, which a gradient would have to be found
from by differences.
"""

import json
import subprocess
import sys
import time

import numpy as np
from statsmodels.tsa.statespace.kalman_smoother import SMOOTHER_STATE, SMOOTHER_STATE_COV, KalmanSmoother

ROWS, OUTPUTS, ROUNDS = 4000, 7, 3
#: Harmonics of a day, and whether there is a level.
CASES = {14: (0, False), 28: (1, False), 63: (3, True)}


def rotation(decay, angle):
    return decay * np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


def matrices(n_harmonics, has_level):
    """Transition, process noise, design and first covariance of seven sums."""
    blocks, noises, values = [], [], []
    for latent in range(OUTPUTS):
        for angle in [0.3 + 0.05 * latent] + [2 * np.pi * order / 24 for order in range(1, n_harmonics + 1)]:
            decay = 0.8 if angle < 0.7 and not values else 0.999
            values.append(sum(map(len, blocks)))
            blocks.append(rotation(decay, angle))
            noises.append((1 - decay**2) * np.eye(2))
        if has_level:
            values.append(sum(map(len, blocks)))
            blocks.append(np.eye(1))
            noises.append(np.full((1, 1), 1e-4))
    size = sum(map(len, blocks))
    transition, noise, design = np.zeros((size, size)), np.zeros((size, size)), np.zeros((OUTPUTS, size))
    place = 0
    for block, covariance in zip(blocks, noises, strict=True):
        end = place + len(block)
        transition[place:end, place:end], noise[place:end, place:end] = block, covariance
        place = end
    generator = np.random.default_rng(0)
    design[:, values] = 0.3 * generator.normal(size=(OUTPUTS, len(values)))
    return transition, noise, design


def microseconds(n_harmonics, has_level):
    transition, noise, design = matrices(n_harmonics, has_level)
    size = len(transition)
    Y = np.random.default_rng(1).normal(size=(ROWS, OUTPUTS))
    best = np.inf
    for _ in range(ROUNDS):
        begin = time.process_time()
        smoother = KalmanSmoother(k_endog=OUTPUTS, k_states=size)
        smoother.bind(np.asfortranarray(Y.T))
        smoother["design"], smoother["transition"], smoother["selection"] = design, transition, np.eye(size)
        smoother["state_cov"], smoother["obs_cov"] = noise, 0.02 * np.eye(OUTPUTS)
        smoother.initialize_known(np.zeros(size), np.eye(size))
        smoother.smooth(smoother_output=SMOOTHER_STATE | SMOOTHER_STATE_COV)
        best = min(best, time.process_time() - begin)
    return size, 1e6 * best / ROWS


def main():
    ours = {}
    if len(sys.argv) > 1:
        lines = subprocess.run([sys.argv[1], "time", "--json"], check=True, capture_output=True, text=True)
        cases = [json.loads(line) for line in lines.stdout.splitlines()]
        ours = {case["states"]: case["gradient_us"] for case in cases if "states" in case}
    print("states   statsmodels us/point   catena us/point   ratio")
    for states, case in CASES.items():
        size, theirs = microseconds(*case)
        assert size == states
        own = ours.get(states)
        print(f"{states:6d} {theirs:22.1f}", "" if own is None else f"{own:17.1f} {theirs / own:7.1f}")


if __name__ == "__main__":
    main()
