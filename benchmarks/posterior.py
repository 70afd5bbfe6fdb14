"""One posterior by several packages: same table, same parameters, processor time and memory of each.

Two contests. All outputs with holes, by catena (one sweep, and the estimator with all it keeps and summarizes) and by
statsmodels' Kalman smoother with the state-space matrices of the same model. One complete output, by catena, scikit-learn's
Gaussian process, GPyTorch and tinygp: they read no holes. Processor time of all threads, so that a busy machine changes little.
"""

import argparse
import importlib.util
import multiprocessing
import resource
import sys
import time

import numpy as np

#: Four latents of Matérn-3/2 under seven outputs, length-scales in hours.
LENGTH_SCALES = np.array([6.0, 24.0, 80.0, 300.0])
NOISE = 0.05
#: Maximum rows for scikit-learn's dense matrices.
MOST_ROWS_DENSE = 3000


def table(path):
    """Seven standardized outputs by hour, a tenth of the cells missing."""
    generator = np.random.default_rng(0)
    if path is None:
        noise = generator.normal(size=(17_420, 7))
        waves = np.cumsum(generator.normal(size=(17_420, 4)), axis=0)
        Y = waves @ generator.normal(size=(4, 7)) / 50 + noise / 5
    else:
        Y = np.loadtxt(path, delimiter=",", skiprows=1, usecols=range(1, 8))
    Y = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    Y[generator.uniform(size=Y.shape) < 0.1] = np.nan
    return np.arange(float(len(Y)))[:, np.newaxis], Y


def mixing():
    """Dense weights."""
    return np.random.default_rng(1).normal(size=(7, 4)) / 2


def by_sweep(X, Y, weights, lengths):
    import catena

    begin = time.process_time()
    swept = catena.sweep(X, Y, mixing=weights, length_scales=lengths, noise=NOISE, gradient=False)
    std = np.sqrt(swept.variance)
    return time.process_time() - begin, swept.mean, std


def by_estimator(X, Y, weights, lengths):
    import catena

    gp = catena.MultiOutputGP(
        learn=False, standardize=False, kernel="matern32", mixing=weights, length_scales=lengths, noise=NOISE
    )
    begin = time.process_time()
    mean, std = gp.fit(X, Y).predict(return_std=True, include_noise=False)
    return time.process_time() - begin, mean, std


def by_statsmodels(X, Y, weights, lengths):
    from statsmodels.tsa.statespace.kalman_smoother import SMOOTHER_STATE, SMOOTHER_STATE_COV, KalmanSmoother

    n_latents = len(lengths)
    transition = np.zeros((2 * n_latents, 2 * n_latents))
    design = np.zeros((Y.shape[1], 2 * n_latents))
    for latent, length in enumerate(lengths):
        u = np.sqrt(3) / length
        block = np.exp(-u) * np.array([[1 + u, u], [-u, 1 - u]])
        transition[2 * latent : 2 * latent + 2, 2 * latent : 2 * latent + 2] = block
        design[:, 2 * latent] = weights[:, latent]
    identity = np.eye(2 * n_latents)
    begin = time.process_time()
    smoother = KalmanSmoother(k_endog=Y.shape[1], k_states=2 * n_latents)
    smoother.bind(np.asfortranarray(Y.T))
    smoother["design"] = design
    smoother["transition"] = transition
    smoother["selection"] = identity
    smoother["state_cov"] = identity - transition @ transition.T
    smoother["obs_cov"] = NOISE * np.eye(Y.shape[1])
    smoother.initialize_known(np.zeros(2 * n_latents), identity)
    found = smoother.smooth(smoother_output=SMOOTHER_STATE | SMOOTHER_STATE_COV)
    mean = (design @ found.smoothed_state).T
    variance = np.einsum("di,ijt,dj->td", design, found.smoothed_state_cov, design)
    return time.process_time() - begin, mean, np.sqrt(variance)


def by_scikit_learn(X, Y, weights, lengths):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern

    kernel = ConstantKernel(weights[0, 0] ** 2) * Matern(lengths[0], nu=1.5)
    begin = time.process_time()
    gp = GaussianProcessRegressor(kernel, alpha=NOISE, optimizer=None).fit(X, Y[:, 0])
    mean, std = gp.predict(X, return_std=True)
    return time.process_time() - begin, mean[:, np.newaxis], std[:, np.newaxis]


