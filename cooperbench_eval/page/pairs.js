/* The pairs, in their order, and which of them the part of the address after the # asks for. */

const pairs = table.rows.map((row, place) => {
  const rows = new Map();
  for (const [name, [answer, blame, lost, note]] of Object.entries(row.rows)) {
    rows.set(nameAt(name), {
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
    });
  }
  const pair = {
    number: place + 1,
    repo: nameAt(row.repo),
    task: row.task,
    features: row.features,
    model: nameAt(row.model),
    setting: nameAt(row.setting),
    k: row.k,
    status: nameAt(row.status),
    score: row.score,
    paths: row.paths.map(nameAt),
    note: row.note,
    rows,
  };
  pair.taskName = `${pair.repo}/${pair.task}`;
  pair.correct = strategies.filter((name) => rows.get(name)?.answer === "correct");
  return pair;
});
const NO_ROW = { answer: "not_run", blame: "", lost: [], count: 0, note: "" };
const under = (pair, strategy) => pair.rows.get(strategy) ?? NO_ROW;

const isNumber = (value) => typeof value === "number";
const compare = (one, two) => {
  if (isNumber(one) && isNumber(two)) return one - two;
  if (isNumber(one) !== isNumber(two)) return isNumber(one) ? -1 : 1;
  return one < two ? -1 : one > two ? 1 : 0;
};
const inOrder = (one, two) =>
  compare(one.repo, two.repo) ||
  compare(one.task, two.task) ||
  compare(one.features[0], two.features[0]) ||
  compare(one.features[1], two.features[1]) ||
  compare(one.model, two.model) ||
  compare(one.k, two.k) ||
  one.number - two.number;
pairs.sort(inOrder);

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

const ASKED = ["strategy", "verdict", "repo", "task", "status", "words", "sort", "pair"];
// An address cannot hold a lone surrogate, so it is escaped there.
const inAddress = (text) =>
  text.replace(/[\\\p{Cs}]/gu, (half) =>
    half === "\\" ? "\\\\" : `\\u${half.charCodeAt(0).toString(16)}`,
  );
const outOfAddress = (text) =>
  text.replace(/\\(?:\\|u(d[89a-f][0-9a-f]{2}))/g, (_, code) =>
    code ? String.fromCharCode(parseInt(code, 16)) : "\\",
  );
const firstChoice = strategies.find((name) => name !== "naive") ?? strategies[0] ?? "";

function readHash() {
  const given = new URLSearchParams(location.hash.slice(1));
  const asked = {};
  for (const name of ASKED) asked[name] = outOfAddress(given.get(name) ?? "");
  if (!strategies.includes(asked.strategy)) asked.strategy = firstChoice;
  if (!Object.hasOwn(table.answers, asked.verdict)) asked.verdict = "";
  return asked;
}

function hashOf(asked) {
  const given = new URLSearchParams();
  for (const name of ASKED) {
    if (asked[name] && !(name === "strategy" && asked[name] === firstChoice)) {
      given.set(name, inAddress(asked[name]));
    }
  }
  return `#${given}`;
}

function find(asked) {
  const words = asked.words.toLowerCase().split(/\s+/).filter(Boolean);
  const found = pairs.filter(
    (pair) =>
      (!asked.verdict || under(pair, asked.strategy).answer === asked.verdict) &&
      (!asked.repo || pair.repo === asked.repo) &&
      (!asked.task || pair.taskName === asked.task) &&
      (!asked.status || pair.status === asked.status) &&
      words.every((word) => wordsOf(pair).includes(word)),
  );
  const column = COLUMNS.find(({ id }) => id === asked.sort.replace(/^-/, ""));
  if (column) {
    const sign = asked.sort.startsWith("-") ? -1 : 1;
    const keys = new Map(found.map((pair) => [pair, column.key(pair, asked.strategy)]));
    found.sort(
      (one, two) => sign * compare(keys.get(one), keys.get(two)) || inOrder(one, two),
    );
  }
  return found;
}
