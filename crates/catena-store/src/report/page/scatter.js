// Predicted against observed values, for tables with several inputs.

/** With more cells, error bars are left out. */
const MOST_BARS = 1500;

/** One output: a point per cell, on the diagonal if predicted and true value are equal. */
class ScatterChart {
  constructor(rows, output) {
    Object.assign(this, { rows, output, isVisible: false });
    const { heldOut } = output.hasHeldOut ? output.columns : { heldOut: null };
    this.truth = heldOut || output.columns.observed;
    this.cells = [];
    for (let row = 0; row < rows.nRows; row++) {
      if (!Number.isNaN(this.truth[row]) && !Number.isNaN(output.columns.mean[row])) this.cells.push(row);
    }
    const kind = heldOut ? "held out" : "observed";
    this.plot = new Plot(300, `${withUnit(output)}: predicted against ${kind} values`, { left: 58, right: 12, top: 8, bottom: 44 });
    this.node = element("figure", { class: "series", "data-output": output.name },
      element("figcaption", {}, element("span", { class: "name" }, output.name),
        output.unit && element("span", { class: "unit" }, output.unit),
        element("span", { class: "readout" }, `${count(this.cells.length)} ${kind} cells`)), this.plot.node);
    this.kind = kind;
    this.plot.node.addEventListener("pointermove", (event) => this.hover(event));
    this.plot.node.addEventListener("pointerleave", () => { tooltip.hide(); this.plot.overlay.replaceChildren(); });
    drawToFit(this.plot.node, (width) => this.draw(width));
  }

  draw(width) {
    const { plot, output, cells, truth } = this;
    const { mean, lo95, hi95 } = output.columns;
    const context = plot.resize(width, Math.min(width, 340));
    const withBars = cells.length <= MOST_BARS;
    let lo = Infinity, hi = -Infinity;
    for (const row of cells) {
      lo = Math.min(lo, truth[row], withBars ? lo95[row] : mean[row]);
      hi = Math.max(hi, truth[row], withBars ? hi95[row] : mean[row]);
    }
    const ends = padded(lo <= hi ? [lo, hi] : [-1, 1], 0.04);
    const x = this.x = new Scale(ends, plot.xRange), y = this.y = new Scale(ends, plot.yRange);
    const ticks = (wanted) => {
      const { values, decimals } = roundTicks(ends[0] + output.center, ends[1] + output.center, wanted);
      return values.map((value) => ({ value: value - output.center, text: fixed(value, decimals) }));
    };
    const diagonal = shape("line", {
      class: "diagonal", x1: x.pixel(ends[0]), y1: y.pixel(ends[0]), x2: x.pixel(ends[1]), y2: y.pixel(ends[1]),
    });
    const title = shape("text", { class: "axis-title", x: (x.from + x.to) / 2, y: plot.height - 6, "text-anchor": "middle" },
      `${this.kind}; vertical axis: predicted${withBars ? `, 95${NARROW_SPACE}% bars` : ""}`);
    plot.axes(x, ticks(plot.width / 80), y, ticks(5), [diagonal, title]);
    context.save();
    plot.clip(context);
    if (withBars) {
      context.strokeStyle = styleValue("--band50");
      context.lineWidth = 1;
      context.beginPath();
      for (const row of cells) {
        context.moveTo(x.pixel(truth[row]), y.pixel(lo95[row]));
        context.lineTo(x.pixel(truth[row]), y.pixel(hi95[row]));
      }
      context.stroke();
    }
    context.fillStyle = styleValue("--accent");
    context.globalAlpha = cells.length > 5000 ? 0.25 : 0.75;
    const radius = cells.length > 5000 ? 1.2 : 2;
    for (const row of cells) {
      context.beginPath();
      context.arc(x.pixel(truth[row]), y.pixel(mean[row]), radius, 0, 2 * Math.PI);
      context.fill();
    }
    context.restore();
  }

  hover(event) {
    if (!this.x) return;
    const box = this.plot.node.getBoundingClientRect();
    const { mean } = this.output.columns;
    const row = nearestPoint(this.cells, (at) => this.x.pixel(this.truth[at]), (at) => this.y.pixel(mean[at]),
      event.clientX - box.left, event.clientY - box.top, 24);
    this.plot.overlay.replaceChildren();
    if (row < 0) { tooltip.hide(); return; }
    this.plot.overlay.append(shape("circle", {
      class: "cursor-dot", cx: this.x.pixel(this.truth[row]), cy: this.y.pixel(mean[row]), r: 4,
    }));
    tooltip.show(event.clientX, event.clientY, rowHeading(this.rows, row), this.output.lines(row));
  }
}

/** The row whose point is nearest to a place, or −1 if none is within reach. */
function nearestPoint(cells, xOf, yOf, x, y, reach) {
  let best = -1, least = reach * reach;
  for (const row of cells) {
    const distance = (xOf(row) - x) ** 2 + (yOf(row) - y) ** 2;
    if (distance < least) { least = distance; best = row; }
  }
  return best;
}

/** Inputs of a row in one line. */
function rowHeading(rows, row) {
  const parts = rows.inputs.slice(0, 4).map((input) => `${input.name} ${input.text.write(input.values[row])}`);
  return `row ${count(row)}: ${parts.join(", ")}${rows.inputs.length > 4 ? ", \u2026" : ""}`;
}

/** The section with all outputs of a table with several inputs. */
function scatterSection(rows) {
  const charts = rows.outputs.map((output) => new ScatterChart(rows, output));
  const seen = charts.some((chart) => chart.kind === "observed");
  const note = seen && element("p", { class: "hint" }, "Observed cells were used by the fit, so small errors there do not show its accuracy elsewhere. "
    + "Held-out cells were not used.");
  const node = section("outputs", "Predicted and observed", note, element("div", { class: "squares" }, charts.map((chart) => chart.node)));
  return { node, charts };
}
