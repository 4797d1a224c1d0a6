/* The tests that a merge lost: why they failed, and the code that the failures lead to. */

const LONGEST_ERROR = 160;
const SEEN_FUNCTIONS = 6;
const CONTEXT = 8;
const MOST_LEADING = 10;
const LEADS = {
  frame: "the traceback goes through it",
  named: "the failure names it",
  both: "no failure leads to it, but both features changed it",
  used: "reached through the functions that the failure names",
};

const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/* The message of a failure. The lines in which frameworks say what went wrong stand out. */
function failureMessage(message, label) {
  const pre = codeBlock(label);
  pre.className = "failure";
  linesOf(message).forEach((line, place) => {
    const isError = place === 0 || /^E\s|^\w*(?:Error|Exception|panic)\b|^thread '/.test(line);
    const kind = isError ? "error" : /^>/.test(line) ? "at" : "";
    const shown = make("span", { class: `line ${kind}` });
    write(shown, line, true);
    pre.append(shown);
  });
  return pre;
}

function failureBox(failure, isOpen) {
  const { owner, status, message, tests, more } = failure;
  const count = tests.length + more;
  const others = count > 1 ? ` and ${plural(count - 1, "more test")} of ${owner}` : ` of ${owner}`;
  const [error] = message.split("\n");
  const brief = error.length > LONGEST_ERROR ? `${error.slice(0, LONGEST_ERROR)}…` : error;
  const box = make(
    "details",
    { class: "failed-test" },
    make(
      "summary",
      {},
      make("code", {}, tests[0]),
      `${others}: ${status}`,
      brief ? make("span", { class: "error" }, ` ${brief}`) : null,
    ),
  );
  box.open = isOpen;
  if (message) box.append(failureMessage(message, `Failure of ${tests[0]}`));
  else box.append(make("p", { class: "beside" }, "The test framework reported no reason."));
  if (count > 1) {
    const words = message ? "All tests that fail in this way" : "All of them";
    box.append(folded(words, () => make("ul", { class: "names" }, tests.map(code), andMore(more))));
  }
  return box;
}

/* Leaves out unchanged rows that are far from any change. */
function nearChanges(rows) {
  const isNear = rows.map((row) => row.sign !== " ");
  rows.forEach((row, place) => {
    if (row.sign === " ") return;
    for (let at = place - CONTEXT; at <= place + CONTEXT; at += 1) if (at in rows) isNear[at] = true;
  });
  if (isNear.filter((near) => !near).length < 2 * CONTEXT) return [rows];
  const parts = [];
  rows.forEach((row, place) => {
    if (isNear[place] !== isNear[place - 1]) parts.push(isNear[place] ? [] : 0);
    if (isNear[place]) parts.at(-1).push(row);
    else parts[parts.length - 1] += 1;
  });
  return parts;
}

/* One version of a function, compared with the base. */
function functionVersion(data, traced, place, title, kind) {
  const [base, text] = [traced.versions[0], traced.versions[place]];
  const box = make("figure", { class: `version ${kind}` });
  const caption = (words) => make("figcaption", {}, make("b", {}, title), words);
  if (text === null) {
    box.append(caption(base === null ? ": not there" : ": removed"));
    if (base === null) return box;
  } else box.append(caption(base === null ? ": added" : text === base ? ": as in the base" : ": changed"));
  const [before, after] = [base, text].map((number) => (number === null ? null : data.texts[number]));
  const left = (before?.[1] ?? 0) + (after?.[1] ?? 0);
  const pre = codeBlock(`${traced.name}, ${title}`);
  const isMerge = place === 3;
  const rows = textRows(before?.[0] ?? null, after?.[0] ?? null, isMerge ? traced.line : null);
  const mark = isMerge ? originIn(data, traced) : null;
  for (const part of nearChanges(rows)) {
    pre.append(
      Array.isArray(part)
        ? rowsOf(part, traced.path, mark)
        : make("span", { class: "line place" }, `${plural(part, "unchanged line")} left out`),
    );
  }
  if (left) pre.append(leftOut(left));
  box.append(pre);
  return box;
}

/* Says which feature a changed row of a merged function is from: one that has the line more
   often than the base, or less often if the merge removes it. */
