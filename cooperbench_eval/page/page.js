"use strict";
/* Shows the table of pairs, filtered as the part of the address after the # says, or one
   pair in detail. Texts from reports are only ever inserted as text, never as markup. */
(() => {
  const SIGNS = { correct: "✓", incorrect: "✗", unhandled: "≠", missing_input: "∅", not_run: "–" };
  const ROWS_AT_A_TIME = 200;
  const SEEN_NAMES = 5;
  const byId = (id) => document.getElementById(id);
  const parsed = (id) => JSON.parse(byId(id).textContent);

  // --- texts ---

  // Characters that cannot be seen or that disguise a text: control, format, unassigned and
  // private characters, lone surrogates, odd spaces, and characters that are drawn as
  // nothing, such as variation selectors.
  const ODD = /[\p{C}\p{DI}\p{Zl}\p{Zp}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]/gu;
  const SHORT = { 0: "NUL", 9: "TAB", 10: "LF", 13: "CR", 27: "ESC", 127: "DEL" };

  function nameOf(character) {
    const code = character.codePointAt(0);
    // Python keeps a byte that is not UTF-8 as one of these surrogates.
    if (code >= 0xdc80 && code <= 0xdcff) return (code - 0xdc00).toString(16).toUpperCase();
    return SHORT[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  }

  function write(parent, text, isLines = false) {
    let done = 0;
    for (const found of text.matchAll(ODD)) {
      const character = found[0];
      if (isLines && (character === "\n" || character === "\t")) continue;
      if (found.index > done) parent.append(text.slice(done, found.index));
      const odd = document.createElement("span");
      odd.className = "odd";
      odd.textContent = nameOf(character);
      parent.append(odd);
      done = found.index + character.length;
    }
    if (done < text.length) parent.append(text.slice(done));
  }

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== undefined) element.setAttribute(name, value);
    }
    for (const child of children.flat()) {
      if (child instanceof Node) element.append(child);
      else if (child !== null && child !== undefined) write(element, String(child));
    }
    return element;
  }

  const brief = (text) => (text.length > 300 ? `${text.slice(0, 300)}\u2026` : text);

  // --- the pairs ---

  const table = parsed("index");
  const nameAt = (number) => table.names[number];
  const strategies = table.strategies.map(nameAt);
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

  // --- the table ---

  function result(answer) {
    return make(
      "span",
      { class: `result ${answer}` },
      make("span", { "aria-hidden": "true" }, SIGNS[answer]),
      ` ${table.answers[answer] ?? answer}`,
    );
  }

  const code = (name) => make("li", {}, make("code", {}, name));

  /* Lists test names: first by test, with the cases of a parametrized test as one entry, then
     all names, folded. */
  function names(list, count = list.length) {
    const groups = new Map();
    for (const name of list) {
      const start = name.endsWith("]") ? name.indexOf("[") : -1;
      const test = start > 0 ? name.slice(0, start) : name;
      groups.set(test, [...(groups.get(test) ?? []), name]);
    }
    const seen = [...groups].slice(0, SEEN_NAMES).map(([test, members]) =>
      members.length > 1
        ? make("li", {}, make("code", {}, test), ` ${members.length} cases`)
        : code(members[0]),
    );
    const short = make("ul", { class: "names" }, seen);
    if (count === groups.size && groups.size <= SEEN_NAMES) return [short];
    const left = count - list.length;
    const rest = left ? [make("li", { class: "beside" }, `and ${left} more`)] : [];
    const more = groups.size - SEEN_NAMES;
    const label = more > 0 ? `and ${more} more, all ${count} names` : `all ${count} names`;
    return [short, folded(label, () => make("ul", { class: "names" }, list.map(code), rest))];
  }

  /* Folded content is built when it is first opened. */
  function folded(summary, content) {
    const made = make("details", {}, make("summary", {}, summary));
    made.addEventListener("toggle", () => made.children.length > 1 || made.append(content()));
    return made;
  }

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

  // --- one pair ---

  const heading = (level, text, attributes = {}) => make(`h${level}`, attributes, text);

  function tableOf(caption, columns, rows) {
    const made = make("table", { "aria-label": caption });
    made.append(
      make("thead", {}, make("tr", {}, columns.map((name) => make("th", { scope: "col" }, name)))),
    );
    const cells = ([first, ...rest]) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, first),
        rest.map((cell) => make("td", {}, cell)),
      );
    made.append(make("tbody", {}, rows.map(cells)));
    return make("div", { class: "wide", role: "region", "aria-label": caption, tabindex: "0" }, made);
  }

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
      if (run.more) list.append(make("li", { class: "beside" }, `and ${run.more} more`));
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

  function strategyRow(attempt) {
    const lost = attempt.lost.map((some) =>
      make(
        "div",
        {},
        make("span", { class: "beside" }, `${some.names.length + some.more} of ${some.owner}:`),
        names(some.names, some.names.length + some.more),
      ),
    );
    const merge = [attempt.left ? `${attempt.left} of ${attempt.met} left open` : attempt.status];
    if (attempt.failure) merge.push(make("div", { class: "beside" }, attempt.failure));
    if (attempt.service_failed) {
      merge.push(make("div", { class: "beside" }, "a service that it needs failed"));
    }
    for (const usage of attempt.usage) merge.push(make("div", { class: "beside" }, usage));
    return [
      [attempt.strategy, make("div", { class: "beside" }, attempt.implementation)],
      merge,
      [result(attempt.answer)],
      [attempt.blame],
      lost.length ? lost : ["–"],
      ...attempt.runs.map((run) => runCell(run)),
      [make("span", { class: "who" }, `${attempt.seconds} s`)],
    ];
  }

  function hazards(attempts) {
    return attempts
      .filter((attempt) => attempt.hazards.length)
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
          () => tableOf(`Its ledger${more}`, ["File", "Line", "Both sides", "What it did"], rows),
        );
      });
  }

  // --- why a merge lost tests ---

  function explained(data, { title, about, hunks, more }) {
    const rows = hunks.map(([feature, where, number]) => {
      const [text, left] = data.texts[number];
      const lines = make("pre", {});
      write(lines, text, true);
      return [`feature ${feature}`, [where], [lines, left ? `${left} more bytes` : null]];
    });
    const rest = more ? ` (${more} more are left out)` : "";
    return [
      heading(3, title),
      ...about.map((words) => make("p", {}, words)),
      rows.length ? tableOf(`Hunks that take part${rest}`, ["Feature", "Hunk", "Lines"], rows) : null,
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
    const pre = make("pre", { tabindex: "0", role: "region", "aria-label": label });
    const lines = text.split("\n");
    if (lines.at(-1) === "") lines.pop();
    lines.forEach((line) => {
      const [sign, kind] = mark ? mark(line) : ["", ""];
      const shownLine = make("span", { class: `line ${kind}`, "data-from": mark ? sign || " " : null });
      write(shownLine, line, true);
      pre.append(shownLine);
    });
    if (left) {
      pre.append(make("span", { class: "beside" }, `\u2026 ${left} more bytes are left out`));
    } else if (text && !text.endsWith("\n")) {
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
    const [first, second] = data.features.map((feature) => feature.number);
    const line = conflict.line === null ? "" : `, line ${conflict.line}`;
    const groups = grouped(data, conflict);
    const title = heading(
      4,
      [`${place + 1}. `, make("code", {}, conflict.path), `${line}: ${conflict.kind}`],
    );
    return make(
      "section",
      { class: "conflict" },
      title,
      make(
        "div",
        { class: "side-by-side" },
        version(data, "base", conflict.base, "base"),
        version(data, `ours: feature ${second}`, conflict.ours, "ours"),
        version(data, `theirs: feature ${first}`, conflict.theirs, "theirs"),
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

  // --- the page of a pair ---

  function facts(data) {
    const list = make("dl", { class: "facts" });
    for (const [name, value] of Object.entries(data.facts)) {
      list.append(make("div", {}, make("dt", {}, name), make("dd", {}, value)));
    }
    return list;
  }

  function warnings({ warnings: { names: said, more } }) {
    const rest = more ? [make("li", { class: "beside" }, `and ${more} more`)] : [];
    const list = said.map((each) => make("li", {}, each));
    return said.length ? make("ul", { class: "warnings" }, list, rest) : null;
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

  function showPair(asked, pair) {
    found = find(asked);
    const data = parsed(`pair-${pair.number}`);
    const [first, second] = pair.features;
    const further = data.features[0].further.map((_, place) => place).filter((place) =>
      data.features.some((feature) => feature.further[place][1].passed !== null),
    );
    const columns = ["Feature", "Patch", "Its tests alone", "Its tests on the base"];
    columns.push(...further.map((place) => data.features[0].further[place][0]));
    const content = [
      walk(asked, pair.number),
      heading(2, data.title, { id: "pair-heading", tabindex: "-1" }),
      facts(data),
      warnings(data),
      heading(3, "Features"),
      tableOf(
        "Each feature by itself",
        columns,
        data.features.map((feature) => featureRow(feature, further)),
      ),
      heading(3, "Strategies"),
    ];
    if (data.attempts.length) {
      content.push(
        tableOf(
          "How the pair ended under each strategy",
          [
            ...["Strategy", "Merge", "Result", "To blame", "Tests lost"],
            ...data.suites.map((title) => title[0].toUpperCase() + title.slice(1)),
            "Time",
          ],
          data.attempts.map(strategyRow),
        ),
        ...hazards(data.attempts),
        ...ledgers(data.attempts),
      );
    } else content.push(make("p", {}, "No strategy was tried."));
    for (const explanation of data.explanations) content.push(...explained(data, explanation));
    content.push(heading(3, "Conflicts"));
    if (data.conflicts.length) {
      content.push(
        make(
          "p",
          { class: "beside" },
          `In the margin of a resolution, ${first} or ${second} marks a line from that feature's ` +
            "version, = a line from both, and + a line from neither.",
        ),
      );
    } else content.push(make("p", {}, "There are no conflicts."));
    data.conflicts.forEach((conflict, place) =>
      content.push(conflictSection(data, conflict, place)),
    );
    if (data.more_conflicts) {
      content.push(make("p", {}, `${data.more_conflicts} more conflicts are left out.`));
    }
    byId("pair").replaceChildren(...content.filter(Boolean));
    return data.title;
  }

  // --- events ---

  const pageTitle = document.title;
  let opened = "";
  let isAskedAbove = false;

  function show() {
    const asked = readHash();
    const pair = pairs.find((each) => String(each.number) === asked.pair);
    byId("summary").hidden = byId("list").hidden = Boolean(pair);
    byId("pair").hidden = !pair;
    if (pair) {
      document.title = `${showPair(asked, pair)} – ${pageTitle}`;
      scrollTo(0, 0);
      byId("pair-heading").focus({ preventScroll: true });
    } else {
      byId("pair").replaceChildren();
      document.title = pageTitle;
      showList(asked);
      if (isAskedAbove) byId("list-heading").focus();
      else if (opened) body.querySelector(`[data-pair="${CSS.escape(opened)}"]`)?.focus();
    }
    opened = pair ? asked.pair : "";
    isAskedAbove = false;
  }

  function ask(change) {
    const asked = { ...readHash(), ...change, pair: "" };
    const task = tasks.get(asked.task);
    if (task && asked.repo && task.repo !== asked.repo) asked.task = "";
    return hashOf(asked);
  }

  byId("summary").addEventListener("click", ({ target }) => {
    isAskedAbove = Boolean(target.closest("a"));
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    location.hash = hashOf({ strategy: readHash().strategy });
  });
  form.addEventListener("change", ({ target }) => {
    if (target.name !== "words") location.hash = ask({ [target.name]: target.value });
  });
  let waiting = 0;
  form.elements.words.addEventListener("input", ({ target }) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      history.replaceState(null, "", ask({ words: target.value }));
      show();
    }, 150);
  });
  head.addEventListener("click", ({ target }) => {
    const id = target.closest("[data-sort]")?.dataset.sort;
    if (!id) return;
    location.hash = ask({ sort: readHash().sort === id ? `-${id}` : id });
  });
  byId("more").addEventListener("click", ({ target }) => {
    const rows = target.dataset.rows;
    if (rows) addRows(readHash(), rows === "all" ? found.length : ROWS_AT_A_TIME);
  });
  addEventListener("hashchange", show);
  show();
})();
