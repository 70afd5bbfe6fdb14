// Creates nodes. Text enters the document as text, never as markup, since column names may contain anything.

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

/** Sets attributes (functions become listeners, as `onclick`) and appends children. */
function decorate(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

/** An HTML element with attributes and children. */
function element(name, attributes, ...children) {
  return decorate(document.createElement(name), attributes, children);
}

/** An SVG element with attributes and children. */
function shape(name, attributes, ...children) {
  return decorate(document.createElementNS(SVG_NAMESPACE, name), attributes, children);
}

/** A section of the page with a heading and an anchor. */
function section(id, title, ...children) {
  return element("section", { id, "aria-labelledby": `${id}-title` },
    element("h2", { id: `${id}-title` }, title), ...children);
}

/** A figure: small heading, body, explanation. */
function figure(title, body, caption) {
  return element("figure", {}, element("h3", {}, title), body, caption && element("figcaption", {}, caption));
}

/**
 * A table. Columns are `{ title, numeric, hint }`, rows `{ cells, mark }`; marked rows are highlighted.
 * A wide table scrolls inside its own box.
 */
function tableOf(columns, rows, caption) {
  const head = columns.map((column) =>
    element("th", { scope: "col", class: column.numeric && "number", title: column.hint }, column.title));
  const body = rows.map((row) => element("tr", { class: row.mark && "marked" },
    row.cells.map((cell, at) => element(at === 0 ? "th" : "td",
      { scope: at === 0 ? "row" : undefined, class: columns[at].numeric && "number" }, cell))));
  return element("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": caption },
    element("table", {}, element("caption", { class: "hidden" }, caption),
      element("thead", {}, element("tr", {}, head)), element("tbody", {}, body)));
}

/** A variable of the style sheet in the current theme. */
function styleValue(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Functions that redraw when the theme changes or the page is printed. */
const redrawers = [];

/** Calls `draw(width)` now and whenever the node's width or the theme changes. */
function drawToFit(node, draw) {
  let width = 0;
  const again = () => { if (width > 0) draw(width); };
  new ResizeObserver(() => {
    const found = Math.floor(node.clientWidth);
    if (found > 0 && found !== width && !document.documentElement.classList.contains("printing")) {
      width = found;
      again();
    }
  }).observe(node);
  redrawers.push(again);
}

/** The one tooltip of the page. */
const tooltip = {
  node: null,

  /** Shows a heading and lines `[label, value]` beside a point of the window. */
  show(clientX, clientY, heading, lines) {
    if (!this.node) {
      this.node = element("div", { class: "tooltip", id: "tooltip", role: "status" });
      document.body.append(this.node);
    }
    this.node.replaceChildren(element("strong", {}, heading),
      element("dl", {}, lines.map(([label, value]) => [element("dt", {}, label), element("dd", {}, value)])));
    this.node.hidden = false;
    const { width, height } = this.node.getBoundingClientRect();
    const right = clientX + 16 + width < window.innerWidth ? clientX + 16 : clientX - 16 - width;
    const below = clientY + 16 + height < window.innerHeight ? clientY + 16 : clientY - 16 - height;
    this.node.style.left = `${Math.max(4, right)}px`;
    this.node.style.top = `${Math.max(4, below)}px`;
  },

  hide() {
    if (this.node) this.node.hidden = true;
  },
};
