// The filled gaps, longest first: what a person opens the page for.

/** Most gaps that are drawn, one per output, and most that are listed. */
const MOST_DRAWN = 6;
const MOST_LISTED = 12;
/** Rows shown on each side of a gap, at least. */
const LEAST_CONTEXT = 12;
/** Least correlation, of either sign, at which another output is drawn beside a gap. */
const COMPANION = 0.9;
const MOST_COMPANIONS = 2;
const GAP_CHART_HEIGHT = 210;

/** Runs of missing cells of an output that have a prediction: `{ output, from, to }`, rows `from..to`. */
function filledGaps(output) {
  const { observed, mean } = output.columns;
  const gaps = [];
  for (let row = 0; row < observed.length; row++) {
    if (!Number.isNaN(observed[row]) || Number.isNaN(mean[row])) continue;
    let to = row + 1;
    while (to < observed.length && Number.isNaN(observed[to]) && !Number.isNaN(mean[to])) to++;
    gaps.push({ output, from: row, to });
    row = to;
  }
  return gaps;
}

/** The mean width of the 95 % band inside a gap and outside all gaps. */
function bandWidths(gap) {
  const { observed, lo95, hi95 } = gap.output.columns;
  const inside = [], outside = [];
  for (let row = 0; row < observed.length; row++) {
    const width = hi95[row] - lo95[row];
    if (!Number.isFinite(width)) continue;
    if (row >= gap.from && row < gap.to) inside.push(width);
    else if (!Number.isNaN(observed[row])) outside.push(width);
  }
  const average = (widths) => (widths.length ? widths.reduce((sum, width) => sum + width, 0) / widths.length : NaN);
  return { inside: average(inside), outside: average(outside) };
}

/** Mean and standard deviation of the finite values of a column. */
function meanAndSpread(column) {
  let n = 0, sum = 0, squares = 0;
  for (const value of column) if (Number.isFinite(value)) { n++; sum += value; squares += value * value; }
  const mean = n ? sum / n : 0;
  return { mean, spread: n ? Math.sqrt(Math.max(0, squares / n - mean * mean)) : 0 };
}

/** Outputs with a strong correlation that have data inside a gap: `{ output, correlation }`, strongest first. */
function companions(gap, rows, model) {
  if (!model || !model.correlation.length) return [];
  const own = model.outputs.indexOf(gap.output.name);
  if (own < 0) return [];
  const found = [];
  for (const output of rows.outputs) {
    const other = model.outputs.indexOf(output.name);
    const correlation = other < 0 || other === own ? 0 : model.correlation[own][other];
    if (!(Math.abs(correlation) >= COMPANION)) continue;
    const { observed } = output.columns;
    let n = 0;
    for (let row = gap.from; row < gap.to; row++) if (!Number.isNaN(observed[row])) n++;
    if (2 * n >= gap.to - gap.from) found.push({ output, correlation });
  }
  found.sort((a, b) => Math.abs(b.correlation) - Math.abs(a.correlation));
  return found.slice(0, MOST_COMPANIONS);
}

/** Observed values of a companion, moved and scaled to the mean and spread of the output of the gap. */
function scaledTo(output, companion) {
  const own = meanAndSpread(output.columns.observed), other = meanAndSpread(companion.output.columns.observed);
  const slope = other.spread > 0 ? Math.sign(companion.correlation) * own.spread / other.spread : 0;
  return companion.output.columns.observed.map((value) => own.mean + slope * (value - other.mean));
}

function strokeCompanion(context, column, values, from, to, x, y, color) {
  context.strokeStyle = color;
  context.lineWidth = 1.1;
  context.globalAlpha = 0.75;
  context.setLineDash([4, 3]);
  context.beginPath();
  let isPenDown = false;
  for (let row = from; row < to; row++) {
    if (Number.isNaN(column[row])) { isPenDown = false; continue; }
    const at = [x.pixel(values[row]), y.pixel(column[row])];
    if (isPenDown) context.lineTo(...at);
    else context.moveTo(...at);
    isPenDown = true;
  }
  context.stroke();
  context.setLineDash([]);
  context.globalAlpha = 1;
}

/** A span of the input in words: days, hours, or the input's unit. */
function spanText(input, span) {
  if (!input.text.zone) return `${significant(span, 3)}${input.unit ? ` ${input.unit}` : ""}`;
  for (const [name, seconds] of [["days", DAY], ["hours", 3600], ["minutes", 60]]) {
    if (span >= 2 * seconds) return `${significant(span / seconds, 3).replace(/\.0+$/, "")} ${name}`;
  }
  return `${significant(span, 3)} seconds`;
}

/** How long a gap is: a missing cell covers half the way to its neighbors. */
function gapSpan(gap, values) {
  const first = gap.from > 0 ? (values[gap.from - 1] + values[gap.from]) / 2 : values[0];
  const last = gap.to < values.length ? (values[gap.to - 1] + values[gap.to]) / 2 : values[values.length - 1];
  return last - first;
}

/** Length, cells and place of a gap in words. */
function gapWords(gap, input) {
  const place = gap.to === input.values.length ? ", after the last value" : gap.from === 0 ? ", before the first value" : "";
  return `${spanText(input, gapSpan(gap, input.values))}, ${count(gap.to - gap.from)} ${gap.to - gap.from === 1 ? "cell" : "cells"}${place}`;
}

