// The data of the page, unpacked when first drawn.

/** Bytes of a base64 text. */
function bytesOf(text) {
  if (typeof Uint8Array.fromBase64 === "function") return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
  return bytes;
}

const doubles = (text) => new Float64Array(bytesOf(text).buffer);
const floats = (text) => new Float32Array(bytesOf(text).buffer);
const rowIndices = (text) => new Uint32Array(bytesOf(text).buffer);

/** Half-widths of central bands of a Gaussian, in standard deviations. */
const HALF_WIDTH_50 = 0.6744897501960817;
const HALF_WIDTH_95 = 1.959963984540054;

/** One output. Its columns are differences from `center`, which keeps digits of large values. */
class Output {
  constructor(packed) {
    this.packed = packed;
    this.name = packed.name;
    this.unit = packed.unit;
    this.center = packed.center;
    this.hasHeldOut = Boolean(packed.held_out);
    this.hasBad = Boolean(packed.bad);
  }

  /** The columns: `observed`, `heldOut`, `bad`, `mean`, `lo50`, `hi50`, `lo95`, `hi95`. */
  get columns() {
    if (!this.unpacked) {
      const columns = {
        observed: floats(this.packed.observed),
        heldOut: this.packed.held_out ? floats(this.packed.held_out) : null,
        bad: this.packed.bad ? floats(this.packed.bad) : null,
        mean: floats(this.packed.mean),
      };
      for (const [name, text] of this.packed.bands) columns[name] = floats(text);
      if (columns.std) {
        const around = (factor) => columns.mean.map((mean, row) => mean + factor * columns.std[row]);
        columns.lo50 = around(-HALF_WIDTH_50);
        columns.hi50 = around(HALF_WIDTH_50);
        columns.lo95 = around(-HALF_WIDTH_95);
        columns.hi95 = around(HALF_WIDTH_95);
      }
      this.unpacked = columns;
      this.packed = null;
    }
    return this.unpacked;
  }

  /** Lines of the tooltip for one row: observed value, mean and bands. */
  lines(row) {
    const { observed, heldOut, bad, mean, lo50, hi50, lo95, hi95 } = this.columns;
    const decimals = decimalsFor((hi95[row] - lo95[row]) / 4, mean[row] + this.center);
    const text = (difference) => fixed(difference + this.center, decimals);
    const unit = this.unit ? ` ${this.unit}` : "";
    const lines = [["observed", Number.isNaN(observed[row]) ? "missing" : text(observed[row]) + unit]];
    if (bad && !Number.isNaN(bad[row])) lines[0][1] += ", contradicted by all others";
    if (heldOut && !Number.isNaN(heldOut[row])) lines.push(["held out", text(heldOut[row]) + unit]);
    if (Number.isNaN(mean[row])) return [...lines, ["mean", "none"]];
    lines.push(["mean", text(mean[row]) + unit]);
    lines.push([`50${NARROW_SPACE}%`, `${text(lo50[row])} to ${text(hi50[row])}`]);
    lines.push([`95${NARROW_SPACE}%`, `${text(lo95[row])} to ${text(hi95[row])}`]);
    return lines;
  }
}

/** Rows, inputs and outputs. */
class Rows {
  constructor(packed) {
    this.nRows = packed.n_rows;
    this.inputs = packed.inputs.map((input) => {
      const values = doubles(input.values);
      return { axis: input.axis, name: input.axis.name, unit: input.axis.unit, values, text: new AxisText(input.axis, values) };
    });
    this.outputs = packed.outputs.map((output) => new Output(output));
    this.bandMeaning = packed.band_meaning;
  }
}

/** First index of sorted values that is not below the limit. */
function firstNotBelow(values, limit) {
  let lo = 0, hi = values.length;
  while (lo < hi) {
    const middle = (lo + hi) >> 1;
    if (values[middle] < limit) lo = middle + 1;
    else hi = middle;
  }
  return lo;
}

/** Index of the sorted value nearest to a target. */
function nearestIndex(values, target) {
  const at = firstNotBelow(values, target);
  if (at === 0) return 0;
  if (at === values.length) return values.length - 1;
  return target - values[at - 1] <= values[at] - target ? firstNotBelow(values, values[at - 1]) : at;
}

/** First and last (exclusive) of the sorted rows between two limits, with one beyond each. */
function rowsBetween(values, lo, hi) {
  const from = Math.max(0, firstNotBelow(values, lo) - 1);
  let to = firstNotBelow(values, hi);
  while (to < values.length && values[to] <= hi) to++;
  return [from, Math.min(values.length, to + 1)];
}

/** The smallest interval around two, either of which may be null. */
function joined(one, other) {
  if (!one || !other) return one || other;
  return [Math.min(one[0], other[0]), Math.max(one[1], other[1])];
}

/** Smallest and largest of the finite values of several columns between two rows; `without` if there is none. */
function extent(columns, from, to, without = [-1, 1]) {
  let lo = Infinity, hi = -Infinity;
  for (const column of columns) {
    if (!column) continue;
    for (let row = from; row < to; row++) {
      const value = column[row];
      if (value < lo && value !== -Infinity) lo = value;
      if (value > hi && value !== Infinity) hi = value;
    }
  }
  return lo <= hi ? [lo, hi] : without;
}

/** An interval widened at both ends by a share of its length; an empty interval gets a positive length. */
function padded([lo, hi], share) {
  const pad = hi > lo ? share * (hi - lo) : Math.max(Math.abs(lo) * 0.01, 0.5);
  return [lo - pad, hi + pad];
}
