// Calibration and scores on held-out cells, log evidence by iteration, candidates of the search.

const SMALL_HEIGHT = 300;

/** Twice the standard error of a share of independent cells. */
const twoErrors = (share, cells) => 2 * Math.sqrt((share * (1 - share)) / Math.max(1, cells));

/** Nominal against observed coverage. */
function coverageChart(calibration) {
  const points = calibration.coverage;
  return smallChart(SMALL_HEIGHT, "Coverage of central intervals, nominal against observed", (width) => {
    const box = { left: 46, right: width - 12, top: 28, bottom: SMALL_HEIGHT - 44 };
    const x = new Scale([0, 1], [box.left, box.right]), y = new Scale([0, 1], [box.bottom, box.top]);
    const ticks = [0, 0.25, 0.5, 0.75, 1].map((value) => ({ value, text: `${100 * value}` }));
    const grid = Array.from({ length: 51 }, (_, at) => at / 50);
    const edge = (sign) => grid.map((p) => [x.pixel(p), y.pixel(Math.max(0, Math.min(1, p + sign * twoErrors(p, calibration.n_cells))))]);
    return [
      shape("polygon", { class: "expected", points: polyline([...edge(1), ...edge(-1).reverse()]) }),
      ...smallAxes(box, x, ticks, y, ticks, `nominal, ${NARROW_SPACE}%`, `cells inside, ${NARROW_SPACE}%`),
      shape("line", { class: "diagonal", x1: x.pixel(0), y1: y.pixel(0), x2: x.pixel(1), y2: y.pixel(1) }),
      shape("polyline", { class: "curve", points: polyline(points.map((point) => [x.pixel(point.nominal), y.pixel(point.observed)])) }),
      ...points.map((point) => shape("circle", { class: "dot", cx: x.pixel(point.nominal), cy: y.pixel(point.observed), r: 3.5 },
        shape("title", {}, `nominal ${percent(point.nominal, 0)}, observed ${percent(point.observed)}`))),
    ];
  });
}

/** Histogram of the probability integral transform; flat if the model is calibrated. */
function pitChart(calibration) {
  const counts = calibration.pit_counts;
  const total = counts.reduce((sum, value) => sum + value, 0);
  const heights = counts.map((value) => (total > 0 ? (value * counts.length) / total : 0));
  const halfWidth = twoErrors(1 / counts.length, total) * counts.length;
  return smallChart(SMALL_HEIGHT, "Histogram of the probability integral transform", (width) => {
    const box = { left: 46, right: width - 12, top: 28, bottom: SMALL_HEIGHT - 44 };
    const x = new Scale([0, 1], [box.left, box.right]);
    const y = new Scale([0, 1.08 * Math.max(1.5, ...heights)], [box.bottom, box.top]);
    const step = (box.right - box.left) / counts.length;
    const { values, decimals } = roundTicks(0, y.hi, 4);
    return [
      ...smallAxes(box, x, [0, 0.25, 0.5, 0.75, 1].map((value) => ({ value, text: String(value) })), y,
        values.map((value) => ({ value, text: fixed(value, decimals) })), "predicted probability of a smaller value", "density"),
      ...heights.map((height, at) => shape("rect", {
        class: "pit", x: box.left + at * step + 1, width: Math.max(1, step - 2), y: y.pixel(height), height: Math.max(0, y.pixel(0) - y.pixel(height)),
      }, shape("title", {}, `${count(counts[at])} cells, density ${fixed(height, 2)}`))),
      shape("rect", { class: "expected", x: box.left, width: box.right - box.left, y: y.pixel(1 + halfWidth), height: y.pixel(Math.max(0, 1 - halfWidth)) - y.pixel(1 + halfWidth) }),
      shape("line", { class: "diagonal", x1: box.left, x2: box.right, y1: y.pixel(1), y2: y.pixel(1) }),
    ];
  });
}

/** Scores of this fit and of the simple rules. */
function methodTable(methods) {
  return tableOf([{ title: "method" }, { title: "RMSE", numeric: true, hint: "root mean squared error; smaller is better" },
    { title: "log score", numeric: true, hint: "mean log predictive density, nats per cell; larger is better" },
    { title: `inside 95${NARROW_SPACE}%`, numeric: true }],
  methods.map((method) => ({
    mark: method.is_this_fit,
    cells: [method.is_this_fit ? [method.name, element("span", { class: "tag" }, "this fit")] : method.name,
      significant(method.rmse), fixedOrDash(method.log_score, 3), percent(method.coverage95)],
  })), "Scores on held-out cells");
}

const fixedOrDash = (value, decimals) => (value === null || value === undefined ? DASH : fixed(value, decimals));

