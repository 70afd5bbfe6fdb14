"""The full-scale method compared with GPBoost's Vecchia approximations: one output, three inputs, same training and test rows.

Both learn a Matérn-5/2 process with noise on N rows and predict N/5 others: error, log score with noise and processor
seconds of all threads, which depend little on the load of the machine. GPBoost runs Vecchia with 20 neighbors and, where its
version has it, full-scale Vecchia with 64 inducing points and 10 neighbors, each with as many neighbors in predictions as in
learning and with twice as many, its default; catena runs the same two sizes. Both have one length-scale. GPBoost
learns on all rows; catena's budget determines the number of rows it learns from (at most 2000 here).

    python benchmarks/fullscale_peer.py [--rows 2000 20000]
"""

import argparse
import resource
import sys
import warnings

import numpy as np

INPUTS, WAVES, NOISE = 3, 40, 0.1


def table(n_rows, seed=3):
    """Points in the unit cube and a sum of waves with noise: training rows and test rows."""
    generator = np.random.default_rng(seed)
    n_test = n_rows // 5
    X = generator.uniform(size=(n_rows + n_test, INPUTS))
    rates = 6 * generator.normal(size=(WAVES, INPUTS))
    phases = generator.uniform(0, 2 * np.pi, size=WAVES)
    f = np.cos(X @ rates.T + phases).sum(axis=1) * np.sqrt(2 / WAVES)
    y = f + NOISE * generator.normal(size=len(f))
    return (X[:n_rows], y[:n_rows]), (X[n_rows:], y[n_rows:])


def seconds():
    """Processor time of all threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def by_gpboost(approximation, neighbors_of_predictions=None, **size):
    """One configuration of GPBoost; by default it predicts from twice as many neighbors as it learns from."""

    def run(X, y, at):
        import gpboost

        model = gpboost.GPModel(
            gp_coords=X, cov_function="matern", cov_fct_shape=2.5, gp_approx=approximation, **size
        )
        begin = seconds()
        model.fit(y=y, X=np.ones((len(y), 1)))
        learned = seconds()
        if neighbors_of_predictions is not None:
            model.set_prediction_data(num_neighbors_pred=neighbors_of_predictions)
        said = model.predict(
            gp_coords_pred=at, X_pred=np.ones((len(at), 1)), predict_var=True, predict_response=True
        )
        return said["mu"], np.sqrt(said["var"]), learned - begin, seconds() - learned

    return run


def by_catena(method):
    """One configuration of catena."""

    def run(X, y, at):
        import catena

        gp = catena.MultiOutputGP(
            latents=1, kernel="matern52", private=False, method=method, transforms=False, progress=False
        )
        begin = seconds()
        gp.fit(X, y)
        learned = seconds()
        mean, deviation = gp.predict(at, return_std=True)
        return mean, deviation, learned - begin, seconds() - learned

    return run


CONTENDERS = {
    "catena, 20 neighbors": by_catena("fullscale:0,20"),
    "catena, full-scale 64 and 10": by_catena("fullscale:64,10"),
    "GPBoost, Vecchia, 20 neighbors": by_gpboost("vecchia", 20, num_neighbors=20),
    "GPBoost, Vecchia, 20, 40 to predict": by_gpboost("vecchia", num_neighbors=20),
    "GPBoost, full-scale Vecchia, 64 and 10": by_gpboost(
        "full_scale_vecchia", 10, num_neighbors=10, num_ind_points=64
    ),
    "GPBoost, full-scale Vecchia, 20 to predict": by_gpboost(
        "full_scale_vecchia", num_neighbors=10, num_ind_points=64
    ),
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[2000, 20000])
    arguments = parser.parse_args()
    print(f"noise {NOISE}; processor seconds of all threads")
    print(f"{'rows':>7} {'':<40} {'RMSE':>8} {'nats':>8} {'learn':>9} {'predict':>9}")
    for n_rows in arguments.rows:
        (X, y), (at, truth) = table(n_rows)
        for name, run in CONTENDERS.items():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    mean, deviation, learned, predicted = run(X, y, at)
            except ImportError as missing:
                print(f"{n_rows:>7} {name:<40} not run: {missing}")
                continue
            errors = truth - mean
            score = np.mean(-0.5 * np.log(2 * np.pi * deviation**2) - 0.5 * (errors / deviation) ** 2)
            line = f"{np.sqrt(np.mean(errors**2)):>8.5f} {score:>8.4f} {learned:>9.2f} {predicted:>9.2f}"
            print(f"{n_rows:>7} {name:<40} {line}")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
