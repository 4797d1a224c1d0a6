/* The table of pairs: a row for each, with a sign for each strategy. */

const ROWS_AT_A_TIME = 200;
const FEW_STRATEGIES = 6;

function lostTests({ owner, count, of, names: listed }) {
  const share = count === of ? (of === 1 ? "its only test" : `all ${of} tests`) : `${count} of ${of} tests`;
  return make("div", { class: "lost" }, `${owner}: `, make("b", {}, share), names(listed, count));
}

/* Why a pair ended so: in a line, and the lost tests folded below it. */
function whyCell(pair, row) {
  const problem = pair.note && make("div", {}, make("b", { class: "bad" }, pair.note));
  if (row.count) {
    const words = `${row.blame.replace(/^the merge /, "")}: ${row.count} ${row.count === 1 ? "test" : "tests"} lost`;
    return [problem, folded(words, () => make("div", {}, row.lost.map(lostTests)))];
  }
  const isFine = row.blame === "nobody" || row.answer === "correct";
  const blame = row.blame === "not known" || isFine ? "" : row.blame;
  return [problem, blame, row.note && make("span", { class: "beside" }, `${blame ? ": " : ""}${row.note}`)];
}

const hasModels = values.model.length > 1;
const hasSettings = values.setting.length > 1;
const hasTries = pairs.some((pair) => pair.k !== 1);
const signOrder = Object.keys(table.signs);

function signColumn(name) {
  return {
    id: `=${name}`,
    name,
    sign: true,
    key: (pair) => signOrder.indexOf(under(pair, name).sign),
    cell: (pair) => [signOf(under(pair, name).sign)],
  };
}

function policyColumn(name) {
  return {
    id: "policy",
    name: `[${name}]`,
    sign: true,
    key: (pair) => signOrder.indexOf(pair.policies.get(name)),
    cell: (pair) => [signOf(pair.policies.get(name))],
  };
}

const featuresOf = (pair) => `${pair.features[0]} into ${pair.features[1]}`;

function pairLink(pair, asked) {
  const attributes = { href: hashOf({ ...asked, pair: pair.id }), "data-pair": pair.id };
  return make("a", attributes, `${brief(pair.taskName)}: `, make("span", {}, featuresOf(pair)));
}

/* Names stay on one line if they fit. */
function fitNames() {
  const longest = found.reduce(
    (most, pair) => Math.max(most, pair.taskName.length + featuresOf(pair).length + 2),
    0,
  );
  list.style.setProperty("--longest", `${longest}ch`);
}

const columnsFor = (asked) =>
  [
    {
      id: "pair",
      name: "Pair",
      key: (pair) => pair.place,
      cell: (pair) => [pairLink(pair, asked)],
    },
    ...strategies.map(signColumn),
    asked.policy && policyColumn(asked.policy),
    hasModels && { id: "model", name: "Model", key: (p) => p.model, cell: (p) => [brief(p.model)] },
    hasSettings && {
      id: "setting",
      name: "Setting",
      key: (p) => p.setting,
      cell: (p) => [brief(p.setting)],
    },
    hasTries && { id: "k", name: "Try", key: (p) => p.k, cell: (p) => [p.k], number: true },
    { id: "status", name: "Git merge", key: (p) => p.status, cell: (p) => [p.status] },
    {
      id: "score",
      name: "Score",
      key: (p) => p.score,
      cell: (p) => [p.score ?? "–"],
      number: true,
    },
    {
      id: "lost",
      name: `Why, under ${brief(asked.strategy)}`,
      why: true,
      key: (pair) => under(pair, asked.strategy).count,
      cell: (pair) => whyCell(pair, under(pair, asked.strategy)),
    },
  ].filter(Boolean);

const list = byId("pairs");
const head = list.tHead;
const body = list.tBodies[0];
let found = [];
let shown = 0;

const kindOf = (column) =>
  ["number", "sign", "why"].filter((kind) => column[kind]).join(" ") || null;