/** One gap, with as much of the table on both sides as it is long. */
function gapChart(gap, rows, model, longStep) {
  const input = rows.inputs[0], { values } = input, { output } = gap;
  const context = Math.max(LEAST_CONTEXT, gap.to - gap.from);
  const from = Math.max(0, gap.from - context), to = Math.min(values.length, gap.to + context);
  const beside = companions(gap, rows, model);
  const lines = beside.map((companion) => scaledTo(output, companion));
  const plot = new Plot(GAP_CHART_HEIGHT, `${withUnit(output)}: the gap from ${input.text.write(values[gap.from])} to ${input.text.write(values[gap.to - 1])}, `
    + "filled, with its bands");
  plot.node.removeAttribute("tabindex");
  drawToFit(plot.node, (width) => {
    const canvas = plot.resize(width);
    const { columns } = output;
    const shown = extent([columns.lo95, columns.hi95, columns.observed, columns.heldOut], from, to);
    const x = new Scale(padded([values[from], values[to - 1]], 0.01), plot.xRange);
    const y = new Scale(padded(shown, 0.05), plot.yRange);
    const box = { left: plot.xRange[0], right: plot.xRange[1], top: plot.yRange[1], bottom: plot.yRange[0] };
    const { values: marks, decimals } = roundTicks(y.lo + output.center, y.hi + output.center, 4);
    plot.axes(x, input.text.ticks(x.lo, x.hi, (box.right - box.left) / 90), y,
      marks.map((value) => ({ value: value - output.center, text: fixed(value, decimals) })),
      [shape("path", { class: "gap", d: gapPath(gapsOf(values, columns.observed, longStep), x, box) })]);
    canvas.save();
    plot.clip(canvas);
    const all = segments(vertices(columns, values, from, to, x, y, plot.density, longStep));
    fillBand(canvas, all, "lo95", "hi95", styleValue("--band95"));
    fillBand(canvas, all, "lo50", "hi50", styleValue("--band50"));
    for (const line of lines) strokeCompanion(canvas, line, values, from, to, x, y, styleValue("--muted"));
    drawPoints(canvas, columns.observed, values, from, to, x, y, styleValue("--point"), { radius: 2.2, barOpacity: 0.55 });
    if (columns.bad) {
      drawPoints(canvas, columns.bad, values, from, to, x, y, styleValue("--bad"), { radius: 4.5, barOpacity: 0.9, hollow: true });
    }
    if (columns.heldOut) {
      drawPoints(canvas, columns.heldOut, values, from, to, x, y, styleValue("--held-out"), { radius: 3, barOpacity: 0.8, hollow: true });
    }
    strokeMean(canvas, all, styleValue("--accent"));
    canvas.restore();
  });
  const names = beside.map(({ output: other, correlation }) => `${other.name} (correlation ${fixed(correlation, 2)})`);
  return element("figure", { class: "gap-figure" },
    element("figcaption", {}, element("span", { class: "name" }, output.name), output.unit && element("span", { class: "unit" }, output.unit),
      element("span", { class: "readout" }, gapWords(gap, input))),
    plot.node,
    names.length > 0 && element("p", { class: "beside" }, element("span", { class: "key beside" }), ` ${names.join(", ")}`));
}

/** Where a filled gap begins and ends, and how wide its band is. */
function gapTable(gaps, input) {
  const rows = gaps.map((gap) => {
    const { inside, outside } = bandWidths(gap);
    return { cells: [gap.output.name, input.text.write(input.values[gap.from]), input.text.write(input.values[gap.to - 1]), count(gap.to - gap.from),
      Number.isFinite(inside) ? `\u00b1 ${significant(inside / 2, 2)}${gap.output.unit ? ` ${gap.output.unit}` : ""}` : DASH,
      outside > 0 ? `${fixed(inside / outside, 1)} \u00d7` : DASH] };
  });
  return tableOf([{ title: "output" }, { title: "first missing" }, { title: "last missing" }, { title: "cells", numeric: true },
    { title: `95${NARROW_SPACE}% band`, numeric: true, hint: "half its mean width inside the gap" },
    { title: "against observed rows", numeric: true, hint: "mean width of the band in the gap, over its mean width where the output was observed" }],
  rows, "The longest gaps");
}

/** The section about filled gaps along one input; null if nothing was filled. */
function gapsSection(rows, model) {
  const input = rows.inputs[0];
  const gaps = rows.outputs.flatMap(filledGaps);
  if (!gaps.length) return null;
  const nCells = gaps.reduce((sum, gap) => sum + gap.to - gap.from, 0);
  gaps.sort((a, b) => gapSpan(b, input.values) - gapSpan(a, input.values) || (b.to - b.from) - (a.to - a.from));
  // The longest gap of each output, so that one output with many gaps does not hide the others.
  const drawn = [];
  for (const gap of gaps) if (drawn.length < MOST_DRAWN && !drawn.some((other) => other.output === gap.output)) drawn.push(gap);
  const longStep = longestDrawnStep(input.values);
  const key = (kind, text) => element("li", {}, element("span", { class: `key ${kind}` }), text);
  return section("gaps", "What was filled",
    element("p", {}, `${count(nCells)} missing cells in ${count(gaps.length)} ${gaps.length === 1 ? "gap" : "gaps"}. `,
      drawn.length < gaps.length ? "The longest gap of each output:" : ""),
    element("ul", { class: "legend" }, key("observed", "observed"), key("mean", "filled in"), key("band50", `50${NARROW_SPACE}%`),
      key("band95", `95${NARROW_SPACE}%`), key("missing", "missing"),
      drawn.some((gap) => gap.output.hasHeldOut) && key("held-out", "held out"), model && model.correlation.length > 0 && key("beside", "correlated output, moved and scaled to this one")),
    element("div", { class: "gap-charts" }, drawn.map((gap) => gapChart(gap, rows, model, longStep))),
    gaps.length > 1 && figure(gaps.length > MOST_LISTED ? `The ${MOST_LISTED} longest of ${count(gaps.length)} gaps` : "All gaps",
      gapTable(gaps.slice(0, MOST_LISTED), input)));
}
