// A map of the places of space and time, colored by an output at one time, and the bands of a place along time.

const PLACE_RADIUS = 7;

/** The rows by place: its coordinates and its rows in the order of time. */
function placesOf(rows) {
  const times = rows.inputs[rows.inputs.length - 1].values;
  const found = new Map();
  for (let row = 0; row < rows.nRows; row++) {
    const at = rows.inputs.slice(0, -1).map((input) => input.values[row]);
    const key = at.join();
    if (!found.has(key)) found.set(key, { at, rows: [] });
    found.get(key).rows.push(row);
  }
  const places = [...found.values()];
  for (const place of places) place.rows.sort((a, b) => times[a] - times[b]);
  return places;
}

/** The rows of one place as rows along time, with one of the outputs. */
function rowsOfPlace(rows, place, output) {
  const time = rows.inputs[rows.inputs.length - 1];
  const picked = (column) => column && Float32Array.from(place.rows, (row) => column[row]);
  const own = Object.create(Output.prototype);
  const columns = Object.fromEntries(Object.entries(output.columns).map(([name, column]) => [name, picked(column)]));
  Object.assign(own, { name: output.name, unit: output.unit, center: output.center, hasHeldOut: output.hasHeldOut, hasBad: output.hasBad, unpacked: columns });
  const values = Float64Array.from(place.rows, (row) => time.values[row]);
  return { nRows: values.length, inputs: [{ ...time, values }], outputs: [own] };
}

class PlaceMap {
  constructor(rows, geometry) {
    Object.assign(this, { rows, geometry, places: placesOf(rows), chosen: 0, charts: new Map() });
    this.time = rows.inputs[rows.inputs.length - 1];
    this.times = Float64Array.from(new Set(this.time.values)).sort();
    // The first coordinate goes up if it is a latitude, to the right otherwise.
    this.axes = geometry === "latlon" ? [1, 0] : [0, rows.inputs.length > 2 ? 1 : -1];
    const options = (entries) => entries.map(([value, text]) => element("option", { value }, text));
    this.output = element("select", { "aria-label": "Output shown by color", onchange: () => { this.recolor(); this.showSeries(); } },
      options(rows.outputs.map((output, at) => [at, withUnit(output)])));
    this.quantity = element("select", { "aria-label": "Quantity shown by color", onchange: () => this.recolor() },
      options(Object.entries(QUANTITIES).map(([name, { title }]) => [name, title])));
    this.slider = element("input", {
      type: "range", class: "time-slider", min: 0, max: this.times.length - 1, step: 1, "aria-label": `Time shown: ${this.time.name}`, oninput: () => this.recolor(),
    });
    this.slider.value = this.times.length - 1;
    const step = (by) => () => { this.slider.value = Number(this.slider.value) + by; this.recolor(); };
    const button = (text, name, action) => element("button", { type: "button", "aria-label": name, title: name, onclick: action }, text);
    this.shown = element("span", { class: "range", "aria-live": "polite" });
    this.legend = element("div", { class: "ramp" });
    this.plot = new Plot(380, "Places by their coordinates. Arrow keys choose a place, Page Up and Page Down a time.",
      { left: 64, right: 14, top: 26, bottom: 44 });
    this.name = element("h3", { "aria-live": "polite" });
    this.series = element("div", { class: "place-series" });
    this.node = element("div", { class: "map places" },
      element("div", { class: "bar" }, this.legend, element("div", { class: "tools" }, this.output, this.quantity)),
      element("div", { class: "bar time-bar" }, button("\u2190", "Earlier", step(-1)), this.slider, button("\u2192", "Later", step(1)), this.shown),
      this.plot.node, this.name, this.series);
    this.attach(step);
    this.showSeries();
    drawToFit(this.plot.node, (width) => { this.fitted = width; this.recolor(); });
  }

  get present() { return this.rows.outputs[Number(this.output.value) || 0]; }

  /** The row of a place at the shown time, or −1. */
  rowOf(place) {
    const at = this.times[Number(this.slider.value)];
    const found = place.rows.find((row) => this.time.values[row] === at);
    return found === undefined ? -1 : found;
  }

  /** Colors of the places at the shown time, on the scale of all times. */
  recolor() {
    const output = this.present, ramp = rampColors(), quantity = QUANTITIES[this.quantity.value];
    const column = quantity.column(output), offset = quantity.center(output);
    const [lo, hi] = extent([column], 0, column.length);
    this.colors = this.places.map((place) => {
      const row = this.rowOf(place);
      return row < 0 || Number.isNaN(column[row]) ? null
        : ramp[Math.max(0, Math.min(N_SHADES - 1, Math.floor(((column[row] - lo) / (hi - lo || 1)) * N_SHADES)))];
    });
    const text = (value) => fixed(value + offset, decimalsFor((hi - lo) / 10, value + offset));
    this.legend.replaceChildren(element("span", {}, text(lo)),
      element("span", { class: "ramp-bar", style: `background:linear-gradient(to right,${ramp.filter((_, at) => at % 7 === 0).join(",")})` }),
      element("span", {}, text(hi)));
    const time = this.time.text.write(this.times[Number(this.slider.value)]);
    this.shown.textContent = time;
    this.slider.setAttribute("aria-valuetext", time);
    this.draw();
  }

