// The shown range of the input, shared by all charts, and the gestures that change it.

/** The range of the input that is shown and the row under the cursor, shared by all charts. */
class View {
  constructor(values) {
    const last = values.length - 1;
    const [lo, hi] = values.length ? padded([values[0], values[last]], 0.01) : [0, 1];
    Object.assign(this, { values, fullLo: lo, fullHi: hi, lo, hi, row: -1, charts: [], status: null, waiting: false });
    let least = Infinity;
    for (let at = 1; at <= last; at++) {
      const gap = values[at] - values[at - 1];
      if (gap > 0 && gap < least) least = gap;
    }
    this.leastSpan = Math.max(Number.isFinite(least) ? 4 * least : 0, (hi - lo) * 1e-9);
  }

  get isZoomed() { return this.lo > this.fullLo || this.hi < this.fullHi; }

  /** Shows a range, kept inside the data and not too narrow. */
  show(lo, hi) {
    let span = Math.min(Math.max(hi - lo, this.leastSpan), this.fullHi - this.fullLo);
    const middle = (lo + hi) / 2;
    let from = hi - lo < span ? middle - span / 2 : lo;
    from = Math.max(this.fullLo, Math.min(from, this.fullHi - span));
    this.lo = from;
    this.hi = from + span;
    this.drawSoon();
  }

  /** Zooms by a factor around a fixed value. */
  zoom(factor, around = (this.lo + this.hi) / 2) {
    this.show(around - (around - this.lo) * factor, around + (this.hi - around) * factor);
  }

  /** Moves by a share of the shown range. */
  pan(share) {
    const step = share * (this.hi - this.lo);
    this.show(this.lo + step, this.hi + step);
  }

  reset() { this.show(this.fullLo, this.fullHi); }

  /** Points at a row in all charts; −1 for none. */
  point(row) {
    if (row === this.row) return;
    this.row = row;
    for (const chart of this.charts) chart.drawCursor();
  }

  /** Draws at most once per frame. */
  drawSoon() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      for (const chart of this.charts) chart.drawIfVisible();
      if (this.status) this.status();
    });
  }
}

/** Mouse, touch, wheel and keys on one chart. The chart has `plot`, `view` and `x`, its scale. */
function attachGestures(chart) {
  const { plot, view } = chart;
  const node = plot.node;
  const fingers = new Map();
  let drag = null;

  const localX = (event) => event.clientX - node.getBoundingClientRect().left;
  const hover = (event) => {
    const value = chart.x.value(localX(event));
    view.point(nearestIndex(view.values, value));
    chart.showTooltip(event.clientX, event.clientY);
  };

  node.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" && event.button !== 0) return;
    node.focus({ preventScroll: true });
    node.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, localX(event));
    const pans = event.pointerType === "touch" || event.shiftKey;
    drag = { from: localX(event), pans, lo: view.lo, hi: view.hi, moved: false, distance: null };
    if (fingers.size === 2) {
      const [a, b] = [...fingers.values()];
      drag = { ...drag, distance: Math.max(10, Math.abs(a - b)), middle: chart.x.value((a + b) / 2) };
    }
  });

  node.addEventListener("pointermove", (event) => {
    if (!chart.x) return;
    if (!drag || !fingers.has(event.pointerId)) { hover(event); return; }
    fingers.set(event.pointerId, localX(event));
    const distance = localX(event) - drag.from;
    if (Math.abs(distance) > 4) drag.moved = true;
    if (fingers.size === 2 && drag.distance) {
      const [a, b] = [...fingers.values()];
      const factor = drag.distance / Math.max(10, Math.abs(a - b));
      view.show(drag.middle - (drag.middle - drag.lo) * factor, drag.middle + (drag.hi - drag.middle) * factor);
    } else if (drag.pans) {
      const shift = distance * (drag.hi - drag.lo) / (chart.x.to - chart.x.from);
      if (drag.moved) view.show(drag.lo - shift, drag.hi - shift);
    } else if (drag.moved) {
      chart.drawBrush(drag.from, localX(event));
    }
  });

  const finish = (event) => {
    const done = drag;
    fingers.delete(event.pointerId);
    if (fingers.size === 0) drag = null;
    chart.drawBrush(null);
    if (!done || event.type === "pointercancel") return;
    if (!done.moved) { hover(event); return; }
    if (!done.pans && done.distance === null) {
      const ends = [chart.x.value(done.from), chart.x.value(localX(event))].sort((a, b) => a - b);
      view.show(Math.max(ends[0], view.lo), Math.min(ends[1], view.hi));
    }
  };
  node.addEventListener("pointerup", finish);
  node.addEventListener("pointercancel", finish);
  node.addEventListener("pointerleave", (event) => {
    if (event.pointerType === "mouse" && !drag) { view.point(-1); tooltip.hide(); }
  });
  node.addEventListener("dblclick", () => view.reset());

  // The wheel scrolls the page until a chart has been clicked or Ctrl is held: reading comes before zooming.
  node.addEventListener("wheel", (event) => {
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (sideways && view.isZoomed) {
      view.pan(event.deltaX / plot.width);
    } else if (!sideways && (event.ctrlKey || document.activeElement === node)) {
      view.zoom(Math.exp(Math.max(-100, Math.min(100, event.deltaY)) * 0.004), chart.x.value(localX(event)));
    } else return;
    event.preventDefault();
  }, { passive: false });

  node.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (steps && event.shiftKey) view.pan(0.2 * steps);
    else if (steps) chart.stepCursor(steps * (event.altKey ? 24 : 1));
    else if (event.key === "+" || event.key === "=") view.zoom(0.5, chart.cursorValue());
    else if (event.key === "-") view.zoom(2, chart.cursorValue());
    else if (event.key === "0" || event.key === "Home") view.reset();
    else if (event.key === "Escape") { view.point(-1); tooltip.hide(); }
    else return;
    event.preventDefault();
  });
  node.addEventListener("blur", () => tooltip.hide());
}
