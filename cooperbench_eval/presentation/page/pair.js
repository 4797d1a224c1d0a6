/* One pair or team in detail. */

function runCell(run, isJudged = true) {
  const tone = run.passed === null || !isJudged ? "" : run.passed ? "good" : "bad";
  const cell = [make("span", { class: tone }, run.text)];
  for (const words of run.beside ?? []) cell.push(make("div", { class: "beside" }, words));
  if (run.failed?.length) {
    const list = make("ul", { class: "names" });
    for (const [name, status, message] of run.failed) {
      const item = make("li", {}, make("code", {}, name), ` ${status}`);
      if (message) item.append(make("pre", { class: "message" }));
      if (message) write(item.lastChild, message, true);
      list.append(item);
    }
    list.append(...andMore(run.more));
    const count = run.failed.length + run.more;
    cell.push(folded(`${count} that did not pass`, () => list));
  }
  return cell;
}

function featureRow(feature, further) {
  const files = Object.entries(feature.files).map(([words, some]) =>
    make("div", { class: "beside" }, `${words}: `, names(some.names, some.names.length + some.more)),
  );
  const patch = [make("span", { class: feature.usable ? "" : "bad" }, feature.patch), ...files];
  const row = [`feature ${feature.number}`, patch, runCell(feature.alone), runCell(feature.base, false)];
  return [...row, ...further.map((place) => runCell(feature.further[place][1], false))];
}

function lostNames({ owner, names: some, more }) {
  const count = some.length + more;
  return make("div", {}, make("span", { class: "beside" }, `${count} of ${owner}:`), names(some, count));
}

/* What landed, why the other features did not, and the tests on the tree of the landed ones. */
function landedCell({ landed, left_out: others, landed_runs: runs }) {
  const tests = ([owner, run]) => make("li", {}, `tests of ${owner}: `, runCell(run));
  return [
    landed,
    ...others.map(([why, lost]) => make("div", {}, why, lost.map(lostNames))),
    runs.length ? folded("Tests of what landed", () => make("ul", { class: "names" }, runs.map(tests))) : null,
  ];
}

function strategyRow(attempt) {
  const merge = [attempt.left ? `${attempt.left} of ${attempt.met} left open` : attempt.status];
  if (attempt.failure) merge.push(make("div", { class: "beside" }, attempt.failure));
  if (attempt.service_failed) {
    merge.push(make("div", { class: "beside" }, "a service that it needs failed"));
  }
  for (const usage of attempt.usage ?? []) merge.push(make("div", { class: "beside" }, usage));
  return [
    [attempt.strategy, make("div", { class: "beside" }, attempt.implementation)],
    merge,
    ...(attempt.landed ? [landedCell(attempt)] : []),
    [result(attempt.answer)],
    [attempt.blame],
    attempt.lost.length ? attempt.lost.map(lostNames) : ["–"],
    ...attempt.runs.map((run) => runCell(run)),
    [make("span", { class: "who" }, `${attempt.seconds} s`)],
  ];
}

function hazards(attempts) {
  return attempts
    .filter((attempt) => attempt.hazards?.length)
    .map((attempt) =>
      folded(`What looks wrong in the merge of ${attempt.strategy}`, () =>
        tableOf(
          "Hazards, which no test confirmed",
          ["Place", "What each side did"],
          attempt.hazards.map((row) => row.map((cell) => [cell])),
        ),
      ),
    );
}

function ledgers(attempts) {
  return attempts
    .filter((attempt) => attempt.ledger.length)
    .map((attempt) => {
      const rows = attempt.ledger.map((row) => row.map((cell) => [cell]));
      const more = attempt.more_ledger ? ` (${attempt.more_ledger} more are left out)` : "";
      return folded(
        `What ${attempt.strategy} reports`,
        () => tableOf(`The ledger of ${attempt.strategy}${more}`, ["File", "Line", "Both sides", "What it did"], rows),
      );
    });
}

