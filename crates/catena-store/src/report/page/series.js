// Outputs along one input: one chart each, with a common range.

const CHART_HEIGHT = 196;

/** One output's chart. */
class SeriesChart {
  constructor(rows, output, view, longStep) {
    Object.assign(this, { rows, output, view, longStep, input: rows.inputs[0], isVisible: false, isStale: true, x: null });
    this.plot = new Plot(CHART_HEIGHT, `${withUnit(output)}: data, posterior mean and bands along ${this.input.name}. `
      + "Arrow keys step through rows, plus and minus zoom, 0 resets.");
    this.readout = element("span", { class: "readout" });
    this.node = element("figure", { class: "series", "data-output": output.name },
      element("figcaption", {}, element("span", { class: "name" }, output.name),
        output.unit && element("span", { class: "unit" }, output.unit), this.readout),
      this.plot.node);
    attachGestures(this);
    view.charts.push(this);
    new IntersectionObserver((entries) => {
      this.isVisible = entries[entries.length - 1].isIntersecting;
      if (this.isVisible && this.isStale) this.draw();
    }, { rootMargin: "200px" }).observe(this.node);
    drawToFit(this.plot.node, (width) => { this.fitted = width; this.drawIfVisible(); });
  }

  /** Draws now if on screen or on paper, else when scrolled to. */
  drawIfVisible() {
    this.isStale = true;
    if (this.isVisible || document.documentElement.classList.contains("printing")) this.draw();
  }

  draw() {
    if (!this.fitted) return;
    this.isStale = false;
    const { plot, view, output, input } = this;
    const columns = output.columns, values = input.values;
    const context = plot.resize(this.fitted);
    const [from, to] = rowsBetween(values, view.lo, view.hi);
    // Observed values may have rows of their own, apart from the grid of the bands.
    const marks = this.marks || { values, observed: columns.observed, isBinned: false };
    const [firstMark, lastMark] = this.marks ? rowsBetween(marks.values, view.lo, view.hi) : [from, to];
    const shown = joined(extent([columns.lo95, columns.hi95, columns.heldOut], from, to, null),
      extent([marks.observed], firstMark, lastMark, null));
    const x = this.x = new Scale([view.lo, view.hi], plot.xRange);
    const y = this.y = new Scale(padded(shown || [-1, 1], 0.05), plot.yRange);
    this.gaps = this.gaps || gapsOf(marks.values, marks.observed, this.longStep);
    const box = { left: plot.xRange[0], right: plot.xRange[1], top: plot.yRange[1], bottom: plot.yRange[0] };
    plot.axes(x, input.text.ticks(view.lo, view.hi, (box.right - box.left) / 90), y, this.yTicks(),
      [shape("path", { class: "gap", d: gapPath(this.gaps, x, box) })]);

    context.save();
    plot.clip(context);
    const found = segments(vertices(columns, values, from, to, x, y, plot.density, this.longStep));
    fillBand(context, found, "lo95", "hi95", styleValue("--band95"));
    fillBand(context, found, "lo50", "hi50", styleValue("--band50"));
    drawPoints(context, marks.observed, marks.values, firstMark, lastMark, x, y, styleValue("--point"),
      { radius: 2.2, barOpacity: 0.55, bars: marks.isBinned });
    if (columns.bad) {
      drawPoints(context, columns.bad, values, from, to, x, y, styleValue("--bad"), { radius: 4.5, barOpacity: 0.9, hollow: true });
    }
    if (columns.heldOut) {
      const style = { radius: 3, barOpacity: 0.8, hollow: true };
      drawPoints(context, columns.heldOut, values, from, to, x, y, styleValue("--held-out"), style);
    }
    strokeMean(context, found, styleValue("--accent"));
    context.restore();
    this.drawCursor();
  }

  /** Round values of the output; the scale itself counts from the output's center. */
  yTicks() {
    const { center } = this.output;
    const { values, decimals } = roundTicks(this.y.lo + center, this.y.hi + center, 4);
    return values.map((value) => ({ value: value - center, text: fixed(value, decimals) }));
  }

