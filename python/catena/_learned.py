"""Learned parameters of a fitted model, as attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    import numpy as np


class Learned:
    """Attributes of a fitted model, computed on access."""

    def _learned(self, name):
        return self._model_or_raise().parameters()[name]

    @property
    def mixing_(self) -> np.ndarray:
        """Weights (D, L) in units of the outputs: shared latents first, then private latents, if any, one per output."""
        return self._learned("mixing")

    @property
    def length_scales_(self) -> np.ndarray:
        """Length-scales in units of the inputs: shape (L,) for one input, (L, M) for M inputs."""
        return self._learned("length_scales")

    @property
    def noise_(self) -> np.ndarray:
        """Noise variances (D,) in squared units of the outputs."""
        return self._learned("noise")

    @property
    def kernel_(self) -> str:
        """Kernels of shared and private latents."""
        return self._learned("kernel")

    @property
    def parameters_(self) -> dict[str, Any]:
        """All parameters as a dict, for ``parameters`` or a JSON file; lengths of a time input are durations."""
        import json

        return json.loads(self._model_or_raise().written_parameters())

    @property
    def summary_(self) -> dict[str, Any]:
        """The selected model, the candidates and the decisions."""
        import json

        summary = json.loads(self._model_or_raise().summary_json())
        first = {name: summary[name] for name in ("input_names", "outputs")}
        decisions = [*self._columns(), *summary["decisions"], *self._remarks()]
        return {**first, **summary, "decisions": decisions}

    def _remarks(self):
        """Decisions made before the fit."""
        reasons = {
            "left_out": "which are not numeric",
            "empty": "which have no value",
            "of_group": "which have one value in each group",
        }
        if self._notes.get("long"):
            reasons["left_out"] = "which a long table does not have"
        found = {why: ", ".join(map(repr, self._notes.get(note, []))) for note, why in reasons.items()}
        return [f"ignored columns, {why}: {names}" for why, names in found.items() if names]

    @property
    def warnings_(self) -> list[str]:
        """Warnings about the fit."""
        return self.summary_["warnings"]
