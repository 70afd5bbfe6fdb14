// Draws gaps, bands, points and mean along one input. Zoomed out, each pixel column shows its lowest and highest value, so
// that no extreme is lost; zoomed in, every row is drawn.

/** Lines are interrupted at steps longer than this many median steps. */
const LONG_STEP = 20;

/** The longest step between rows across which lines are drawn. */
function longestDrawnStep(values) {
  const steps = [];
  const stride = Math.max(1, Math.floor(values.length / 5000));
  for (let at = stride; at < values.length; at += stride) {
    const step = values[at] - values[at - 1];
    if (step > 0) steps.push(step);
  }
  steps.sort((a, b) => a - b);
  return steps.length ? LONG_STEP * steps[steps.length >> 1] : Infinity;
}

/** Gaps of an output as pairs of ends along the input, sorted. */
function gapsOf(values, observed, longStep) {
  const gaps = [];
  const add = (lo, hi) => {
    const last = gaps[gaps.length - 1];
    if (last && lo <= last[1]) last[1] = Math.max(last[1], hi);
    else gaps.push([lo, hi]);
  };
  const n = values.length;
  for (let row = 0; row < n; row++) {
    if (row > 0 && values[row] - values[row - 1] > longStep) add(values[row - 1], values[row]);
    if (!Number.isNaN(observed[row])) continue;
    // A missing cell covers half the way to its neighbors.
    const lo = row > 0 ? (values[row - 1] + values[row]) / 2 : values[row];
    const hi = row < n - 1 ? (values[row] + values[row + 1]) / 2 : values[row];
    add(lo, hi);
  }
  return gaps;
}

/** The gaps wide enough to see, as one path. */
function gapPath(gaps, x, box) {
  let path = "";
  let at = gaps.findIndex((gap) => gap[1] >= x.lo);
  for (; at >= 0 && at < gaps.length && gaps[at][0] <= x.hi; at++) {
    const left = Math.max(box.left, x.pixel(gaps[at][0])), right = Math.min(box.right, x.pixel(gaps[at][1]));
    if (right - left >= 1.5) path += `M${left.toFixed(1)},${box.top}H${right.toFixed(1)}V${box.bottom}H${left.toFixed(1)}Z`;
  }
  return path;
}

/**
 * Rows `from..to` as vertices: one per row if they fit, else one per pixel column with the extremes in it.
 * A vertex is `{ x, lo95, hi95, lo50, hi50, low, high }` in pixels (`low`, `high`: the mean); null separates segments.
 */
function vertices(columns, values, from, to, x, y, density, longStep) {
  const found = [];
  const { mean, lo50, hi50, lo95, hi95 } = columns;
  const perRow = to - from <= 2 * (x.to - x.from);
  let current = null;
  for (let row = from; row < to; row++) {
    if (row > from && values[row] - values[row - 1] > longStep) found.push(null);
    if (Number.isNaN(mean[row])) { found.push(null); current = null; continue; }
    const exact = x.pixel(values[row]);
    const at = perRow ? exact : (Math.floor(exact * density) + 0.5) / density;
    if (!perRow && current && current.x === at && found[found.length - 1] === current) {
      current.lo95 = Math.max(current.lo95, y.pixel(lo95[row]));
      current.hi95 = Math.min(current.hi95, y.pixel(hi95[row]));
      current.lo50 = Math.max(current.lo50, y.pixel(lo50[row]));
      current.hi50 = Math.min(current.hi50, y.pixel(hi50[row]));
      current.low = Math.max(current.low, y.pixel(mean[row]));
      current.high = Math.min(current.high, y.pixel(mean[row]));
      continue;
    }
    const middle = y.pixel(mean[row]);
    current = {
      x: at, low: middle, high: middle, lo95: y.pixel(lo95[row]), hi95: y.pixel(hi95[row]),
      lo50: y.pixel(lo50[row]), hi50: y.pixel(hi50[row]),
    };
    found.push(current);
  }
  return found;
}

/** Segments of vertices between nulls; a single vertex becomes a short dash. */
function segments(found) {
  const all = [];
  let one = [];
  for (const vertex of [...found, null]) {
    if (vertex) { one.push(vertex); continue; }
    if (one.length === 1) one = [{ ...one[0], x: one[0].x - 2 }, { ...one[0], x: one[0].x + 2 }];
    if (one.length) all.push(one);
    one = [];
  }
  return all;
}

/** Fills between two edges of every segment. */
function fillBand(context, all, low, high, color) {
  context.fillStyle = color;
  for (const segment of all) {
    context.beginPath();
    for (const vertex of segment) context.lineTo(vertex.x, vertex[high]);
    for (let at = segment.length - 1; at >= 0; at--) context.lineTo(segment[at].x, segment[at][low]);
    context.closePath();
    context.fill();
  }
}

/** The mean as a line; where a column holds many rows the line covers their range. */
function strokeMean(context, all, color) {
  context.strokeStyle = color;
  context.lineWidth = 1.6;
  context.lineJoin = "round";
  for (const segment of all) {
    context.beginPath();
    for (const vertex of segment) {
      context.lineTo(vertex.x, vertex.low);
      if (vertex.high !== vertex.low) context.lineTo(vertex.x, vertex.high);
    }
    context.stroke();
  }
}

/** Points: dots while there is room, else a bar per pixel column from the lowest to the highest. */
function drawPoints(context, column, values, from, to, x, y, color, style) {
  const room = (x.to - x.from) / Math.max(1, to - from);
  context.fillStyle = color;
  context.strokeStyle = color;
  if (style.bars || room < 0.5) {
    let at = NaN, low = 0, high = 0;
    const flush = () => { if (!Number.isNaN(at)) context.fillRect(at - 0.5, high - 0.75, 1, low - high + 1.5); };
    context.globalAlpha = style.barOpacity;
    for (let row = from; row < to; row++) {
      if (Number.isNaN(column[row])) continue;
      const pixel = Math.floor(x.pixel(values[row])) + 0.5, height = y.pixel(column[row]);
      if (pixel !== at) { flush(); at = pixel; low = high = height; }
      low = Math.max(low, height);
      high = Math.min(high, height);
    }
    flush();
    context.globalAlpha = 1;
    return;
  }
  const radius = Math.min(style.radius, Math.max(1, room * 0.4));
  for (let row = from; row < to; row++) {
    if (Number.isNaN(column[row])) continue;
    context.beginPath();
    context.arc(x.pixel(values[row]), y.pixel(column[row]), radius, 0, 2 * Math.PI);
    if (style.hollow && radius > 1.5) { context.lineWidth = 1.3; context.stroke(); } else context.fill();
  }
}