/* A team's merges in their order. */
function mergeTables(attempts) {
  return attempts
    .filter((attempt) => attempt.steps?.length)
    .flatMap(({ strategy, steps }) => {
      const rows = steps.map(([merge, status, notes, conflicts]) => {
        const beside = notes.map((note) => make("div", { class: "beside" }, note));
        return [merge, [status, ...beside], [conflicts]];
      });
      const title = `The merges of ${strategy}`;
      return [heading(4, title), tableOf(title, ["Merge", "Status", "Conflicts"], rows)];
    });
}

/* How every two features of a team end under each strategy, with the reasons folded. */
function togetherPart({ together, attempts, features }) {
  if (!together.length || !attempts.length) return [];
  const reason = ([row, place]) => {
    const [why, lost] = attempts[row].left_out[place];
    return make("li", {}, make("b", {}, attempts[row].strategy), `: ${why}`, lost.map(lostNames));
  };
  const cell = ({ ways, why }) => {
    const short = ways.flatMap(([kind, words, who], place) => [
      place ? make("br") : null,
      make("span", { class: `result ${kind}` }, words),
      make("span", { class: "beside" }, ` ${who}`),
    ]);
    return why.length ? [folded(short, () => make("ul", { class: "names" }, why.map(reason)))] : short;
  };
  const titles = features.map(({ number }) => `feature ${number}`);
  const rows = together.map((cells, place) => [titles[place + 1], ...cells.map(cell), ...titles.slice(place + 2).map(() => [])]);
  return [tableOf("Which features land together", ["Merged into", ...titles.slice(0, -1)], rows)];
}

// --- why a merge lost tests ---

function explained(data, { title, about, hunks, more }) {
  const rows = hunks.map(([feature, where, number]) => {
    const [text, left] = data.texts[number];
    const lines = codeBlock(where);
    write(lines, text, true);
    return [`feature ${feature}`, [where], [lines, left ? `${left} more bytes` : null]];
  });
  const rest = more ? ` (${more} more are left out)` : "";
  return [
    heading(4, title),
    ...about.map((words) => make("p", {}, words)),
    ...(rows.length ? [tableOf(`Hunks that take part${rest}`, ["Feature", "Hunk", "Lines"], rows)] : []),
  ];
}

// --- conflicts ---

/* Returns a function that says which versions have a line, for the margin beside it. */
function marker(data, conflict, resolved) {
  const [first, second] = data.features.map((feature) => String(feature.number));
  const among = resolved.together.length
    ? resolved.together.map((place) => data.conflicts[place - 1]).filter(Boolean)
    : [conflict];
  const lines = (name) => {
    const texts = among.map((each) => data.texts[each[name]] ?? ["", 0]);
    if (texts.some(([, left]) => left)) return null;
    return new Set(texts.flatMap(([text]) => text.split("\n")));
  };
  const [ours, theirs] = [lines("ours"), lines("theirs")];
  if (!ours || !theirs) return () => ["", ""];
  const isWhole = !resolved.together.length && resolved.exact;
  return (line) => {
    if (!line.trim()) return ["", ""];
    const [isOurs, isTheirs] = [ours.has(line), theirs.has(line)];
    if (isOurs && isTheirs) return ["=", "both"];
    if (isOurs) return [second, "ours"];
    if (isTheirs) return [first, "theirs"];
    return isWhole ? ["+", "new"] : ["", ""];
  };
}

function codeOf([text, left], label, mark = null) {
  const pre = codeBlock(label);
  linesOf(text).forEach((line) => {
    const [sign, kind] = mark ? mark(line) : ["", ""];
    const shownLine = make("span", { class: `line ${kind}`, "data-from": mark ? sign || " " : null });
    write(shownLine, line, true);
    pre.append(shownLine);
  });
  if (left) pre.append(leftOut(left));
  else if (text && !text.endsWith("\n")) {
    pre.append(make("span", { class: "beside" }, "(no newline at the end)"));
  }
  return pre;
}

