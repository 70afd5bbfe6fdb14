// The page, from top to bottom.

/** Headline, size of the table, theme switch. */
function pageHeader(report) {
  const run = report.run;
  const facts = [];
  if (run) {
    const cells = run.n_rows * run.n_outputs;
    const share = cells > 0 ? ` (${percent(run.n_missing / cells)} of ${count(cells)})` : "";
    if (run.data) facts.push(["Data", run.data]);
    facts.push(["Rows \u00d7 outputs", `${count(run.n_rows)} \u00d7 ${count(run.n_outputs)}`], ["Missing cells", count(run.n_missing) + share]);
  }
  const theme = element("button", { type: "button", class: "theme screen-only", id: "theme", onclick: switchTheme }, "Dark");
  return element("header", {},
    element("div", { class: "headline" }, element("div", {}, element("h1", {}, report.title), report.subtitle && element("p", { class: "subtitle" }, report.subtitle)), theme),
    factList(facts));
}

function factList(facts) {
  return facts.length > 0 && element("dl", { class: "facts" }, facts.map(([label, value]) => element("div", {}, element("dt", {}, label), element("dd", {}, value))));
}

/** Command, options and digest: what another person needs to make the page again. */
function runSection(run) {
  const facts = [];
  if (run.command) facts.push(["Command", element("code", {}, run.command)]);
  for (const fact of run.facts) facts.push([fact.label, fact.value]);
  if (run.digest) facts.push(["Digest", element("code", { class: "digest" }, run.digest)]);
  return facts.length > 0 && section("run", "How this page was made", factList(facts));
}

function warningList(warnings) {
  return element("aside", { class: "warnings", "aria-label": "Warnings" },
    element("h2", {}, warnings.length === 1 ? "1 warning" : `${warnings.length} warnings`),
    element("ul", {}, warnings.map((warning) => element("li", {}, warning.message, warning.advice && element("span", { class: "advice" }, ` ${warning.advice}`)))));
}

/** How to read the bands and charts, and what made the page. */
function pageFooter(report) {
  const notes = [];
  if (report.table) {
    notes.push(report.table.band_meaning === "observation"
      ? "Bands cover a new observation, noise included."
      : "Bands cover the noise-free function; a new observation varies more, by its noise.");
    notes.push("Bands treat the learned hyperparameters as known; uncertainty about the hyperparameters is not included.");
    if (report.table.inputs.length === 1) {
      notes.push("Zoomed out, each pixel column shows its lowest and highest value; zoomed in, every row is drawn. Lines are interrupted where the input has no rows.");
    } else if (report.places) {
      notes.push("Fields over places and time are exact along time; their correlation is a product of one in time and one between places.");
    } else {
      notes.push("With several inputs, message passing is exact for the chain or tree over the points, which approximates the distances between them.");
    }
    notes.push("This file contains the data it draws. Share it only with people who may see the data.");
  }
  return element("footer", {}, [...notes, ...report.footnotes].map((note) => element("p", {}, note)),
    report.generated_by && element("p", { class: "maker" }, `Made by ${report.generated_by}.`));
}

/** Prints in light colors, including charts that were never scrolled into view. */
function attachPrinting() {
  window.addEventListener("beforeprint", () => {
    document.documentElement.classList.add("printing");
    tooltip.hide();
    setTheme("light");
  });
  window.addEventListener("afterprint", () => {
    document.documentElement.classList.remove("printing");
    setTheme(presentTheme());
  });
}

function main() {
  const block = document.getElementById("report-data");
  const report = JSON.parse(block.textContent);
  block.remove();
  document.documentElement.dataset.theme = presentTheme();
  const rows = report.table ? new Rows(report.table) : null;
  // First what was filled, how well that is known and what to distrust; then the outputs, the model and how it was found.
  const answers = [];
  if (rows && rows.outputs.length && rows.inputs.length === 1) answers.push(gapsSection(rows, report.model));
  if (rows && rows.outputs.length && rows.nRows && report.places) answers.push(placesSection(rows, report.places).node);
  if (report.calibration) answers.push(calibrationSection(report.calibration));
  const rest = [];
  if (rows && rows.outputs.length) rest.push((rows.inputs.length === 1 ? seriesSection(rows) : scatterSection(rows)).node);
  if (rows && !report.places && (rows.inputs.length === 2 || rows.inputs.length === 3)) rest.push(mapSection(rows, report.structure).node);
  if (report.model) rest.push(modelSection(report.model));
  if (report.search) rest.push(searchSection(report.search));
  if (report.evidence.some((path) => path.values.some((value) => value !== null))) rest.push(evidenceSection(report.evidence));
  if (report.run) rest.push(runSection(report.run));
  const sections = [...answers, ...rest].filter(Boolean);
  const links = sections.map((part) => element("a", { href: `#${part.id}` }, part.querySelector("h2").textContent));
  const children = [pageHeader(report), links.length > 1 && element("nav", { class: "screen-only", "aria-label": "Sections" }, links), ...answers,
    report.warnings.length > 0 && warningList(report.warnings), ...rest, pageFooter(report)];
  document.getElementById("report").append(...children.filter(Boolean));
  setTheme(presentTheme());
  systemDark.addEventListener("change", () => setTheme(presentTheme()));
  attachPrinting();
  document.documentElement.dataset.ready = "yes";
}

main();
