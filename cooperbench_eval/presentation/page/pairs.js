/* The pairs, in the order of their reports, and which of them the part of the address after the # asks for. */

const NO_ROW = { sign: "not_tried", answer: "not_run", blame: "", lost: [], count: 0, note: "" };

function rowOf([sign, answer, blame, lost, note]) {
  return {
    sign: nameAt(sign),
    answer: nameAt(answer),
    blame: nameAt(blame),
    lost: lost.map(([owner, count, of, listed]) => ({
      owner: nameAt(owner),
      count,
      of,
      names: listed.map(nameAt),
    })),
    count: lost.reduce((sum, [, count]) => sum + count, 0),
    note: nameAt(note),
  };
}

const pairs = table.rows.map((row, place) => {
  const repo = nameAt(row.repo);
  const entries = Object.entries(row.rows);
  return {
    number: place + 1,
    data: `pair-${place + 1}`,
    id: row.id,
    repo,
    task: row.task,
    taskName: `${repo}/${row.task}`,
    features: row.features,
    model: nameAt(row.model),
    setting: nameAt(row.setting),
    k: row.k,
    status: nameAt(row.status),
    severity: nameAt(row.severity),
    language: nameAt(row.language),
    score: row.score,
    paths: row.paths.map(nameAt),
    note: nameAt(row.note),
    rows: new Map(entries.map(([name, cells]) => [nameAt(name), rowOf(cells)])),
    policies: new Map(
      Object.entries(row.policies).map(([name, answer]) => [nameAt(name), nameAt(answer)]),
    ),
  };
});
const under = (pair, strategy) => pair.rows.get(strategy) ?? NO_ROW;

const isNumber = (value) => typeof value === "number";
const compare = (one, two) => {
  if (isNumber(one) && isNumber(two)) return one - two;
  if (isNumber(one) !== isNumber(two)) return isNumber(one) ? -1 : 1;
  return one < two ? -1 : one > two ? 1 : 0;
};
const byName = (one, two) =>
  compare(one.repo, two.repo) ||
  compare(one.task, two.task) ||
  compare(one.features[0], two.features[0]) ||
  compare(one.features[1], two.features[1]) ||
  compare(one.model, two.model) ||
  compare(one.setting, two.setting) ||
  compare(one.k, two.k) ||
  one.number - two.number;
[...pairs].sort(byName).forEach((pair, place) => {
  pair.place = place;
});
const byAddress = new Map(pairs.map((pair) => [pair.id, pair]));

/* The words that find a pair; computed when first needed. */
function wordsOf(pair) {
  if (pair.words === undefined) {
    const [first, second] = pair.features;
    const own = [pair.taskName, `feature ${first}`, `feature ${second}`, pair.model];
    const rowWords = [...pair.rows.values()].flatMap((row) => [
      row.blame,
      row.note,
      ...row.lost.flatMap((lost) => lost.names),
    ]);
    const others = [pair.setting, `k${pair.k}`, pair.status, pair.note, ...pair.paths];
    pair.words = [...own, ...others, ...rowWords].join("\n").toLowerCase();
  }
  return pair.words;
}

// --- what the address asks for ---

/* What pairs can be filtered and grouped by. */
const KEYS = {
  repo: { name: "repository", of: (pair) => pair.repo },
  task: { name: "task", of: (pair) => pair.taskName },
  model: { name: "model", of: (pair) => pair.model },
  setting: { name: "setting", of: (pair) => pair.setting },
  k: { name: "try", of: (pair) => String(pair.k) },
  language: { name: "language", of: (pair) => pair.language },
  status: { name: "merge", of: (pair) => pair.status },
  severity: { name: "severity", of: (pair) => pair.severity },
};
const ASKED = ["strategy", "policy", "verdict", ...Object.keys(KEYS), "words", "sort", "by"];
// A part that is not known is asked for with this, as an empty one asks for all.
const UNKNOWN = "\\-";
// An address cannot hold a lone surrogate, so it is escaped there.
const inAddress = (text) =>
  text.replace(/[\\\p{Cs}]/gu, (half) =>
    half === "\\" ? "\\\\" : `\\u${half.charCodeAt(0).toString(16)}`,
  );
const outOfAddress = (text) =>
  text.replace(/\\(?:\\|u(d[89a-f][0-9a-f]{2}))/g, (_, code) =>
    code ? String.fromCharCode(parseInt(code, 16)) : "\\",
  );
// The results of `git merge` itself, if the run has them, tell most.
const firstChoice = strategies.includes("naive") ? "naive" : strategies[0] ?? "";

/* The address holds the pair's own address, if a pair is asked for, and then the filters. */
function readHash() {
  const parts = location.hash.slice(1).split("&");
  const pair = parts[0].includes("=") ? "" : parts.shift();
  const given = new URLSearchParams(parts.join("&"));
  const asked = { pair };
  for (const name of ASKED) asked[name] = outOfAddress(given.get(name) ?? "");
  if (!strategies.includes(asked.strategy)) asked.strategy = firstChoice;
  if (!policies.includes(asked.policy)) asked.policy = "";
  if (!Object.hasOwn(table.answers, asked.verdict)) asked.verdict = "";
  if (!Object.hasOwn(KEYS, asked.by)) asked.by = "";
  return asked;
}

function hashOf(asked) {
  const given = new URLSearchParams();
  for (const name of ASKED) {
    if (asked[name] && !(name === "strategy" && asked[name] === firstChoice)) {
      given.set(name, inAddress(asked[name]));
    }
  }
  return `#${[asked.pair, String(given)].filter(Boolean).join("&")}`;
}

/* How a pair ended under what it is judged by: a policy if one is chosen, else a strategy. */
const answerOf = (pair, asked) =>
  asked.policy ? pair.policies.get(asked.policy) : under(pair, asked.strategy).answer;

function find(asked) {
  const words = asked.words.toLowerCase().split(/\s+/).filter(Boolean);
  const keys = Object.entries(KEYS)
    .filter(([name]) => asked[name])
    .map(([name, key]) => [key.of, asked[name] === UNKNOWN ? "" : asked[name]]);
  const found = pairs.filter(
    (pair) =>
      (!asked.verdict || answerOf(pair, asked) === asked.verdict) &&
      keys.every(([of, value]) => of(pair) === value) &&
      words.every((word) => wordsOf(pair).includes(word)),
  );
  const column = columnsFor(asked).find(({ id }) => id === asked.sort.replace(/^-/, ""));
  if (column) {
    const sign = asked.sort.startsWith("-") ? -1 : 1;
    const keyed = new Map(found.map((pair) => [pair, column.key(pair)]));
    found.sort(
      (one, two) => sign * compare(keyed.get(one), keyed.get(two)) || one.number - two.number,
    );
  }
  return found;
}