function version(data, title, number, kind) {
  const box = make("figure", { class: `version ${kind}` }, make("figcaption", {}, title));
  if (number === null) box.append(make("p", { class: "beside" }, "no such file"));
  else if (!data.texts[number][0] && !data.texts[number][1]) {
    box.append(make("p", { class: "beside" }, "no lines"));
  } else box.append(codeOf(data.texts[number], title));
  return box;
}

function notesOn(resolved) {
  const notes = [];
  if (resolved.together.length) {
    notes.push(`Resolves conflicts ${resolved.together.join(", ")} together.`);
  }
  const around = [
    resolved.before ? `${resolved.before} before` : "",
    resolved.after ? `${resolved.after} after` : "",
  ].filter(Boolean);
  if (around.length) notes.push(`Lines replaced outside the conflict: ${around.join(", ")}.`);
  if (!resolved.exact) {
    notes.push("This text is not certain: the strategy changed or repeated settled lines.");
  }
  return notes;
}

const KINDS = {
  open: "left open",
  deleted: "the file is deleted",
  unknown: "not known",
};

/* Groups the strategies that resolved a conflict in the same way. */
function grouped(data, conflict) {
  const groups = new Map();
  conflict.answers.forEach((resolved, place) => {
    const { said, ...rest } = resolved;
    const key = JSON.stringify(rest);
    const group = groups.get(key) ?? { resolved, attempts: [], said: new Map() };
    const { strategy } = data.attempts[place];
    group.attempts.push(data.attempts[place]);
    if (said) group.said.set(said, [...(group.said.get(said) ?? []), strategy]);
    groups.set(key, group);
  });
  return [...groups.values()];
}

function strategyNames(attempts) {
  return attempts.flatMap((attempt, place) => [
    place ? ", " : null,
    make("span", { class: "who" }, make("b", {}, attempt.strategy), " ", result(attempt.answer)),
  ]);
}

function saidBy({ attempts, said }) {
  return [...said].map(([words, who]) => {
    const names = who.length === attempts.length ? "" : `${who.join(", ")}: `;
    return make("p", { class: "beside" }, `${names}${words}`);
  });
}

/* A resolution of several conflicts is shown at the first of them. */
const isShown = ({ resolved }, place) =>
  resolved.kind === "text" && (!resolved.together.length || resolved.together[0] === place + 1);

function untexted(group) {
  const { resolved } = group;
  const why = resolved.reason ? `: ${resolved.reason}` : "";
  const words = KINDS[resolved.kind] ?? `resolved together with conflict ${resolved.together[0]}, shown there`;
  return make("p", { class: "untexted" }, strategyNames(group.attempts), ` ${words}${why}`);
}

function resolution(data, conflict, group) {
  const { resolved, attempts } = group;
  const label = attempts.map((attempt) => attempt.strategy).join(", ");
  const text = data.texts[resolved.text] ?? ["", 0];
  return make(
    "figure",
    { class: "resolution" },
    make("figcaption", {}, strategyNames(attempts)),
    text[0] || text[1]
      ? codeOf(text, label, marker(data, conflict, resolved))
      : make("p", { class: "beside" }, "no lines: the conflict is resolved to nothing"),
    notesOn(resolved).map((note) => make("p", { class: "beside" }, note)),
    saidBy(group),
  );
}

function conflictSection(data, conflict, place) {
  const [merge, ours, theirs] = data.sides[conflict.of];
  const line = conflict.line === null ? "" : `, line ${conflict.line}`;
  const groups = grouped(data, conflict);
  const title = heading(
    4,
    [`${place + 1}. `, make("code", {}, conflict.path), `${line}: ${conflict.kind}`, merge && ` (${merge})`],
  );
  return make(
    "section",
    { class: "conflict" },
    title,
    make(
      "div",
      { class: "side-by-side" },
      version(data, "base", conflict.base, "base"),
      version(data, `ours: ${ours}`, conflict.ours, "ours"),
      version(data, `theirs: ${theirs}`, conflict.theirs, "theirs"),
    ),
    groups.filter((group) => !isShown(group, place)).map(untexted),
    make(
      "div",
      { class: "side-by-side" },
      groups
        .filter((group) => isShown(group, place))
        .map((group) => resolution(data, conflict, group)),
    ),
  );
}

