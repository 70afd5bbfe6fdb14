// Charts whose window is fetched from the service: only what is on the screen travels.

/** Rows of the window that follows the last reading. */
const FOLLOWED_ROWS = 240;
/** Share of the window after the last reading. */
const SHARE_AHEAD = 0.12;
/** The longest time between two fetches while nothing changes on the screen. */
const SHORTEST_PAUSE = 200;

/** The window, which moves with the last reading while it is followed. */
class LiveView extends View {
  constructor(first, last, step, onMove) {
    super([first, last]);
    Object.assign(this, { first, last, step, onMove, values: [], isFollowing: true, leastSpan: Math.max(2 * step, 1e-9 * (last - first)) });
    this.grow(first, last, step);
    this.followNow();
  }

  /** The ends of the table. */
  grow(first, last, step) {
    const ahead = Math.max(step, Math.min(0.1 * (last - first), 48 * step));
    Object.assign(this, { first, last, step, fullLo: first - step, fullHi: last + Math.max(ahead, SHARE_AHEAD * FOLLOWED_ROWS * step) });
    if (this.isFollowing) this.followNow();
  }

  followNow() {
    const span = Math.min(FOLLOWED_ROWS * this.step, this.fullHi - this.fullLo);
    this.isFollowing = true;
    this.hi = Math.min(this.fullHi, this.last + SHARE_AHEAD * span);
    this.lo = Math.max(this.fullLo, this.hi - span);
    this.moved();
  }

  show(lo, hi) {
    this.isFollowing = false;
    super.show(lo, hi);
    this.moved();
  }

  reset() { this.followNow(); this.drawSoon(); }

  moved() { if (this.onMove) this.onMove(); }
}

/** One output. Its bands and its observed values come with every picture. */
class LiveChart extends SeriesChart {
  constructor(axis, name, number, view, onPick) {
    const none = { axis, name: axis.name, unit: axis.unit, values: new Float64Array(0), text: new AxisText(axis, []) };
    const columns = { observed: [], mean: [], lo50: [], hi50: [], lo95: [], hi95: [], heldOut: null, bad: null };
    super({ inputs: [none] }, { name, unit: null, center: 0, columns, lines: () => [] }, view, Infinity);
    Object.assign(this, { number, marks: { values: none.values, observed: [], isBinned: false }, surprises: [] });
    let pressed = null;
    this.plot.node.addEventListener("pointerdown", (event) => { pressed = event.clientX; });
    this.plot.node.addEventListener("click", (event) => { if (Math.abs(event.clientX - pressed) < 4) onPick(this); });
    this.plot.node.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); onPick(this); } });
  }

  /** Takes what a picture says of this output. */
  take(bands, output, points, observed, picture) {
    this.input = bands.inputs[0];
    this.output = output;
    const shift = observed.center - output.center;
    const values = points.inputs[0].values;
    this.marks = { values, observed: observed.columns.observed.map((value) => value + shift), isBinned: picture.binned };
    // A bin is no row: only rows that are drawn one by one tell where a line breaks.
    this.longStep = picture.binned ? Infinity : longestDrawnStep(values);
    this.gaps = gapsOf(values, this.marks.observed, this.longStep);
    this.end = picture.ends[1];
    output.lines = (row) => this.lines(row);
    this.drawIfVisible();
  }

  /** Lines of the tooltip: the reading nearest to a place of the grid, if it is nearer than the next place, and the bands. */
  lines(row) {
    const { output, marks, input } = this;
    const bands = Output.prototype.lines.call(output, row).slice(1);
    const at = marks.isBinned || !marks.values.length ? -1 : nearestIndex(marks.values, input.values[row]);
    const reach = input.values.length > 1 ? input.values[1] - input.values[0] : Infinity;
    if (at < 0 || Math.abs(marks.values[at] - input.values[row]) > reach || Number.isNaN(marks.observed[at])) return bands;
    return [["reading", `${significant(marks.observed[at] + output.center, 5)} at ${input.text.write(marks.values[at])}`], ...bands];
  }

  draw() {
    if (!this.fitted || !this.output.columns.mean.length) { this.isStale = true; return; }
    // Breaks of the bands are at places where nothing is predicted, never between the places of the grid.
    const longStep = this.longStep;
    this.longStep = Infinity;
    super.draw();
    this.longStep = longStep;
    const context = this.plot.canvas.getContext("2d");
    context.save();
    this.plot.clip(context);
    const own = this.surprises.filter((surprise) => surprise.x !== null).sort((a, b) => a.x - b.x);
    const values = own.map((surprise) => surprise.x), column = own.map((surprise) => surprise.value - this.output.center);
    context.lineWidth = 1.6;
    drawPoints(context, column, values, 0, values.length, this.x, this.y, styleValue("--bad"), { radius: 5, hollow: true, barOpacity: 1 });
    context.restore();
    const at = this.x.pixel(this.end);
    if (at > this.x.from && at < this.x.to) {
      this.plot.grid.append(shape("line", { class: "now", x1: at, x2: at, y1: this.plot.yRange[1], y2: this.plot.yRange[0] }));
    }
  }

  /** The observed value nearest to the cursor, as `[input, value]`. */
  picked() {
    const { values, observed } = this.marks;
    const wanted = this.cursorValue();
    if (!values.length || this.marks.isBinned) return null;
    const at = nearestIndex(values, wanted);
    return [values[at], observed[at] + this.output.center];
  }
}

/** Fetches pictures of the charts on the screen, one at a time. */
class Pictures {
  constructor(charts, view, onPicture) {
    Object.assign(this, { charts, view, onPicture, isBusy: false, isWanted: false, isFailing: false });
  }

  /** Fetches now, or after the picture that is on its way. */
  want() {
    this.isWanted = true;
    if (!this.isBusy) this.fetch();
  }

  async fetch() {
    this.isBusy = true;
    while (this.isWanted) {
      this.isWanted = false;
      const shown = this.charts.filter((chart) => chart.isVisible && chart.fitted);
      const began = performance.now();
      if (shown.length) {
        try {
          const { lo, hi } = this.view;
          const places = Math.max(100, Math.min(1500, Math.round(shown[0].fitted - 70)));
          const picture = await asked(`/v1/picture?from=${lo}&to=${hi}&places=${places}&outputs=${shown.map((chart) => chart.number)}`);
          const bands = new Rows(picture.bands), points = new Rows(picture.points);
          this.view.values = bands.inputs[0].values;
          shown.forEach((chart, at) => chart.take(bands, bands.outputs[at], points, points.outputs[at], picture));
          this.onPicture(picture);
        } catch (error) {
          this.onPicture(null, error);
        }
      }
      // A slow service is asked less often.
      const took = performance.now() - began;
      await new Promise((done) => setTimeout(done, Math.max(SHORTEST_PAUSE, took)));
    }
    this.isBusy = false;
  }
}
