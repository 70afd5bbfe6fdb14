// The fitted model: mixing matrix, correlation of outputs, shares of variance, length-scales.

/** With more columns, numbers appear on hover only. */
const MOST_NUMBERED_COLUMNS = 16;

/** A matrix as a table of colored cells: blue above zero, orange below, the paper's color at zero. */
function heatMap(rowNames, columnNames, matrix, limit, label) {
  const numbered = columnNames.length <= MOST_NUMBERED_COLUMNS;
  const upright = !numbered || columnNames.some((name) => name.length > 9);
  const cell = (value, row, column) => {
    if (value === null) return element("td", { class: "number" }, DASH);
    const strength = Math.min(1, Math.abs(value) / limit);
    const hue = value >= 0 ? "var(--positive)" : "var(--negative)";
    const text = fixed(value, 2);
    return element("td", {
      class: `number${strength > 0.55 ? " strong" : ""}`, "data-value": value,
      style: `background:color-mix(in oklab, ${hue} ${(strength * 100).toFixed(1)}%, var(--surface))`,
      title: `${rowNames[row]} \u00d7 ${columnNames[column]}: ${significant(value, 4)}`,
    }, numbered ? text : "");
  };
  return element("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": label },
    element("table", { class: `heat${numbered ? "" : " dense"}${upright ? " upright" : ""}` }, element("caption", { class: "hidden" }, label),
      element("thead", {}, element("tr", {}, element("td", {}),
        columnNames.map((name) => element("th", { scope: "col" }, element("span", {}, name))))),
      element("tbody", {}, matrix.map((values, row) => element("tr", {}, element("th", { scope: "row" }, rowNames[row]),
        values.map((value, column) => cell(value, row, column)))))));
}

/** The scale below heat maps. */
function heatLegend(limit) {
  return element("div", { class: "ramp" }, element("span", {}, fixed(-limit, 2)), element("span", { class: "ramp-bar diverging" }),
    element("span", {}, `+${fixed(limit, 2)}`));
}

/** Bars with the shares of each output's variance. */
function shareBars(model) {
  const parts = [["shared", "shared with other outputs"], ["private", "private"], ["noise", "noise"]];
  const key = element("ul", { class: "legend" }, parts.map(([name, text]) => element("li", {}, element("span", { class: `key share ${name}` }), text)));
  const bars = model.shares.map((shares, at) => {
    const text = parts.map(([name, words]) => `${words} ${percent(shares[name])}`).join(", ");
    return element("tr", {}, element("th", { scope: "row" }, model.outputs[at]),
      element("td", { class: "bar-cell" }, element("div", { class: "stack", role: "img", "aria-label": text, title: text },
        parts.map(([name]) => element("span", { class: `share ${name}`, style: `width:${(100 * shares[name]).toFixed(3)}%` })))),
      parts.map(([name]) => element("td", { class: "number" }, percent(shares[name]))));
  });
  return element("div", {}, key, element("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Shares of variance" },
    element("table", { class: "shares" }, element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "output"),
      element("td", {}), ["shared", "private", "noise"].map((name) => element("th", { scope: "col", class: "number" }, name)))), element("tbody", {}, bars))));
}

/** Length-scales as text and as dots on a logarithmic axis. */
function lengthScaleTable(model) {
  const all = model.latents.flatMap((latent) => latent.length_scales.map((scale) => scale.value)).filter((value) => value > 0);
  const [lo, hi] = [Math.log(Math.min(...all)), Math.log(Math.max(...all))];
  const place = (value) => (hi > lo ? 4 + (92 * (Math.log(value) - lo)) / (hi - lo) : 50);
  const rows = model.latents.map((latent) => ({
    cells: [latent.private_to === null ? latent.name : `${latent.name} (${model.outputs[latent.private_to]})`, element("span", { class: "whole" }, latent.kernel),
      latent.length_scales.map((scale) => scale.text).join(", "),
      element("div", { class: "dots", "aria-hidden": "true" }, latent.length_scales.filter((scale) => scale.value > 0)
        .map((scale) => element("span", { class: latent.private_to === null ? "" : "own", style: `left:${place(scale.value).toFixed(2)}%` })))],
  }));
  return tableOf([{ title: "latent" }, { title: "kernel" }, { title: "length-scale", numeric: true }, { title: "short \u2192 long (logarithmic)" }],
    rows, "Length-scales of the latent processes");
}

/** The section about the model. */
function modelSection(model) {
  const shared = model.latents.filter((latent) => latent.private_to === null).map((latent) => latent.name);
  const figures = [];
  if (model.mixing.length && shared.length) {
    const limit = Math.max(1e-12, ...model.mixing.flat().map((value) => Math.abs(value)));
    const unit = model.mixing_unit ? ` Entries are in ${model.mixing_unit}.` : "";
    figures.push(figure("Mixing matrix", [heatMap(model.outputs, shared, model.mixing, limit, "Mixing matrix"), heatLegend(limit)],
      `Weight of each shared latent in each output.${unit} The sign of a column is arbitrary.`));
  }
  if (model.correlation.length) {
    figures.push(figure("Correlation of outputs", [heatMap(model.outputs, model.outputs, model.correlation, 1, "Correlation of outputs"), heatLegend(1)],
      "Prior correlation of two outputs at the same input, without noise."));
  }
  const wide = [];
  if (model.shares.length) {
    wide.push(figure("Variance by source", shareBars(model), "Shares of each output's prior variance."));
  }
  if (model.latents.some((latent) => latent.length_scales.length)) {
    wide.push(figure("Length-scales", lengthScaleTable(model),
      "Values of a latent closer than its length-scale are strongly correlated; values many length-scales apart are nearly independent."));
  }
  return section("model", "Model", model.summary && element("p", {}, model.summary), element("div", { class: model.outputs.length > 6 ? "pair stacked" : "pair" }, figures), element("div", { class: "pair" }, wide));
}