// --- the page of a pair or team ---

function facts(data) {
  const list = make("dl", { class: "facts" });
  for (const [name, value] of Object.entries(data.facts)) {
    list.append(make("div", {}, make("dt", {}, name), make("dd", {}, value)));
  }
  return list;
}

function warnings({ warnings: { names: said, more } }) {
  const list = said.map((each) => make("li", {}, each));
  return said.length ? make("ul", { class: "warnings" }, list, andMore(more)) : null;
}

/* What the page shows of the pair or team with this data: a list of sections, with what matters
   most first. */
function pairContent(data) {
  const sections = {
    "Lost tests": lossSections(data),
    Explanations: data.explanations.flatMap((explanation) => explained(data, explanation)),
    Features: [featuresTable(data)],
    "Which features land together": togetherPart(data),
    Strategies: strategiesPart(data),
    Conflicts: conflictsPart(data),
    ...diffSections(data),
  };
  const shown = Object.entries(sections).filter(([, content]) => content.length);
  const headings = shown.map(([name]) => heading(3, name, { tabindex: "-1" }));
  return [
    heading(2, data.title, { id: "pair-heading", tabindex: "-1" }),
    facts(data),
    sectionLinks(headings, data.kind),
    warnings(data),
    ...shown.flatMap(([, content], place) => [headings[place], ...content]),
  ].filter(Boolean);
}

/* The part of the address after the # is taken, so these are buttons. */
function sectionLinks(headings, kind) {
  const buttons = headings.map((target) => {
    const button = make("button", { type: "button" }, target.textContent);
    button.addEventListener("click", () => {
      target.scrollIntoView();
      target.focus({ preventScroll: true });
    });
    return button;
  });
  return make("nav", { class: "sections", "aria-label": `Sections of this ${kind}` }, buttons);
}

function featuresTable(data) {
  const further = data.features[0].further.map((_, place) => place).filter((place) =>
    data.features.some((feature) => feature.further[place][1].passed !== null),
  );
  const columns = ["Feature", "Patch", "Its tests alone", "Its tests on the base"];
  columns.push(...further.map((place) => data.features[0].further[place][0]));
  const rows = data.features.map((feature) => featureRow(feature, further));
  return tableOf("Each feature by itself", columns, rows);
}

function strategiesPart(data) {
  if (!data.attempts.length) return [make("p", {}, "No strategy was tried.")];
  const shownAbove = new Set(data.losses.map((loss) => loss.strategies[0]));
  return [
    tableOf(
      `How the ${data.kind} ended under each strategy`,
      [
        ...["Strategy", "Merge", ...(data.kind === "team" ? ["Landed"] : []), "Result", "To blame", "Tests lost"],
        ...data.suites.map((title) => title[0].toUpperCase() + title.slice(1)),
        "Time",
      ],
      data.attempts.map(strategyRow),
    ),
    ...hazards(data.attempts.filter((attempt) => !shownAbove.has(attempt.strategy))),
    ...mergeTables(data.attempts),
    ...ledgers(data.attempts),
  ];
}

function conflictsPart(data) {
  if (!data.conflicts.length) return [make("p", {}, "There are no conflicts.")];
  const [first, second] = data.features.map((feature) => feature.number);
  const more = data.more_conflicts;
  const legend =
    `In the margin of a resolution, ${first} or ${second} marks a line from that feature's ` +
    "version, = a line from both, and + a line from neither.";
  return [
    ...(data.kind === "pair" ? [make("p", { class: "beside" }, legend)] : []),
    ...data.conflicts.map((conflict, place) => conflictSection(data, conflict, place)),
    ...(more ? [make("p", {}, `${more} more conflicts are left out.`)] : []),
  ];
}
