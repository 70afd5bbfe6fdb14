// The live page, from top to bottom.

/** Asks for a token until the service answers. */
async function firstState() {
  for (;;) {
    try {
      return await asked("/v1/state");
    } catch (error) {
      await new Promise((done) => {
        const field = element("input", { type: "password", name: "token", autocomplete: "current-password" });
        const form = element("form", { onsubmit: (event) => {
          event.preventDefault();
          token = field.value.trim();
          sessionStorage.setItem("catena-token", token);
          done();
        } }, element("label", {}, "Token", field), element("button", { type: "submit" }, "Open"), element("p", { class: "said wrong" }, error.message));
        document.getElementById("live").replaceChildren(element("h1", {}, "catena"), form);
        document.documentElement.dataset.theme = presentTheme();
        field.focus();
      });
    }
  }
}

const placeText = (at) => Object.values(at).join(", ");

/** The last surprises; a click fills the form. */
function surpriseTable(state, form) {
  const rows = state.surprises.map((surprise) => {
    const fill = () => form.fill(surprise.output, Object.values(surprise.at), surprise.value);
    const button = element("button", { type: "button", onclick: fill, "aria-label": `Correct ${surprise.output} at ${placeText(surprise.at)}` }, "Correct");
    return { cells: [surprise.output, placeText(surprise.at), significant(surprise.value, 5), `${significant(surprise.expected, 5)} \u00b1 ${significant(1.959964 * surprise.std, 2)}`,
      fixed(surprise.deviation, 1), button] };
  });
  if (!rows.length) return element("p", {}, "None of the last readings contradicts all others.");
  return tableOf([{ title: "output" }, { title: "at" }, { title: "value", numeric: true }, { title: `expected, 95${NARROW_SPACE}%`, numeric: true },
    { title: "deviations", numeric: true, hint: "standard deviations from what all other readings say" }, { title: "" }], rows, "The last surprises");
}

/** The last reading of every output, how long it has been silent, and its forecast. */
function outputTable(state, ahead) {
  const rows = state.outputs.map((name, at) => {
    const last = state.readings[at];
    const forecast = (row) => (row ? `${significant(row[`${name}_mean`], 4)} (${significant(row[`${name}_lo`], 4)} to ${significant(row[`${name}_hi`], 4)})` : DASH);
    return { cells: [name, last ? placeText(last.at) : DASH, last ? significant(last.value, 5) : DASH,
      last && last.silent > 0 ? element("span", { class: "silent" }, `${count(last.silent)} rows`) : DASH, forecast(ahead[0]), forecast(ahead[ahead.length - 1])] };
  });
  const later = ahead.length ? placeText(Object.fromEntries(state.inputs.map((input) => [input.name, ahead[ahead.length - 1][input.name]]))) : "";
  return tableOf([{ title: "output" }, { title: "last reading" }, { title: "value", numeric: true }, { title: "missing since", numeric: true, hint: "rows after its last reading" },
    { title: `next row, 95${NARROW_SPACE}%`, numeric: true }, { title: `${later}, 95${NARROW_SPACE}%`, numeric: true }], rows, "The last readings and forecasts");
}

/** Numbers in the headline. */
function factsOf(state) {
  const { coverage } = state;
  const facts = [["Rows \u00d7 outputs", `${count(state.rows)} \u00d7 ${count(state.outputs.length)}`], ["Observed values", count(state.observed)], ["Journal", `line ${count(state.line)}`]];
  if (coverage.readings) facts.push([`Last ${count(coverage.readings)} readings inside 50${NARROW_SPACE}% and 95${NARROW_SPACE}%`, `${percent(coverage["50"])} and ${percent(coverage["95"])}`]);
  if (state.learning) facts.push(["Model", "learning"]);
  else if (state.learned.last) facts.push(["Model", state.learned.last]);
  return element("dl", { class: "facts" }, facts.map(([label, value]) => element("div", {}, element("dt", {}, label), element("dd", {}, value))));
}