def by_tinygp(X, Y, weights, lengths):
    import jax

    jax.config.update("jax_enable_x64", True)
    from tinygp import GaussianProcess
    from tinygp.kernels import quasisep

    begin = time.process_time()
    kernel = quasisep.Matern32(scale=lengths[0], sigma=abs(weights[0, 0]))
    found = GaussianProcess(kernel, X[:, 0], diag=NOISE).condition(Y[:, 0]).gp
    mean, std = np.asarray(found.loc), np.sqrt(np.asarray(found.variance))
    return time.process_time() - begin, mean[:, np.newaxis], std[:, np.newaxis]


def by_gpytorch(X, Y, weights, lengths):
    import gpytorch
    import torch

    torch.set_default_dtype(torch.float64)
    x, y = torch.from_numpy(X), torch.from_numpy(Y[:, 0].copy())

    class Model(gpytorch.models.ExactGP):
        def __init__(self, x, y, likelihood):
            super().__init__(x, y, likelihood)
            self.mean_module = gpytorch.means.ZeroMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(nu=1.5))

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    begin = time.process_time()
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Model(x, y, likelihood)
    model.covar_module.base_kernel.lengthscale = lengths[0]
    model.covar_module.outputscale = weights[0, 0] ** 2
    likelihood.noise = NOISE
    model.eval()
    # Cholesky instead of conjugate gradients: the same posterior as the others, not an estimate of it.
    exact = gpytorch.settings.fast_computations(covar_root_decomposition=False, log_prob=False, solves=False)
    with torch.no_grad(), exact, gpytorch.settings.max_cholesky_size(len(x) + 1):
        found = model(x)
        mean, std = found.mean.numpy(), found.variance.sqrt().numpy()
    return time.process_time() - begin, mean[:, np.newaxis], std[:, np.newaxis]


def measured(way, *problem):
    """The fastest of several runs in a new process (the first may compile), and the additional memory in MB."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(queue, way, problem))
    child.start()
    answer = queue.get()
    child.join()
    return answer


def _in_child(queue, way, problem):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin, n_runs, fastest = time.perf_counter(), 0, None
    while n_runs < 3 or (n_runs < 20 and time.perf_counter() - begin < 5):
        run = way(*problem)
        fastest = run if fastest is None or run[0] < fastest[0] else fastest
        n_runs += 1
    queue.put((*fastest, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024))


def contest(title, ways, problem):
    print(f"\n{title}")
    print(f"{'':<28} {'seconds':>9} {'times ours':>11} {'MB':>7} {'difference':>11}")
    ours = None
    for name, (package, way) in ways.items():
        if importlib.util.find_spec(package) is None:
            print(f"{name:<28} not installed")
            continue
        seconds, mean, std, megabytes = measured(way, *problem)
        ours = ours or (seconds, mean, std)
        difference = max(np.abs(mean - ours[1]).max(), np.abs(std - ours[2]).max())
        print(f"{name:<28} {seconds:9.4f} {seconds / ours[0]:11.1f} {megabytes:7.0f} {difference:11.1e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--ett", help="a CSV file with a time stamp and seven columns; without it, a simulated table"
    )
    arguments = parser.parse_args()
    X, Y = table(arguments.ett)
    print(
        f"Python {sys.version.split()[0]}, numpy {np.__version__}; {len(Y)} rows, 7 outputs, {np.isnan(Y).mean():.1%} missing"
    )
    contest(
        "All outputs, holes and all: four latents, means and deviations of every cell",
        {
            "catena.sweep": ("catena", by_sweep),
            "catena.MultiOutputGP": ("catena", by_estimator),
            "statsmodels KalmanSmoother": ("statsmodels", by_statsmodels),
        },
        (X, Y, mixing(), LENGTH_SCALES),
    )
    whole = np.where(np.isnan(Y[:, :1]), 0.0, Y[:, :1])
    single = np.array([[1.0]]), LENGTH_SCALES[1:2]
    contest(
        f"One complete output, {MOST_ROWS_DENSE} rows",
        {
            "catena.sweep": ("catena", by_sweep),
            "catena.MultiOutputGP": ("catena", by_estimator),
            "scikit-learn": ("sklearn", by_scikit_learn),
            "GPyTorch, Cholesky": ("gpytorch", by_gpytorch),
            "tinygp, quasiseparable": ("tinygp", by_tinygp),
        },
        (X[:MOST_ROWS_DENSE], whole[:MOST_ROWS_DENSE], *single),
    )


if __name__ == "__main__":
    main()
