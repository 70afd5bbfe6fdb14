// A drawing area: grid and labels as SVG below, data on a canvas, cursor as SVG above.

const MARGIN = { left: 58, right: 12, top: 8, bottom: 36 };

/** A linear map from values to pixels and back. */
class Scale {
  constructor([lo, hi], [from, to]) {
    Object.assign(this, { lo, hi, from, to, slope: (to - from) / (hi - lo) });
  }

  pixel(value) { return this.from + (value - this.lo) * this.slope; }

  value(pixel) { return this.lo + (pixel - this.from) / this.slope; }
}

/** Grid, canvas and overlay of one chart. `margin` may differ from the common one. */
class Plot {
  constructor(height, label, margin = MARGIN) {
    this.height = height;
    this.margin = margin;
    this.grid = shape("svg", { class: "grid", "aria-hidden": "true" });
    this.canvas = element("canvas", {});
    this.overlay = shape("svg", { class: "overlay", "aria-hidden": "true" });
    this.node = element("div", { class: "plot", tabindex: 0, role: "img", "aria-label": label, style: `height:${height}px` },
      this.grid, this.canvas, this.overlay);
  }

  /** Fits everything to a width and returns the drawing context, cleared. */
  resize(width, height = this.height) {
    this.width = width;
    this.height = height;
    this.node.style.height = `${height}px`;
    this.node.style.setProperty("--ratio", `${width} / ${height}`);
    for (const svg of [this.grid, this.overlay]) svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const density = Math.max(window.devicePixelRatio || 1, document.documentElement.classList.contains("printing") ? 2 : 1);
    this.density = density;
    this.canvas.width = Math.round(width * density);
    this.canvas.height = Math.round(height * density);
    const context = this.canvas.getContext("2d");
    context.setTransform(density, 0, 0, density, 0, 0);
    return context;
  }

  get xRange() { return [this.margin.left, this.width - this.margin.right]; }

  get yRange() { return [this.height - this.margin.bottom, this.margin.top]; }

  /** Limits drawing to the area between the axes. */
  clip(context) {
    const [left, right] = this.xRange, [bottom, top] = this.yRange;
    context.beginPath();
    context.rect(left, top, right - left, bottom - top);
    context.clip();
  }

  /** Grid lines and labels. Ticks are `{ value, text, context }`; `offset` is added to y values before they are written. */
  axes(x, xTicks, y, yTicks, extra = []) {
    const [left, right] = this.xRange, [bottom, top] = this.yRange;
    const nodes = [...extra];
    for (const tick of yTicks) {
      const at = y.pixel(tick.value);
      nodes.push(shape("line", { class: "rule", x1: left, x2: right, y1: at, y2: at }));
      nodes.push(shape("text", { class: "y-label", x: left - 8, y: at, dy: "0.34em", "text-anchor": "end" }, tick.text));
    }
    nodes.push(shape("line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom }));
    for (const tick of xTicks) {
      const at = x.pixel(tick.value);
      nodes.push(shape("line", { class: "axis", x1: at, x2: at, y1: bottom, y2: bottom + 4 }));
      const label = { class: "x-label", x: at, "text-anchor": "middle", "data-value": tick.value };
      nodes.push(shape("text", { ...label, y: bottom + 16 }, tick.text));
      if (tick.context) nodes.push(shape("text", { class: "x-context", x: at, "text-anchor": "middle", y: bottom + 29 }, tick.context));
    }
    this.grid.replaceChildren(...nodes);
    return { left, right, top, bottom };
  }
}

/** A small drawing of lines in SVG alone: `draw(width)` returns its nodes; redrawn at every width. */
function smallChart(height, label, draw) {
  const svg = shape("svg", { class: "small-chart", role: "img", "aria-label": label });
  const node = element("div", { class: "small" }, svg);
  drawToFit(node, (width) => {
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("height", height);
    svg.replaceChildren(...draw(width));
  });
  return node;
}

/** Axes of a small chart, with titles. */
function smallAxes(box, x, xTicks, y, yTicks, xTitle, yTitle) {
  const nodes = [];
  for (const tick of yTicks) {
    const at = y.pixel(tick.value);
    nodes.push(shape("line", { class: "rule", x1: box.left, x2: box.right, y1: at, y2: at }));
    nodes.push(shape("text", { class: "y-label", x: box.left - 7, y: at, dy: "0.34em", "text-anchor": "end" }, tick.text));
  }
  nodes.push(shape("line", { class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }));
  for (const tick of xTicks) {
    const at = x.pixel(tick.value);
    nodes.push(shape("line", { class: "axis", x1: at, x2: at, y1: box.bottom, y2: box.bottom + 4 }));
    nodes.push(shape("text", { class: "x-label", x: at, y: box.bottom + 17, "text-anchor": "middle" }, tick.text));
  }
  nodes.push(shape("text", { class: "axis-title", x: (box.left + box.right) / 2, y: box.bottom + 34, "text-anchor": "middle" }, xTitle));
  if (yTitle) nodes.push(shape("text", { class: "axis-title", x: box.left, y: box.top - 9 }, yTitle));
  return nodes;
}

/** Points as the `points` attribute of a polyline. */
function polyline(points) {
  return points.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join(" ");
}