function fillHead(asked) {
  const row = make("tr");
  for (const column of columnsFor(asked)) {
    const isSorted = asked.sort.replace(/^-/, "") === column.id;
    const isDown = asked.sort.startsWith("-");
    const button = make("button", { type: "button", "data-sort": column.id }, column.name);
    if (isSorted) button.append(isDown ? " ↓" : " ↑");
    row.append(
      make(
        "th",
        {
          scope: "col",
          class: kindOf(column),
          "aria-sort": isSorted ? (isDown ? "descending" : "ascending") : null,
        },
        button,
      ),
    );
  }
  const focused = document.activeElement?.dataset.sort;
  head.replaceChildren(row);
  if (focused) head.querySelector(`[data-sort="${CSS.escape(focused)}"]`)?.focus();
}

function addRows(asked, count) {
  const rows = document.createDocumentFragment();
  const columns = columnsFor(asked).map((column) => [column, kindOf(column)]);
  for (const pair of found.slice(shown, shown + count)) {
    const row = make("tr");
    for (const [column, kind] of columns) {
      const isFirst = column.id === "pair";
      const attributes = isFirst ? { scope: "row" } : { class: kind, "data-name": column.name };
      row.append(make(isFirst ? "th" : "td", attributes, column.cell(pair)));
    }
    rows.append(row);
  }
  body.append(rows);
  shown = Math.min(shown + count, found.length);
  const left = found.length - shown;
  byId("more").hidden = !left;
  byId("more").children[0].textContent = `Show ${Math.min(left, ROWS_AT_A_TIME)} more`;
  byId("more").children[1].textContent = `Show all ${found.length}`;
}

function countText(asked) {
  if (!pairs.length) return "There are no pairs.";
  if (asked.pair) return `This run has no pair "${asked.pair}". All ${pairs.length} pairs are shown.`;
  const of = found.length === pairs.length ? "" : ` of ${pairs.length}`;
  return `${found.length}${of} ${pairs.length === 1 ? "pair" : "pairs"}`;
}

function showList(asked) {
  found = find(asked);
  fillFilters(asked);
  showGroups(asked);
  showMatrices(asked);
  fillHead(asked);
  fitNames();
  body.replaceChildren();
  shown = 0;
  addRows(asked, ROWS_AT_A_TIME);
  list.hidden = !found.length;
  list.classList.toggle("many", strategies.length > FEW_STRATEGIES);
  byId("count").textContent = countText(asked);
}

/* Gives the row of a pair the focus, even if it is not among the first rows. */
function focusRow(asked, id) {
  const place = found.findIndex((pair) => pair.id === id);
  if (place >= shown) addRows(asked, place + 1 - shown);
  document.querySelector(`[data-pair="${CSS.escape(id)}"]`)?.focus();
}

/* The keys Up and Down move from pair to pair. */
function walkRows(event) {
  const step = { ArrowUp: "previousElementSibling", ArrowDown: "nextElementSibling" }[event.key];
  if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
  const next = event.target.closest("[data-pair]")?.closest("tr")[step];
  if (!next) return;
  event.preventDefault();
  next.querySelector("[data-pair]").focus();
}

/* The links from one pair or team to the next, in the order of its table. */
function walk(asked, pair) {
  const { among = found, kind = "pairs" } = pair;
  const place = among.indexOf(pair);
  const link = (to, text) =>
    to ? make("a", { href: hashOf({ ...asked, pair: to.id }) }, text) : null;
  const where = place < 0 ? "" : `${place + 1} of ${among.length} found`;
  return make(
    "nav",
    { "aria-label": kind[0].toUpperCase() + kind.slice(1) },
    make("a", { href: hashOf({ ...asked, pair: "" }), class: "back" }, `← All ${kind}`),
    place > 0 ? link(among[place - 1], "Previous") : null,
    make("span", { class: "beside" }, where),
    place >= 0 ? link(among[place + 1], "Next") : null,
  );
}