  /** Two scales with the same length of a unit; degrees of longitude are shorter away from the equator. */
  scales() {
    const [across, up] = this.axes;
    const ends = (axis) => padded(axis < 0 ? [-1, 1] : extent([this.rows.inputs[axis].values], 0, this.rows.nRows), 0.08);
    const [x, y] = [ends(across), ends(up)];
    const shrink = this.geometry === "plane" || up < 0 ? 1 : Math.max(0.1, Math.cos(((y[0] + y[1]) / 2) * (Math.PI / 180)));
    const [left, right] = this.plot.xRange, [bottom, top] = this.plot.yRange;
    if (up >= 0) {
      const unit = Math.min((right - left) / ((x[1] - x[0]) * shrink), (bottom - top) / (y[1] - y[0]));
      const widened = ([lo, hi], half) => [(lo + hi) / 2 - half, (lo + hi) / 2 + half];
      return [new Scale(widened(x, (right - left) / (2 * unit * shrink)), [left, right]), new Scale(widened(y, (bottom - top) / (2 * unit)), [bottom, top])];
    }
    return [new Scale(x, [left, right]), new Scale(y, [bottom, top])];
  }

  draw() {
    if (!this.fitted) return;
    const { plot, axes: [across, up] } = this;
    const context = plot.resize(this.fitted, Math.max(260, Math.min(440, Math.round(this.fitted * 0.55))));
    const [x, y] = this.scales();
    const inputs = this.rows.inputs;
    const yTicks = up < 0 ? [] : inputs[up].text.ticks(y.lo, y.hi, 5);
    plot.axes(x, inputs[across].text.ticks(x.lo, x.hi, plot.width / 110), y, yTicks, [
      shape("text", { class: "axis-title", x: plot.xRange[1], y: plot.height - 6, "text-anchor": "end" }, `${withUnit(inputs[across])} \u2192`),
      up >= 0 && shape("text", { class: "axis-title", x: 10, y: 16 }, `\u2191 ${withUnit(inputs[up])}`),
    ].filter(Boolean));
    this.px = this.places.map((place) => x.pixel(place.at[across]));
    this.py = this.places.map((place) => (up < 0 ? y.pixel(0) : y.pixel(place.at[up])));
    const radius = this.places.length > 60 ? PLACE_RADIUS - 2 : PLACE_RADIUS;
    const hollow = styleValue("--muted");
    this.places.forEach((_, number) => {
      context.beginPath();
      context.arc(this.px[number], this.py[number], radius, 0, 2 * Math.PI);
      if (this.colors[number]) { context.fillStyle = this.colors[number]; context.fill(); }
      context.strokeStyle = hollow;
      context.lineWidth = 1;
      context.stroke();
    });
    plot.overlay.replaceChildren(shape("circle", { class: "place-ring", cx: this.px[this.chosen], cy: this.py[this.chosen], r: radius + 4 }));
  }

  /** Draws the chosen place along time. */
  showSeries() {
    const place = this.places[this.chosen];
    const key = `${this.output.value} ${this.chosen}`;
    if (!this.charts.has(key)) {
      const own = rowsOfPlace(this.rows, place, this.present);
      const view = new View(own.inputs[0].values);
      this.charts.set(key, new SeriesChart(own, own.outputs[0], view, longestDrawnStep(view.values)));
    }
    const chart = this.charts.get(key);
    this.name.textContent = this.rows.inputs.slice(0, -1).map((input, axis) => `${input.name} ${input.text.write(place.at[axis])}`).join(", ");
    this.node.dataset.place = String(this.chosen);
    this.series.replaceChildren(chart.node);
  }

  choose(number) {
    this.chosen = number;
    this.showSeries();
    this.draw();
  }

  attach(step) {
    const node = this.plot.node;
    const nearest = (event) => {
      const box = node.getBoundingClientRect();
      return this.px ? nearestPoint(this.places.keys(), (at) => this.px[at], (at) => this.py[at], event.clientX - box.left, event.clientY - box.top, 18) : -1;
    };
    node.addEventListener("click", (event) => { const found = nearest(event); if (found >= 0) this.choose(found); });
    node.addEventListener("pointermove", (event) => {
      const found = nearest(event);
      const row = found < 0 ? -1 : this.rowOf(this.places[found]);
      node.style.cursor = found < 0 ? "default" : "pointer";
      if (row < 0) tooltip.hide();
      else tooltip.show(event.clientX, event.clientY, rowHeading(this.rows, row), [["output", this.present.name], ...this.present.lines(row)]);
    });
    node.addEventListener("pointerleave", () => tooltip.hide());
    node.addEventListener("blur", () => tooltip.hide());
    node.addEventListener("keydown", (event) => {
      const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (direction) this.chooseTowards(direction);
      else if (event.key === "PageUp") step(-1)();
      else if (event.key === "PageDown") step(1)();
      else return;
      event.preventDefault();
    });
  }

  /** Chooses the nearest place in a direction, or the next one if there is none. */
  chooseTowards([dx, dy]) {
    let best = -1, least = Infinity;
    this.places.forEach((_, number) => {
      const x = this.px[number] - this.px[this.chosen], y = this.py[number] - this.py[this.chosen];
      const along = x * dx + y * dy, aside = Math.abs(x * dy) + Math.abs(y * dx);
      if (number !== this.chosen && along > 0 && along + 2 * aside < least) { least = along + 2 * aside; best = number; }
    });
    const step = dx + dy > 0 ? 1 : -1;
    this.choose(best >= 0 ? best : (this.chosen + step + this.places.length) % this.places.length);
  }
}

/** The section with the map of places. */
function placesSection(rows, geometry) {
  const map = new PlaceMap(rows, geometry);
  return {
    map,
    node: section("places", "Places",
      element("p", { class: "hint screen-only" }, "Click a place to see it along time; arrow keys on the map choose places too. Hollow places have no row at the time shown. "
        + "Colors have one scale for all times."), map.node),
  };
}
