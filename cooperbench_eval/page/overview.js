/* The table of pairs, with its filters. */

const ROWS_AT_A_TIME = 200;

function lostTests({ owner, count, of, names: listed }) {
  const share = count === of ? (of === 1 ? "its only test" : `all ${of} tests`) : `${count} of ${of} tests`;
  return make("div", { class: "lost" }, `${owner}: `, make("b", {}, share), names(listed, count));
}

function lostCell(row) {
  const note = row.note && !row.count ? [make("div", { class: "beside" }, row.note)] : [];
  return [...row.lost.map(lostTests), ...note];
}

const order = Object.keys(table.answers);
const hasModels = pairs.some((pair) => pair.model);
const hasTries = pairs.some((pair) => pair.k !== 1);
const COLUMNS = [
  { id: "repo", name: "Repository", key: (p) => p.repo, cell: (p) => [brief(p.repo)] },
  { id: "task", name: "Task", key: (p) => p.task, cell: (p) => [p.task], number: true },
  {
    id: "features",
    name: "Features",
    key: (p) => Number(p.features[0]) * 1e6 + Number(p.features[1]),
    cell: (p, asked) => [
      make(
        "a",
        { href: hashOf({ ...asked, pair: String(p.number) }), "data-pair": p.number, class: "who" },
        `${p.features[0]} into ${p.features[1]}`,
      ),
    ],
  },
  hasModels && { id: "model", name: "Model", key: (p) => p.model, cell: (p) => [brief(p.model)] },
  hasTries && { id: "k", name: "Try", key: (p) => p.k, cell: (p) => [p.k], number: true },
  {
    id: "status",
    name: "Merge",
    key: (p) => p.status,
    cell: (p) => [p.status, p.note && make("span", { class: "beside" }, ` ${p.note}`)],
  },
  {
    id: "score",
    name: "Score",
    key: (p) => p.score,
    cell: (p) => [p.score ?? "–"],
    number: true,
  },
  {
    id: "result",
    name: "Result",
    isUnder: true,
    key: (p, strategy) => order.indexOf(under(p, strategy).answer),
    cell: (p, asked) => [result(under(p, asked.strategy).answer)],
  },
  {
    id: "blame",
    name: "To blame",
    isUnder: true,
    key: (p, strategy) => under(p, strategy).blame,
    cell: (p, asked) => [under(p, asked.strategy).blame],
  },
  {
    id: "lost",
    name: "Tests lost",
    isUnder: true,
    key: (p, strategy) => under(p, strategy).count,
    cell: (p, asked) => lostCell(under(p, asked.strategy)),
  },
  {
    id: "correct",
    name: "Correct under",
    key: (p) => p.correct.length,
    cell: (p) => [brief(p.correct.join(", ")) || "–"],
  },
].filter(Boolean);

const form = byId("filters");
const head = byId("pairs").tHead;
const body = byId("pairs").tBodies[0];
let found = [];
let shown = 0;

function option(value, label, chosen) {
  const made = make("option", {}, label);
  made.value = value;
  made.selected = value === chosen;
  return made;
}

function fill(name, choices, chosen) {
  const select = form.elements[name];
  select.replaceChildren(...choices.map(([value, label]) => option(value, brief(label), chosen)));
  select.parentElement.hidden = choices.length < (choices[0]?.[0] === "" ? 3 : 2);
}

function countBy(key) {
  const counts = new Map();
  for (const pair of pairs) counts.set(key(pair), (counts.get(key(pair)) ?? 0) + 1);
  return counts;
}

const repos = countBy((pair) => pair.repo);
const statuses = countBy((pair) => pair.status);
const tasks = new Map();
for (const pair of pairs) {
  const task = tasks.get(pair.taskName) ?? { repo: pair.repo, name: pair.task, count: 0 };
  task.count += 1;
  tasks.set(pair.taskName, task);
}

function fillFilters(asked) {
  const results = countBy((pair) => under(pair, asked.strategy).answer);
  fill("strategy", strategies.map((name) => [name, name]), asked.strategy);
  fill(
    "verdict",
    [
      ["", `any (${pairs.length})`],
      ...order.map((answer) => [answer, `${table.answers[answer]} (${results.get(answer) ?? 0})`]),
    ],
    asked.verdict,
  );
  const all = (counts) => [
    ["", "all"],
    ...[...counts].map(([name, count]) => [name, `${name} (${count})`]),
  ];
  fill("repo", all(repos), asked.repo);
  fill("status", all(statuses), asked.status);
  const within = [...tasks].filter(([, task]) => !asked.repo || task.repo === asked.repo);
  fill(
    "task",
    [
      ["", "all"],
      ...within.map(([value, task]) => [
        value,
        `${asked.repo ? task.name : value} (${task.count})`,
      ]),
    ],
    asked.task,
  );
  if (form.elements.words.value !== asked.words) form.elements.words.value = asked.words;
}

function fillHead(asked) {
  const row = make("tr");
  for (const column of COLUMNS) {
    const isSorted = asked.sort.replace(/^-/, "") === column.id;
    const direction = asked.sort.startsWith("-") ? "descending" : "ascending";
    const label = column.isUnder ? `${column.name} under ${brief(asked.strategy)}` : column.name;
    const button = make("button", { type: "button", "data-sort": column.id }, label);
    if (isSorted) button.append(asked.sort.startsWith("-") ? " ↓" : " ↑");
    row.append(
      make(
        "th",
        {
          scope: "col",
          class: column.number ? "number" : null,
          "aria-sort": isSorted ? direction : null,
        },
        button,
      ),
    );
  }
  const focused = document.activeElement?.dataset.sort;
  head.replaceChildren(row);
  if (focused) head.querySelector(`[data-sort="${focused}"]`).focus();
}

function addRows(asked, count) {
  const rows = document.createDocumentFragment();
  for (const pair of found.slice(shown, shown + count)) {
    const row = make("tr");
    for (const column of COLUMNS) {
      row.append(make("td", { class: column.number ? "number" : null }, column.cell(pair, asked)));
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

function showList(asked) {
  found = find(asked);
  fillFilters(asked);
  fillHead(asked);
  body.replaceChildren();
  shown = 0;
  addRows(asked, ROWS_AT_A_TIME);
  byId("pairs").hidden = !found.length;
  const of = found.length === pairs.length ? "" : ` of ${pairs.length}`;
  const word = pairs.length === 1 ? "pair" : "pairs";
  byId("count").textContent = pairs.length ? `${found.length}${of} ${word}` : "There are no pairs.";
}

function walk(asked, number) {
  const place = found.findIndex((pair) => pair.number === number);
  const link = (to, text) =>
    to ? make("a", { href: hashOf({ ...asked, pair: String(to.number) }) }, text) : null;
  const where = place < 0 ? "" : `${place + 1} of ${found.length} found`;
  return make(
    "nav",
    { "aria-label": "Pairs" },
    make("a", { href: hashOf({ ...asked, pair: "" }), class: "back" }, "← All pairs"),
    place > 0 ? link(found[place - 1], "Previous") : null,
    make("span", { class: "beside" }, where),
    place >= 0 ? link(found[place + 1], "Next") : null,
  );
}
