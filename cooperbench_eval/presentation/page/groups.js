/* The found pairs by group, and the features of one task as rows and columns. */

const MOST_GROUPS = 200;
const MOST_FEATURES = 40;

/* One bar of all pairs, by how they ended; the text beside it says the same. */
function barOf(counts, total) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of [
    ["viewBox", `0 0 ${total} 10`],
    ["preserveAspectRatio", "none"],
    ["aria-hidden", "true"],
  ]) {
    svg.setAttribute(name, value);
  }
  let before = 0;
  for (const answer of order) {
    const count = counts.get(answer) ?? 0;
    if (!count) continue;
    const part = document.createElementNS(svg.namespaceURI, "rect");
    part.setAttribute("class", answer);
    for (const [name, value] of [["x", before], ["width", count], ["height", 10]]) {
      part.setAttribute(name, value);
    }
    svg.append(part);
    before += count;
  }
  return svg;
}

/* How the pairs of a group ended: the correct ones among those with an answer. */
function shareCell(list, answer) {
  const counts = countBy(answer, list);
  const without = counts.get("not_run") ?? 0;
  const answered = list.length - without;
  return [
    barOf(counts, list.length),
    make(
      "span",
      {},
      answered ? `${counts.get("correct") ?? 0} of ${answered}` : "none",
      without && answered ? make("span", { class: "beside" }, ` (${without} unanswered)`) : null,
      answered ? null : make("span", { class: "beside" }, " answered"),
    ),
  ];
}

const deciders = () => [
  ...strategies.map((name) => [name, (pair) => under(pair, name).answer]),
  ...policies.map((name) => [`[${name}]`, (pair) => pair.policies.get(name)]),
];

/* The found pairs by a key. */
function groupBy(key) {
  const groups = new Map();
  for (const pair of found) {
    const value = key(pair);
    if (!groups.has(value)) groups.set(value, []);
    groups.get(value).push(pair);
  }
  return groups;
}

function showGroups(asked) {
  const box = byId("groups");
  box.hidden = !asked.by;
  box.replaceChildren();
  if (!asked.by) return;
  const sorted = [...groupBy(KEYS[asked.by].of)].sort(byValue);
  const rows = sorted.slice(0, MOST_GROUPS).map(([value, list]) => {
    const link = hashOf({ ...asked, by: "", [asked.by]: value || UNKNOWN });
    return [
      [make("a", { href: link }, value || "not known")],
      [list.length],
      ...deciders().map(([, answer]) => shareCell(list, answer)),
    ];
  });
  const { name } = KEYS[asked.by];
  const heads = [name, "pairs", ...deciders().map(([label]) => label)];
  box.append(heading(3, `By ${name}: correct pairs of those with an answer`));
  box.append(tableOf(`Correct pairs by ${name}`, heads, rows));
  const left = sorted.length - rows.length;
  if (left) box.append(make("p", { class: "beside" }, `${left} more groups are left out.`));
}

// --- the features of a task ---

/* The sign of several reports of two features: their common one, or how many are correct. */
function matrixCell(list, strategy, asked) {
  if (!list.length) return make("td", { class: "none" });
  const signs = new Set(list.map((pair) => under(pair, strategy).sign));
  const [sign] = signs;
  const correct = list.filter((pair) => under(pair, strategy).answer === "correct").length;
  const words = signs.size === 1 ? table.signs[sign][1] : `${correct} of ${list.length} correct`;
  const [one] = list;
  const [first, second] = one.features;
  const several = list.length > 1 ? `, ${list.length} reports` : "";
  const link = make(
    "a",
    {
      href: hashOf({ ...asked, pair: one.id }),
      class: `result ${signs.size === 1 ? sign : ""}`,
      tabindex: "-1",
      "aria-label": `${first} into ${second}: ${words}${several}`,
      title: `${first} into ${second}: ${words}${several}`,
    },
    signs.size === 1 ? table.signs[sign][0] : `${correct}/${list.length}`,
  );
  return make("td", {}, link);
}

function matrixOf(strategy, [firsts, seconds], cells, asked) {
  const corner = make("td", { class: "corner" }, "into →");
  const head = make("tr", {}, corner, seconds.map((each) => make("th", { scope: "col" }, each)));
  const rows = firsts.map((first) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, first),
      seconds.map((second) => matrixCell(cells.get(`${first},${second}`) ?? [], strategy, asked)),
    ),
  );
  const made = make(
    "table",
    { class: "features" },
    make("caption", {}, strategy),
    make("thead", {}, head),
    make("tbody", {}, rows),
  );
  made.querySelector("a").tabIndex = 0;
  return make("div", { class: "wide", role: "group", "aria-label": `Under ${strategy}` }, made);
}

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/* In a table of features only one cell is reached with Tab, and arrows lead to the others. */
function walkCells(event) {
  const step = STEPS[event.key];
  const cell = event.target.closest("td");
  if (!step || !cell || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  const rows = [...cell.closest("tbody").rows];
  let row = rows.indexOf(cell.parentElement);
  let column = cell.cellIndex;
  do {
    row += step[0];
    column += step[1];
  } while (rows[row]?.cells[column] && !rows[row].cells[column].querySelector("a"));
  const next = rows[row]?.cells[column]?.querySelector("a");
  if (!next) return;
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

/* Shown if all pairs that were found are of one task, and there are more than one. */
function showMatrices(asked) {
  const box = byId("matrices");
  const inside = byId("feature-matrices");
  const [one] = found;
  box.hidden = found.length < 2 || found.some((pair) => pair.taskName !== one.taskName);
  box.open ||= Boolean(asked.task);
  inside.replaceChildren();
  if (box.hidden) return;
  const sides = [0, 1].map((side) => [...groupBy((pair) => pair.features[side]).keys()].sort(compare));
  const cells = groupBy((pair) => pair.features.join(","));
  const few = sides.map((numbers) => numbers.slice(0, MOST_FEATURES));
  const left = Math.max(...sides.map((numbers) => numbers.length - MOST_FEATURES));
  box.firstChild.replaceChildren();
  write(box.firstChild, `Pairs of features of ${one.taskName}, by strategy`);
  inside.append(...strategies.map((name) => matrixOf(name, few, cells, asked)));
  if (left > 0) inside.append(make("p", { class: "beside" }, `${left} more features are left out.`));
}
