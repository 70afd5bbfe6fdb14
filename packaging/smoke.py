"""Fills a small table with an installed catena: what a wheel must do wherever it was built."""

import catena
import numpy as np

hours = np.arange(120.0)[:, None]
tide = np.sin(hours[:, 0] / 6)
table = np.column_stack([tide, 0.5 * tide + 1])
table[60:75, 1] = np.nan

filled = catena.MultiOutputGP().fit(hours, table).impute()
error = np.abs(filled[60:75, 1] - (0.5 * tide[60:75] + 1)).max()
assert error < 0.05, f"the gap is filled with an error of {error}"
print(f"catena {catena.__version__}: the gap is filled with an error of at most {error:.4f}")
