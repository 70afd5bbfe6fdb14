// A map of the rows of two or three inputs with the edges of the structure, colored by an output.

/** From low to high, with increasing lightness, so that it is readable without color. */
const RAMP_LIGHT = ["#23307a", "#1f6a96", "#23998c", "#86c15c", "#e8cf3a"];
const RAMP_DARK = ["#4a5cc4", "#3a86bb", "#3fb39f", "#a0d36c", "#f6e05a"];
const N_SHADES = 64;

/** `N_SHADES` colors along the ramp. */
function rampColors() {
  const stops = document.documentElement.dataset.theme === "dark" ? RAMP_DARK : RAMP_LIGHT;
  const channels = (color) => [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  return Array.from({ length: N_SHADES }, (_, shade) => {
    const place = (shade / (N_SHADES - 1)) * (stops.length - 1);
    const left = Math.min(stops.length - 2, Math.floor(place));
    const [a, b] = [channels(stops[left]), channels(stops[left + 1])];
    return `rgb(${a.map((value, at) => Math.round(value + (b[at] - value) * (place - left))).join(",")})`;
  });
}

/** Quantities that can color the points. */
const QUANTITIES = {
  mean: { title: "posterior mean", column: (output) => output.columns.mean, center: (output) => output.center },
  observed: { title: "observed value", column: (output) => output.columns.observed, center: (output) => output.center },
  width: {
    title: `width of the 95${NARROW_SPACE}% band`, center: () => 0,
    column: ({ columns }) => columns.hi95.map((hi, row) => hi - columns.lo95[row]),
  },
};

class PointMap {
  constructor(rows, structure) {
    this.rows = rows;
    this.dim = rows.inputs.length;
    this.edges = structure ? rowIndices(structure.edges) : new Uint32Array(0);
    this.all = Array.from({ length: rows.nRows }, (_, row) => row);
    this.center();
    this.output = element("select", { "aria-label": "Output shown by color", onchange: () => this.recolor() },
      rows.outputs.map((output, at) => element("option", { value: at }, withUnit(output))));
    this.quantity = element("select", { "aria-label": "Quantity shown by color", onchange: () => this.recolor() },
      Object.entries(QUANTITIES).map(([name, { title }]) => element("option", { value: name }, title)));
    this.showsEdges = element("input", { type: "checkbox", checked: true, onchange: () => this.draw() });
    this.legend = element("div", { class: "ramp" });
    const names = rows.inputs.map((input) => input.name).join(", ");
    this.plot = new Plot(460, `Points by ${names}. Arrow keys ${this.dim === 3 ? "rotate" : "move"}, plus and minus zoom, 0 resets.`,
      this.dim === 2 ? { left: 64, right: 12, top: 26, bottom: 44 } : { left: 0, right: 0, top: 0, bottom: 0 });
    const tools = element("div", { class: "tools" }, rows.outputs.length > 0 && [this.output, this.quantity],
      this.edges.length > 0 && element("label", {}, this.showsEdges, " edges"),
      element("button", { type: "button", onclick: () => { this.center(); this.draw(); } }, "Reset"));
    this.node = element("div", { class: "map" }, element("div", { class: "bar" }, this.legend, tools), this.plot.node);
    this.attach();
    drawToFit(this.plot.node, (width) => { this.fitted = width; this.recolor(); });
  }

  center() {
    Object.assign(this, { zoom: 1, shiftX: 0, shiftY: 0, turn: 0.6, tilt: 0.45 });
    this.box = this.rows.inputs.map((input) => extent([input.values], 0, input.values.length));
  }

  /** Colors by row for the chosen output and quantity. */
  recolor() {
    const output = this.rows.outputs[Number(this.output.value) || 0];
    const ramp = rampColors();
    this.colors = null;
    if (output) {
      const quantity = QUANTITIES[this.quantity.value];
      const column = quantity.column(output), offset = quantity.center(output);
      const [lo, hi] = extent([column], 0, column.length);
      this.colors = Array.from(column, (value) => Number.isNaN(value) ? null
        : ramp[Math.max(0, Math.min(N_SHADES - 1, Math.floor(((value - lo) / (hi - lo || 1)) * N_SHADES)))]);
      const text = (value) => fixed(value + offset, decimalsFor((hi - lo) / 10, value + offset));
      this.legend.replaceChildren(element("span", {}, text(lo)),
        element("span", { class: "ramp-bar", style: `background:linear-gradient(to right,${ramp.filter((_, at) => at % 7 === 0).join(",")})` }),
        element("span", {}, text(hi)));
    }
    this.draw();
  }

  /** Pixel positions of all rows. Two inputs have a scale each; three are rotated and projected orthographically. */
  project() {
    const n = this.rows.nRows;
    const [xs, ys, zs] = this.rows.inputs.map((input) => input.values);
    this.px = new Float64Array(n);
    this.py = new Float64Array(n);
    if (this.dim === 2) {
      const [x, y] = this.scales();
      for (let row = 0; row < n; row++) {
        this.px[row] = x.pixel(xs[row]);
        this.py[row] = y.pixel(ys[row]);
      }
      return;
    }
    const { width, height } = this.plot;
    const size = Math.min(0.3 * width, 0.29 * height) * this.zoom;
    const [ct, st, cp, sp] = [Math.cos(this.turn), Math.sin(this.turn), Math.cos(this.tilt), Math.sin(this.tilt)];
    this.place = ([u, v, w]) => [width / 2 + this.shiftX + size * (ct * u - st * v),
      height / 2 + this.shiftY - size * (cp * w + sp * (st * u + ct * v))];
    const scaled = this.box.map(([lo, hi]) => (value) => (hi > lo ? (2 * (value - lo)) / (hi - lo) - 1 : 0));
    for (let row = 0; row < n; row++) {
      [this.px[row], this.py[row]] = this.place([scaled[0](xs[row]), scaled[1](ys[row]), scaled[2](zs[row])]);
    }
  }

  /** The two scales of a map, moved and zoomed. */
  scales() {
    const moved = ([from, to], shift) => {
      const middle = (from + to) / 2 + shift, half = ((to - from) / 2) * this.zoom;
      return [middle - half, middle + half];
    };
    const [x, y] = this.box.map((ends) => padded(ends, 0.04));
    return [new Scale(x, moved(this.plot.xRange, this.shiftX)), new Scale(y, moved(this.plot.yRange, this.shiftY))];
  }

  /** Axes of a map with two inputs. */
  flatFrame() {
    const { plot } = this;
    const [x, y] = this.scales();
    const [left, right] = plot.xRange, [bottom, top] = plot.yRange;
    const [across, up] = this.rows.inputs;
    const xTicks = across.text.ticks(x.value(left), x.value(right), plot.width / 110);
    const yTicks = up.text.ticks(y.value(bottom), y.value(top), 6).map((tick) => ({ ...tick, text: tick.context ? `${tick.text} ${tick.context}` : tick.text }));
    plot.axes(x, xTicks, y, yTicks, [
      shape("text", { class: "axis-title", x: right, y: plot.height - 6, "text-anchor": "end" }, `${withUnit(across)} \u2192`),
      shape("text", { class: "axis-title", x: 10, y: 16 }, `\u2191 ${withUnit(up)}`),
    ]);
  }

  /** The box around three inputs, with names and limits on its outer edges. */
  boxFrame() {
    const edges = [];
    for (const axis of [0, 1, 2]) for (const p of [-1, 1]) for (const q of [-1, 1]) {
      const [from, to] = [-1, 1].map((value) => { const at = [p, q]; at.splice(axis, 0, value); return this.place(at); });
      edges.push({ axis, from, to, isBottom: axis !== 2 && q === -1 });
    }
    const nodes = edges.map(({ from, to }) => shape("line", { class: "rule", x1: from[0], y1: from[1], x2: to[0], y2: to[1] }));
    const middle = this.place([0, 0, 0]);
    this.rows.inputs.forEach((input, axis) => {
      const own = edges.filter((edge) => edge.axis === axis && (axis === 2 || edge.isBottom));
      const rank = axis === 2 ? (edge) => edge.from[0] : (edge) => -(edge.from[1] + edge.to[1]);
      const { from, to } = own.reduce((best, edge) => (rank(edge) < rank(best) ? edge : best));
      const label = (share, text) => {
        const x = from[0] + share * (to[0] - from[0]), y = from[1] + share * (to[1] - from[1]);
        const isLeft = x < middle[0];
        nodes.push(shape("text", {
          class: "x-label halo", x: x + (isLeft ? -8 : 8), y: y + (axis === 2 ? 4 : 14), "text-anchor": isLeft ? "end" : "start",
        }, text));
      };
      label(0.18, input.text.write(this.box[axis][0]));
      label(0.5, withUnit(input));
      label(0.82, input.text.write(this.box[axis][1]));
    });
    this.plot.overlay.replaceChildren(...nodes);
  }

  draw() {
    if (!this.fitted) return;
    const { plot } = this;
    const context = plot.resize(this.fitted, Math.max(300, Math.min(520, Math.round(this.fitted * 0.62))));
    this.project();
    if (this.dim === 2) this.flatFrame();
    else this.boxFrame();
    context.save();
    plot.clip(context);
    if (this.showsEdges.checked && this.edges.length) {
      context.strokeStyle = styleValue("--edge");
      context.lineWidth = this.edges.length > 20000 ? 0.6 : 1;
      context.beginPath();
      for (let at = 0; at < this.edges.length; at += 2) {
        context.moveTo(this.px[this.edges[at]], this.py[this.edges[at]]);
        context.lineTo(this.px[this.edges[at + 1]], this.py[this.edges[at + 1]]);
      }
      context.stroke();
    }
    const n = this.rows.nRows;
    const radius = Math.max(1.2, Math.min(4, 90 / Math.sqrt(n)));
    const hollow = styleValue("--muted");
    for (let row = 0; row < n; row++) {
      const color = this.colors ? this.colors[row] : hollow;
      context.beginPath();
      context.arc(this.px[row], this.py[row], radius, 0, 2 * Math.PI);
      if (color) { context.fillStyle = color; context.fill(); } else { context.strokeStyle = hollow; context.lineWidth = 0.7; context.stroke(); }
    }
    context.restore();
  }

  attach() {
    const node = this.plot.node;
    let drag = null;
    const local = (event) => { const box = node.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    const later = () => {
      if (this.waiting) return;
      this.waiting = true;
      requestAnimationFrame(() => { this.waiting = false; this.draw(); });
    };
    const move = (dx, dy) => {
      if (this.dim === 3) {
        this.turn += dx * 0.008;
        this.tilt = Math.max(-1.57, Math.min(1.57, this.tilt + dy * 0.008));
      } else { this.shiftX += dx; this.shiftY += dy; }
      later();
    };
    const scale = (factor, [x, y]) => {
      const zoom = Math.max(0.5, Math.min(200, this.zoom * factor));
      const [cx, cy] = [this.plot.xRange, this.plot.yRange].map(([from, to]) => (from + to) / 2);
      this.shiftX = (x - cx) - (x - cx - this.shiftX) * (zoom / this.zoom);
      this.shiftY = (y - cy) - (y - cy - this.shiftY) * (zoom / this.zoom);
      this.zoom = zoom;
      later();
    };
    node.addEventListener("pointerdown", (event) => {
      node.focus({ preventScroll: true });
      node.setPointerCapture(event.pointerId);
      drag = local(event);
    });
    node.addEventListener("pointermove", (event) => {
      const at = local(event);
      if (drag) { move(at[0] - drag[0], at[1] - drag[1]); drag = at; tooltip.hide(); return; }
      if (!this.px) return;
      const row = nearestPoint(this.all, (one) => this.px[one], (one) => this.py[one], at[0], at[1], 16);
      const output = this.rows.outputs[Number(this.output.value) || 0];
      if (row < 0) tooltip.hide();
      else tooltip.show(event.clientX, event.clientY, rowHeading(this.rows, row), output ? [["output", output.name], ...output.lines(row)] : []);
    });
    for (const name of ["pointerup", "pointercancel"]) node.addEventListener(name, () => { drag = null; });
    node.addEventListener("pointerleave", () => tooltip.hide());
    node.addEventListener("dblclick", () => { this.center(); later(); });
    node.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && document.activeElement !== node) return;
      event.preventDefault();
      scale(Math.exp(-Math.max(-100, Math.min(100, event.deltaY)) * 0.004), local(event));
    }, { passive: false });
    node.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: [-24, 0], ArrowRight: [24, 0], ArrowUp: [0, -24], ArrowDown: [0, 24] }[event.key];
      const middle = [this.plot.width / 2, this.plot.height / 2];
      if (steps) move(...steps);
      else if (event.key === "+" || event.key === "=") scale(1.4, middle);
      else if (event.key === "-") scale(1 / 1.4, middle);
      else if (event.key === "0" || event.key === "Home") { this.center(); later(); }
      else return;
      event.preventDefault();
    });
  }
}

/** The section with the map. */
function mapSection(rows, structure) {
  const map = new PointMap(rows, structure);
  const hint = rows.inputs.length === 3 ? "Drag to rotate" : "Drag to move";
  return {
    map,
    node: section("structure", structure ? "Structure over the points" : "Points",
      structure && element("p", {}, structure.summary),
      element("p", { class: "hint screen-only" }, `${hint}, click and use the wheel to zoom, double-click to reset. Hollow points have no value.`), map.node),
  };
}
