/* The form that filters the table of pairs. */

const form = byId("filters");
const order = Object.keys(table.answers);

function option(value, label, chosen) {
  const made = make("option", {}, label);
  made.value = value;
  made.selected = value === chosen;
  return made;
}

/* A select with nothing to choose from is hidden. */
function fill(name, choices, chosen) {
  const select = form.elements[name];
  select.replaceChildren(...choices.map(([value, label]) => option(value, brief(label), chosen)));
  select.parentElement.hidden = choices.length < (choices[0]?.[0] === "" ? 3 : 2);
}

function countBy(key, list = pairs) {
  const counts = new Map();
  for (const pair of list) counts.set(key(pair), (counts.get(key(pair)) ?? 0) + 1);
  return counts;
}

/* Sorts values of a key: numbers as numbers, and what is not known last. */
const byValue = ([one], [two]) =>
  Number(!one) - Number(!two) || one.localeCompare(two, "en", { numeric: true });

const values = Object.fromEntries(
  Object.entries(KEYS).map(([name, key]) => [name, [...countBy(key.of)].sort(byValue)]),
);
const repoOf = new Map(pairs.map((pair) => [pair.taskName, pair.repo]));

function choicesOf(name, asked) {
  const within = values[name].filter(
    ([value]) => name !== "task" || !asked.repo || repoOf.get(value) === asked.repo,
  );
  const label = (value) => {
    if (!value) return "not known";
    return name === "task" && asked.repo ? value.slice(asked.repo.length + 1) : value;
  };
  return [
    ["", "all"],
    ...within.map(([value, count]) => [value || UNKNOWN, `${label(value)} (${count})`]),
  ];
}

function fillFilters(asked) {
  const results = countBy((pair) => answerOf(pair, asked));
  fill("strategy", strategies.map((name) => [name, name]), asked.strategy);
  fill("policy", [["", "none"], ...policies.map((name) => [name, name])], asked.policy);
  form.elements.policy.parentElement.hidden = !policies.length;
  fill(
    "verdict",
    [
      ["", `any (${pairs.length})`],
      ...order.map((answer) => [answer, `${table.answers[answer]} (${results.get(answer) ?? 0})`]),
    ],
    asked.verdict,
  );
  for (const name of Object.keys(KEYS)) fill(name, choicesOf(name, asked), asked[name]);
  const groups = Object.entries(KEYS).filter(([name]) => values[name].length > 1);
  fill("by", [["", "nothing"], ...groups.map(([name, key]) => [name, key.name])], asked.by);
  form.elements.by.parentElement.hidden = !groups.length;
  if (form.elements.words.value !== asked.words) form.elements.words.value = asked.words;
}
