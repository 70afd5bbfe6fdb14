"""A fit as a self-contained page, for notebooks and files."""

from __future__ import annotations

import os


class Report:
    """The page of a fit. A notebook shows it; :meth:`save` writes it to a file."""

    def __init__(self, page: str) -> None:
        #: The page as HTML, which needs no network.
        self.html = page

    def save(self, path: str | os.PathLike[str]) -> str:
        """Writes the page to a file and returns its path."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)
        return os.fspath(path)

    def _repr_html_(self) -> str:
        # An iframe keeps styles and scripts separate from those of the notebook.
        import html

        page = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" width="100%" height="900" style="border: 0"></iframe>'

    def __repr__(self) -> str:
        return f"<catena report, {len(self.html) // 1000} kB; save(path) writes it to a file>"
