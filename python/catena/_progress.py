"""Shows the progress of a fit on one line, in a terminal or a notebook."""

import sys
import time

#: Seconds before progress is shown.
PATIENCE = 1.5


def watcher(wanted):
    """The progress callback; None if nothing is shown."""
    if wanted not in ("auto", True, False):
        from .errors import InputError

        raise InputError(f"progress={wanted!r} is unknown; write 'auto', True or False.")
    if wanted is False:
        return None
    display = _notebook_display()
    if display is not None:
        return _Line(display)
    if wanted is True or (hasattr(sys.stderr, "isatty") and sys.stderr.isatty()):
        return _Line(_Terminal())
    return None


class _Line:
    """One line that is overwritten."""

    def __init__(self, place):
        self.place = place
        self.begin = time.monotonic()
        self.shown = None

    def __call__(self, stage, done, left=None):
        elapsed = time.monotonic() - self.begin
        if elapsed < PATIENCE:
            return
        ahead = "" if left is None else f", about {_rounded(left)} left"
        text = f"catena: {stage} {100 * done:3.0f} %, {elapsed:.0f} s{ahead} (Ctrl-C keeps the best model so far)"
        if text != self.shown:
            self.place.show(text)
            self.shown = text

    def close(self):
        if self.shown is not None:
            self.place.clear()


def _rounded(seconds):
    """An estimate of a time, with no more digits than it deserves."""
    if seconds < 10:
        return f"{max(seconds, 1):.0f} s"
    return f"{5 * round(seconds / 5)} s" if seconds < 120 else f"{seconds / 60:.0f} min"


class _Terminal:
    def show(self, text):
        sys.stderr.write("\r\x1b[K" + text)
        sys.stderr.flush()

    def clear(self):
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


class _Notebook:
    def __init__(self, display):
        self.display = display
        self.handle = None

    def show(self, text):
        data = {"text/plain": text}
        if self.handle is None:
            self.handle = self.display(data, raw=True, display_id=True)
        else:
            self.handle.update(data, raw=True)

    def clear(self):
        self.handle.update({"text/plain": ""}, raw=True)


def _notebook_display():
    """IPython's display if this runs in a notebook; otherwise IPython is not imported."""
    if "ipykernel" not in sys.modules:
        return None
    from IPython.display import display

    return _Notebook(display)
