"""The reference: a multi-output Gaussian process with dense matrices in numpy, independent of catena."""

import numpy as np


def correlation(kernel, distance, length_scale):
    if kernel == "matern12":
        return np.exp(-distance / length_scale)
    u = np.sqrt({"matern32": 3, "matern52": 5}[kernel]) * distance / length_scale
    return (1 + u + (u**2 / 3 if kernel == "matern52" else 0)) * np.exp(-u)


class DenseGP:
    """Outputs ``y_d(x) = Σ_l W_dl g_l(x)`` plus noise, conditioned on the observed cells of a table; means are zero."""

    def __init__(self, X, Y, mixing, length_scales, noise, kernel):
        self.X, self.W, self.kernel = X, np.asarray(mixing, float), kernel
        self.lengths, self.noise = np.asarray(length_scales, float), np.asarray(noise, float)
        self.cells = np.argwhere(~np.isnan(Y))
        self.y = Y[tuple(self.cells.T)]
        rows, outputs = self.cells.T
        K = self.covariance(X[rows], outputs, X[rows], outputs) + np.diag(self.noise[outputs])
        self.L = np.linalg.cholesky(K)
        self.alpha = np.linalg.solve(self.L.T, np.linalg.solve(self.L, self.y))

    def covariance(self, X, outputs, other_X, other_outputs):
        distance = np.sqrt(((X[:, None] - other_X[None]) ** 2).sum(-1))
        return sum(
            np.outer(self.W[outputs, latent], self.W[other_outputs, latent])
            * correlation(self.kernel, distance, length)
            for latent, length in enumerate(self.lengths)
        )

    def predict(self, X, include_noise=True):
        """Means (n, D) and the joint covariance (n·D, n·D), points outermost."""
        n_outputs = len(self.W)
        places, outputs = np.repeat(X, n_outputs, axis=0), np.tile(np.arange(n_outputs), len(X))
        rows, observed = self.cells.T
        cross = self.covariance(places, outputs, self.X[rows], observed)
        half = np.linalg.solve(self.L, cross.T)
        joint = self.covariance(places, outputs, places, outputs) - half.T @ half
        if include_noise:
            joint = joint + np.diag(self.noise[outputs])
        return (cross @ self.alpha).reshape(-1, n_outputs), joint

    def log_evidence(self):
        return (
            -0.5 * self.y @ self.alpha - np.log(np.diag(self.L)).sum() - 0.5 * len(self.y) * np.log(2 * np.pi)
        )


def diagonal_blocks(joint, n_outputs):
    """The covariance of the outputs at each point, (n, D, D)."""
    n = len(joint) // n_outputs
    return np.array(
        [joint[i * n_outputs : (i + 1) * n_outputs, i * n_outputs : (i + 1) * n_outputs] for i in range(n)]
    )


def same(found, expected):
    """Asserts that two results agree to rounding."""
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-9, atol=1e-9)