  drawCursor() {
    const { row } = this.view;
    const nodes = [];
    if (this.brush) nodes.push(this.brush);
    if (row >= 0 && this.x && this.isVisible) {
      const mean = this.output.columns.mean[row];
      const at = this.x.pixel(this.input.values[row]);
      if (at >= this.x.from - 1 && at <= this.x.to + 1) {
        nodes.push(shape("line", { class: "cursor", x1: at, x2: at, y1: this.plot.yRange[1], y2: this.plot.yRange[0] }));
        if (!Number.isNaN(mean)) nodes.push(shape("circle", { class: "cursor-dot", cx: at, cy: this.y.pixel(mean), r: 3.5 }));
      }
      const lines = this.output.lines(row);
      this.readout.textContent = lines.filter(([label]) => label === "mean" || label.startsWith("95"))
        .map(([label, value]) => `${label} ${value}`).join("   ");
    } else {
      this.readout.textContent = "";
    }
    this.plot.overlay.replaceChildren(...nodes);
  }

  /** Draws the range being selected with the mouse; `null` removes it. */
  drawBrush(from, to) {
    if (from === null) this.brush = null;
    else {
      const [bottom, top] = this.plot.yRange;
      const [left, right] = [from, to].map((at) => Math.max(this.x.from, Math.min(this.x.to, at))).sort((a, b) => a - b);
      this.brush = shape("rect", { class: "brush", x: left, y: top, width: right - left, height: bottom - top });
    }
    this.drawCursor();
  }

  showTooltip(clientX, clientY) {
    const { row } = this.view;
    if (row >= 0) tooltip.show(clientX, clientY, this.input.text.write(this.input.values[row]), this.output.lines(row));
  }

  cursorValue() {
    const { row, lo, hi } = this.view;
    const value = row >= 0 ? this.input.values[row] : NaN;
    return value >= lo && value <= hi ? value : (lo + hi) / 2;
  }

  /** Moves the cursor by rows, scrolls it into view and shows its values. */
  stepCursor(steps) {
    const { view, input } = this;
    if (!input.values.length) return;
    const start = view.row >= 0 ? view.row + steps : nearestIndex(input.values, (view.lo + view.hi) / 2);
    const row = Math.max(0, Math.min(input.values.length - 1, start));
    const value = input.values[row], span = view.hi - view.lo;
    if (value < view.lo || value > view.hi) view.show(value - span / 2, value + span / 2);
    view.point(row);
    const box = this.plot.node.getBoundingClientRect();
    this.showTooltip(box.left + Math.max(this.x.from, Math.min(this.x.to, this.x.pixel(value))), box.top + box.height / 2);
  }
}

/** The section with all outputs along one input. */
function seriesSection(rows) {
  const view = new View(rows.inputs[0].values);
  const longStep = longestDrawnStep(view.values);
  const charts = rows.outputs.map((output) => new SeriesChart(rows, output, view, longStep));
  const button = (label, name, action) => element("button", { type: "button", "aria-label": name, title: name, onclick: action }, label);
  const range = element("span", { class: "range", "aria-live": "polite" });
  const reset = button("Reset", "Show everything", () => view.reset());
  view.status = () => {
    const text = rows.inputs[0].text;
    const nearest = (value) => text.write(view.values[nearestIndex(view.values, value)]);
    range.textContent = view.values.length ? `${nearest(view.lo)} to ${nearest(view.hi)}` : "";
    reset.disabled = !view.isZoomed;
  };
  view.status();
  const tools = element("div", { class: "tools", role: "toolbar", "aria-label": "Range shown" },
    button("\u2212", "Zoom out", () => view.zoom(2)), button("+", "Zoom in", () => view.zoom(0.5)),
    button("\u2190", "Earlier", () => view.pan(-0.5)), button("\u2192", "Later", () => view.pan(0.5)), reset, range);
  const key = (kind, text) => element("li", {}, element("span", { class: `key ${kind}` }), text);
  const legend = element("ul", { class: "legend" },
    key("observed", "observed"), rows.outputs.some((output) => output.hasHeldOut) && key("held-out", "held out"),
    rows.outputs.some((output) => output.hasBad) && key("bad", "contradicted by all others"),
    key("mean", "posterior mean"), key("band50", `50${NARROW_SPACE}%`), key("band95", `95${NARROW_SPACE}%`),
    key("missing", "missing"));
  const hint = element("p", { class: "hint screen-only" },
    "Drag to zoom, Shift-drag to move, double-click to reset; click a chart to zoom with the wheel. ",
    "Keys: arrows step through rows, + and \u2212 zoom, Shift-arrows move, 0 resets. All charts share one range.");
  const node = section("outputs", "Outputs", element("div", { class: "bar" }, legend, tools), hint, charts.map((chart) => chart.node));
  return { node, view, charts };
}