/** The section about held-out cells. */
function calibrationSection(calibration) {
  const small = [];
  if (calibration.coverage.length) {
    small.push(figure("Coverage of intervals", coverageChart(calibration),
      "On the dashed line, the share of cells inside equals the nominal level. Below it, bands are too narrow. The pale band is two standard errors for independent cells."));
  }
  if (calibration.pit_counts.length) {
    small.push(figure("Probability integral transform", pitChart(calibration),
      "Flat: calibrated. High at both ends: bands too narrow. High in the middle: bands too wide. Sloped: biased."));
  }
  const tables = [];
  if (calibration.methods.length) {
    tables.push(figure("Compared with simple rules", methodTable(calibration.methods), "All on the same held-out cells. Smaller RMSE and larger log score are better."));
  }
  if (calibration.by_output.length) {
    tables.push(figure("By output", tableOf([{ title: "output" }, { title: "cells", numeric: true }, { title: "RMSE", numeric: true },
      { title: "log score", numeric: true }, { title: `inside 95${NARROW_SPACE}%`, numeric: true }],
    calibration.by_output.map((score) => ({
      cells: [score.output, count(score.n_cells), significant(score.rmse), fixedOrDash(score.log_score, 3), percent(score.coverage95)],
    })), "Scores by output"), "This fit on the same cells, in the same units."));
  }
  return section("calibration", "How well held-out cells were predicted",
    element("p", {}, `${count(calibration.n_cells)} cells were held out: ${calibration.description}`),
    element("div", { class: "pair" }, small), element("div", { class: "pair" }, tables));
}

/** Log evidence by iteration. */
function evidenceSection(paths) {
  const drawn = paths.filter((path) => path.values.some((value) => value !== null));
  const all = drawn.flatMap((path) => path.values).filter((value) => value !== null);
  const longest = Math.max(1, ...drawn.map((path) => path.values.length - 1));
  const best = Math.max(...all);
  // The first iterations are often thousands of nats lower. The axis therefore begins near the value of the chosen path after a
  // fifth of its iterations; the caption says if values are cut off.
  const main = (drawn.find((path) => path.is_chosen) || drawn[0]).values.filter((value) => value !== null);
  const least = Math.min(...all);
  const floor = Math.max(least, best - 1.5 * Math.max(best - main[Math.floor(main.length * 0.2)], 1e-9 * Math.abs(best), 1e-9));
  const height = 260;
  const chart = smallChart(height, "Log evidence by iteration", (width) => {
    const box = { left: 76, right: width - 12, top: 28, bottom: height - 44 };
    const x = new Scale([0, longest], [box.left, box.right]);
    const y = new Scale(padded([floor, best], 0.05), [box.bottom, box.top]);
    const xTicks = roundTicks(0, longest, width / 110), yTicks = roundTicks(y.lo, y.hi, 4);
    const clip = `evidence-area`;
    const line = (path) => shape("polyline", {
      class: path.is_chosen ? "curve" : "curve other", "clip-path": `url(#${clip})`,
      points: polyline(path.values.flatMap((value, at) => (value === null ? [] : [[x.pixel(at), y.pixel(value)]]))),
    }, shape("title", {}, `${path.label}: ${fixedOrDash(path.values[path.values.length - 1], 2)} after ${path.values.length - 1} iterations`));
    return [
      shape("clipPath", { id: clip }, shape("rect", { x: box.left, y: box.top - 4, width: box.right - box.left, height: box.bottom - box.top + 4 })),
      ...smallAxes(box, x, xTicks.values.map((value) => ({ value, text: fixed(value, xTicks.decimals) })), y,
        yTicks.values.map((value) => ({ value, text: fixed(value, yTicks.decimals) })), "iteration", "log evidence, nats"),
      ...drawn.filter((path) => !path.is_chosen).map(line), ...drawn.filter((path) => path.is_chosen).map(line),
    ];
  });
  const rows = drawn.map((path) => ({
    mark: path.is_chosen,
    cells: [path.is_chosen ? [path.label, element("span", { class: "tag" }, "chosen")] : path.label, count(path.values.length - 1),
      fixedOrDash(path.values[path.values.length - 1], 2)],
  }));
  return section("evidence", "Learning", element("div", { class: "pair lopsided" },
    figure("Log evidence by iteration", chart, floor > least ? `Values below ${significant(floor)} are cut off; the lowest was ${significant(least)}.` : null),
    figure("Starts", tableOf([{ title: "start" }, { title: "iterations", numeric: true }, { title: "log evidence", numeric: true }], rows, "Starts of the optimizer"), null)));
}

/** The candidates of the automatic choice. */
function searchSection(search) {
  const has = (name) => search.candidates.some((candidate) => candidate[name] !== null);
  const extras = [["held_out_log_score", "held-out log score", (value) => fixedOrDash(value, 3)],
    ["log_evidence", "log evidence", (value) => fixedOrDash(value, 1)],
    ["seconds", "seconds", (value) => fixedOrDash(value, 2)]].filter(([name]) => has(name));
  const columns = [{ title: "candidate" }, ...extras.map(([, title]) => ({ title, numeric: true })), ...(has("note") ? [{ title: "note" }] : [])];
  const rows = search.candidates.map((candidate) => ({
    mark: candidate.is_chosen,
    cells: [candidate.is_chosen ? [candidate.description, element("span", { class: "tag" }, "chosen")] : candidate.description,
      ...extras.map(([name, , text]) => text(candidate[name])), ...(has("note") ? [candidate.note || ""] : [])],
  }));
  return section("search", "Candidates", search.criterion && element("p", {}, search.criterion), tableOf(columns, rows, "Candidates"));
}