async function main() {
  document.documentElement.dataset.theme = presentTheme();
  let state = await firstState();
  const status = element("span", { class: "status", role: "status" }, "live");
  const theme = element("button", { type: "button", class: "theme", id: "theme", onclick: switchTheme }, "Dark");
  const facts = element("div", {}), surprises = element("div", {}), table = element("div", {});
  let view = null, pictures = null, charts = [];
  const form = new ReadingForm(state, () => pictures && pictures.want());
  const isLine = state.inputs.length === 1 && state.ends !== null;

  let ahead = [], isAsking = false, isStale = true;
  const forecast = async () => {
    if (!isLine || isAsking) { isStale = true; return; }
    isAsking = true;
    while (isStale) {
      isStale = false;
      try { ahead = (await asked("/v1/ahead?rows=24&interval=0.95")).rows; } catch { ahead = []; }
      table.replaceChildren(outputTable(state, ahead));
      await new Promise((done) => setTimeout(done, 2000));
    }
    isAsking = false;
  };
  const show = () => {
    document.title = state.data;
    facts.replaceChildren(factsOf(state));
    surprises.replaceChildren(surpriseTable(state, form));
    if (view) view.grow(...state.ends, state.step);
    for (const chart of charts) chart.surprises = state.surprises.filter((surprise) => surprise.output === chart.output.name);
    if (pictures) pictures.want();
    isStale = true;
    forecast();
  };

  const outputs = [];
  if (isLine) {
    const button = (label, name, action) => element("button", { type: "button", "aria-label": name, title: name, onclick: action }, label);
    const last = button("Last readings", `The last ${FOLLOWED_ROWS} rows, moving with the readings`, () => view.reset());
    const all = button("Everything", "The whole table", () => view.show(view.fullLo, view.fullHi));
    const range = element("span", { class: "range" });
    const moved = () => {
      if (!view) return;
      last.classList.toggle("chosen", view.isFollowing);
      const text = charts.length ? charts[0].input.text : null;
      range.textContent = text && view.values.length ? `${text.write(view.lo)} to ${text.write(view.hi)}` : "";
      for (const chart of charts) chart.drawIfVisible();
      if (pictures) pictures.want();
    };
    view = new LiveView(...state.ends, state.step, moved);
    const pick = (chart) => {
      const picked = chart.picked();
      if (picked) form.fill(chart.output.name, [chart.input.text.zone ? chart.input.text.write(picked[0]).replace(" UTC", "Z") : String(picked[0])], picked[1]);
    };
    charts = state.outputs.map((name, number) => new LiveChart(state.axis, name, number, view, pick));
    pictures = new Pictures(charts, view, (picture, error) => {
      status.textContent = picture ? "live" : error.message;
      status.classList.toggle("lost", !picture);
      if (!picture) return;
      document.documentElement.dataset.version = picture.version;
      range.textContent = `${charts[0].input.text.write(view.lo)} to ${charts[0].input.text.write(view.hi)}`;
    });
    // A chart that is scrolled into view needs a picture of its own.
    const seen = new IntersectionObserver(() => setTimeout(() => pictures.want(), 0), { rootMargin: "200px" });
    charts.forEach((chart) => seen.observe(chart.node));
    redrawers.push(() => charts.forEach((chart) => chart.drawIfVisible()));
    const key = (kind, text) => element("li", {}, element("span", { class: `key ${kind}` }), text);
    const legend = element("ul", { class: "legend" }, key("observed", "observed"), key("bad", "surprise"), key("mean", "posterior mean"),
      key("band50", `50${NARROW_SPACE}%`), key("band95", `95${NARROW_SPACE}%`), key("missing", "missing"));
    const tools = element("div", { class: "tools", role: "toolbar", "aria-label": "Range shown" }, last, all,
      button("\u2212", "Zoom out", () => view.zoom(2)), button("+", "Zoom in", () => view.zoom(0.5)),
      button("\u2190", "Earlier", () => view.pan(-0.5)), button("\u2192", "Later", () => view.pan(0.5)), range);
    const hint = element("p", { class: "hint" }, "Drag to zoom, Shift-drag to move, double-click to follow the readings; click a chart, or press Enter in it, to correct the reading "
      + "at the cursor. Keys: arrows step, + and \u2212 zoom, Shift-arrows move, 0 follows. The dashed line is the last row; after it are forecasts.");
    outputs.push(section("outputs", "Outputs", element("div", { class: "bar" }, legend, tools), hint, charts.map((chart) => chart.node)));
    outputs.push(section("last", "Last readings and forecasts", table));
  } else {
    outputs.push(section("outputs", "Outputs", element("p", {}, "Charts are drawn along one input; this model has several, or no rows.")));
  }
  document.getElementById("live").replaceChildren(
    element("header", {}, element("div", { class: "headline" }, element("div", {}, element("h1", {}, state.data), status), theme), facts),
    section("correct", "Set or correct a value", form.node), section("surprises", "Surprises", surprises), ...outputs,
    element("footer", {}, element("p", {}, "Bands cover a new observation, noise included. Zoomed out, bars reach from the lowest to the highest observed value, and bands are drawn at a few hundred places. "
      + "Missing stretches are shaded."), element("p", { class: "maker" }, `catena-serve ${state.catena}`)));
  setTheme(presentTheme());
  systemDark.addEventListener("change", () => setTheme(presentTheme()));
  show();
  document.documentElement.dataset.ready = "yes";
  follow((next) => {
    status.textContent = "live";
    status.classList.remove("lost");
    state = next;
    show();
  }, (what) => {
    status.textContent = what;
    status.classList.add("lost");
  });
}

main();