function originIn(data, traced) {
  const [base, one, two] = traced.versions.map((number) => {
    const counts = new Map();
    const lines = number === null ? [] : linesOf(data.texts[number][0]);
    for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
    return (line) => counts.get(line) ?? 0;
  });
  const [first, second] = data.features.map((feature) => String(feature.number));
  return ({ sign, text }) => {
    if (sign === " " || !text.trim()) return ["", ""];
    const more = sign === "+" ? 1 : -1;
    const [isOne, isTwo] = [one, two].map((count) => more * (count(text) - base(text)) > 0);
    if (isOne && isTwo) return ["=", ""];
    return isOne ? [first, ""] : isTwo ? [second, ""] : ["?", ""];
  };
}

/* A report names at most ten of the tests that lead to a function. */
function leadingTests({ tests }) {
  return `${tests.length < MOST_LEADING ? "" : "at least "}${plural(tests.length, "lost test")}`;
}

function tracedFunction(data, traced, total) {
  const [first, second] = data.features.map((feature) => `Feature ${feature.number}`);
  const place = traced.line === null ? `${traced.path}, not in the merge` : `${traced.path}, line ${traced.line}`;
  const of = total > 1 && traced.tests.length ? `; ${leadingTests(traced)}` : "";
  return make(
    "section",
    { class: "traced" },
    heading(5, [make("code", {}, traced.name), make("span", { class: "beside" }, ` ${place}: ${LEADS[traced.kind] ?? traced.kind}${of}`)]),
    make(
      "div",
      { class: "side-by-side three" },
      functionVersion(data, traced, 1, first, "theirs"),
      functionVersion(data, traced, 2, second, "ours"),
      functionVersion(data, traced, 3, "Merge", "merge"),
    ),
  );
}

function tracedCode(data, { trace }, total) {
  if (!trace) {
    const why = "An earlier version of the library wrote this report, so the code that these failures lead to is not known. Evaluate the pair again to see it.";
    return [make("p", { class: "beside" }, why)];
  }
  const { functions, left_out: left } = trace;
  const more = left
    ? make("p", { class: "beside" }, `${plural(left, "more function")} left out. A file that was too much to read counts as one.`)
    : null;
  if (!functions.length) {
    const why = "The failures lead to no function that a feature changed. The merge below shows all changes.";
    return [make("p", { class: "beside" }, why), more].filter(Boolean);
  }
  const shown = functions.map((traced, place) =>
    place < SEEN_FUNCTIONS ? tracedFunction(data, traced, total) : null,
  );
  const rest = functions.slice(SEEN_FUNCTIONS);
  return [
    heading(4, "The code that these failures lead to"),
    make(
      "p",
      { class: "beside" },
      "Functions and variables that a feature changed, each compared with the base; the surest first. Names are compared as words, " +
        "so a function that only shares a name may be among them. In the margin of a merge, a number marks a line of " +
        "that feature, = a line of both, and ? one that neither feature's version has.",
    ),
    ...shown.filter(Boolean),
    rest.length
      ? folded(plural(rest.length, "more function"), () => make("div", {}, rest.map((traced) => tracedFunction(data, traced, total))))
      : null,
    more,
  ].filter(Boolean);
}

/* One section for each set of lost tests. */
function lossSections(data) {
  return data.losses.flatMap((loss) => {
    const count = loss.failures.reduce((sum, each) => sum + each.tests.length + each.more, 0) + loss.more;
    const status = data.attempts.find((attempt) => attempt.strategy === loss.strategies[0])?.status ?? "";
    const verb = status === "clean" ? "The clean merge" : "The merge";
    const boxes = loss.failures.map((failure, place) => failureBox(failure, place === 0));
    return [
      make("p", { class: "lead" }, `${verb} of `, make("b", {}, loss.strategies.join(", ")), ` lost ${plural(count, "test")} that passed with a feature alone.`),
      ...boxes,
      loss.more ? make("p", { class: "beside" }, `${plural(loss.more, "more test")} left out.`) : null,
      ...hazards(data.attempts.filter((attempt) => attempt.strategy === loss.strategies[0])),
      ...tracedCode(data, loss, count),
    ].filter(Boolean);
  });
}
