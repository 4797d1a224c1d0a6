/* Diffs: which lines differ, and within them which words. */

const MOST_STEPS = 400_000;

/* Aligns two lists by their longest common subsequence. Returns which items of either have a
   partner in the other, or null if that would take too long. */
function aligned(one, two) {
  let start = 0;
  let [end1, end2] = [one.length, two.length];
  while (start < end1 && start < end2 && one[start] === two[start]) start += 1;
  while (end1 > start && end2 > start && one[end1 - 1] === two[end2 - 1]) {
    end1 -= 1;
    end2 -= 1;
  }
  const [rows, columns] = [end1 - start, end2 - start];
  if ((rows + 1) * (columns + 1) > MOST_STEPS) return null;
  const width = columns + 1;
  const lengths = new Uint16Array((rows + 1) * width);
  for (let i = rows - 1; i >= 0; i -= 1) {
    for (let j = columns - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        one[start + i] === two[start + j]
          ? lengths[(i + 1) * width + j + 1] + 1
          : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  const kept = [one.map((_, i) => i < start || i >= end1), two.map((_, j) => j < start || j >= end2)];
  for (let i = 0, j = 0; i < rows && j < columns; ) {
    if (one[start + i] === two[start + j]) {
      kept[0][start + i] = kept[1][start + j] = true;
      i += 1;
      j += 1;
    } else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) i += 1;
    else j += 1;
  }
  return kept;
}

const wordsIn = (lines) => lines.join("\n").match(/[\p{L}\p{N}_]+|\n|[^\S\n]+|[^\p{L}\p{N}_\s]/gu) ?? [];

/* Returns, for each removed and each added line, the ranges of characters that differ. If the
   lines have little in common, there are none: then everything differs. */
function wordChanges(removed, added) {
  const none = [removed.map(() => []), added.map(() => [])];
  if (!removed.length || !added.length) return none;
  const words = [wordsIn(removed), wordsIn(added)];
  const kept = aligned(...words);
  if (!kept) return none;
  const isWord = (word) => /[\p{L}\p{N}_]/u.test(word);
  const share = words.map((all, side) => {
    const real = all.filter(isWord).length;
    return real ? all.filter((word, i) => isWord(word) && kept[side][i]).length / real : 0;
  });
  if (Math.max(...share) < 0.4) return none;
  return words.map((all, side) => rangesOf(all, kept[side]));
}

/* Turns words that differ into ranges per line. A space or a sign between two of them belongs
   to the difference, so that it reads as one. */
function rangesOf(all, kept) {
  const differs = kept.map((isKept, i) => {
    if (!isKept || /[\p{L}\p{N}_\n]/u.test(all[i])) return !isKept;
    return i > 0 && i + 1 < all.length && !kept[i - 1] && !kept[i + 1];
  });
  const lines = [[]];
  let column = 0;
  all.forEach((word, i) => {
    if (word === "\n") {
      lines.push([]);
      column = 0;
      return;
    }
    const ranges = lines.at(-1);
    if (differs[i]) {
      const last = ranges.at(-1);
      if (last && last[1] === column) last[1] += word.length;
      else ranges.push([column, column + word.length]);
    }
    column += word.length;
  });
  return lines;
}

/* Leaves out the marks of a line of which nearly everything differs: its colour says so. Where
   words differ too, the indentation before them is not marked. */
function unlessAll(text, ranges = []) {
  const indent = text.length - text.trimStart().length;
  if (ranges[0]?.[0] === 0 && ranges[0][1] > indent) ranges[0][0] = indent;
  const size = ranges.reduce((sum, [start, end]) => sum + end - start, 0);
  return size > 0.8 * text.trim().length ? [] : ranges;
}

/* Cuts rows into runs and marks the words that differ between removed lines and the added lines
   that follow them. A row is {sign, text}, with the sign " ", "-" or "+". */
function markWords(rows) {
  for (let at = 0; at < rows.length; ) {
    let middle = at;
    while (rows[middle]?.sign === "-") middle += 1;
    let end = middle;
    while (rows[end]?.sign === "+") end += 1;
    const [removed, added] = [rows.slice(at, middle), rows.slice(middle, end)];
    const texts = [removed, added].map((some) => some.map((row) => row.text));
    const [gone, come] = wordChanges(...texts);
    removed.forEach((row, i) => (row.ranges = unlessAll(row.text, gone[i])));
    added.forEach((row, i) => (row.ranges = unlessAll(row.text, come[i])));
    at = Math.max(end, at + 1);
  }
  return rows;
}

/* The rows of a hunk of a git diff, with their line numbers. */
function hunkRows(head, text) {
  const [, old, now] = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(head) ?? [0, 1, 1];
  const lines = linesOf(text);
  let [before, after] = [Number(old), Number(now)];
  const rows = [];
  for (const line of lines) {
    const sign = line[0] ?? " ";
    if (sign === "\\") {
      if (rows.length) rows.at(-1).unended = true;
      continue;
    }
    const isRow = sign === "+" || sign === "-";
    const row = { sign: isRow ? sign : " ", text: isRow || sign === " " ? line.slice(1) : line };
    if (row.sign !== "+") row.old = before++;
    if (row.sign !== "-") row.now = after++;
    rows.push(row);
  }
  return markWords(rows);
}

/* The rows of a diff of two whole texts; null is a text that is not there. */
function textRows(one, two, first) {
  const [before, after] = [linesOf(one ?? ""), linesOf(two ?? "")];
  const kept = aligned(before, after) ?? [before.map(() => false), after.map(() => false)];
  const rows = [];
  for (let i = 0, j = 0; i < before.length || j < after.length; ) {
    if (i < before.length && !kept[0][i]) rows.push({ sign: "-", text: before[i++] });
    else if (j < after.length && !kept[1][j]) rows.push({ sign: "+", text: after[j++] });
    else {
      rows.push({ sign: " ", text: after[j++] });
      i += 1;
    }
  }
  if (first !== null) {
    let now = first;
    for (const row of rows) if (row.sign !== "-") row.now = now++;
  }
  return markWords(rows);
}

function linesOf(text) {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

// --- showing rows ---

const NAMES_OF_SIGNS = { "+": "added", "-": "removed", " ": "" };

/* Writes a line in colour, with the ranges that differ marked. */
function writeLine(parent, pieces, ranges) {
  let column = 0;
  let next = 0;
  for (const [kind, text] of pieces) {
    for (let at = 0; at < text.length; ) {
      while (next < ranges.length && ranges[next][1] <= column) next += 1;
      const [start, end] = ranges[next] ?? [Infinity, Infinity];
      const isMarked = column >= start;
      const size = Math.min(text.length - at, (isMarked ? end : start) - column);
      const part = document.createElement(isMarked ? "mark" : "span");
      if (kind) part.className = kind;
      const target = kind || isMarked ? part : parent;
      write(target, text.slice(at, at + size), true);
      if (target === part) parent.append(part);
      at += size;
      column += size;
    }
  }
}

/* Shows rows as a block of code. *mark* gives the sign and the class for the margin of a row. */
function rowsOf(rows, path, mark = null) {
  const shown = document.createDocumentFragment();
  const sides = ["-", "+"].map((sign) => rows.filter((row) => row.sign === sign || row.sign === " "));
  const colour = sides.map((some) => colourer(path, some.map((row) => row.text)));
  const numbers = rows.flatMap((row) => [row.old ?? 0, row.now ?? 0]);
  const width = String(Math.max(0, ...numbers)).length;
  const hasOld = rows.some((row) => row.old !== undefined);
  const hasNew = rows.some((row) => row.now !== undefined);
  const padded = (number) => String(number ?? "").padStart(width);
  for (const row of rows) {
    // Both sides read a line that both have, so that they know what it begins or ends.
    const pieces = row.sign === " " ? (colour[0](row.text), colour[1](row.text)) : colour[row.sign === "+" ? 1 : 0](row.text);
    const [from, kind] = mark?.(row) ?? ["", ""];
    const places = [hasOld && padded(row.old), hasNew && padded(row.now)].filter(Boolean);
    const margin = [...places, ...(mark ? [from.padStart(2) || "  "] : []), row.sign].join(" ");
    const tag = { "+": "ins", "-": "del", " ": "span" }[row.sign];
    const line = make(tag, { class: `line row ${NAMES_OF_SIGNS[row.sign]} ${kind}`, "data-margin": `${margin} ` });
    line.style.setProperty("--margin", `${margin.length + 1}ch`);
    writeLine(line, pieces, row.ranges ?? []);
    if (row.unended) line.append(make("span", { class: "beside" }, " (no newline at the end)"));
    shown.append(line);
  }
  return shown;
}

const codeBlock = (label) => make("pre", { tabindex: "0", role: "group", "aria-label": label });
const leftOut = (left) => make("span", { class: "beside" }, `\u2026 ${left} more bytes are left out`);

// --- files ---

const OPEN_LINES = 300;

function fileContent(data, file, label) {
  const pre = codeBlock(`${label}, ${file.path}`);
  let origins = null;
  for (const [head, number, own = origins] of file.hunks) {
    origins = own; // if a hunk has none, it has those of the hunk before it
    const [text, left] = data.texts[number];
    const rows = hunkRows(head, text);
    const mark = origins === null ? null : originOf(data, rows, origins);
    pre.append(make("span", { class: "line place" }, head), rowsOf(rows, file.path, mark));
    if (left) pre.append(leftOut(left));
  }
  const notes = file.notes.map((note) => make("p", { class: "beside" }, note));
  if (file.more) notes.push(make("p", { class: "beside" }, `${file.more} more hunks are left out.`));
  return [...notes, file.hunks.length ? pre : null].filter(Boolean);
}

/* The files of a diff, each folded; the first ones are open if they are short. */
function diffFiles(data, { files, more }, label) {
  let room = OPEN_LINES;
  const shown = files.map((file) => {
    room -= file.added + file.removed;
    const name = [make("code", {}, file.old ? `${file.old} → ${file.path}` : file.path)];
    const counts = [make("span", { class: "good" }, `+${file.added}`), " ", make("span", { class: "bad" }, `−${file.removed}`)];
    const box = folded([...name, " ", ...counts], () => make("div", {}, fileContent(data, file, label)));
    box.className = "file";
    box.open = room >= 0;
    return box;
  });
  if (!files.length) shown.push(make("p", { class: "beside" }, "no changes"));
  if (more) shown.push(make("p", {}, `${more} more files are left out.`));
  return shown;
}

/* Returns a function that gives the sign and the class of a row of a merge. *origins* has the
   origins of the changed rows in order, each as a letter and how often it occurs. */
function originOf(data, rows, origins) {
  const [first, second] = data.features.map((feature) => String(feature.number));
  const signs = {
    f: [first, "of-one"],
    s: [second, "of-two"],
    b: ["=", "of-both"],
    r: ["*", "of-resolver"],
    m: ["!", "of-marker"],
    u: ["?", "of-unknown"],
    ".": ["", ""],
  };
  const letters = [...origins.matchAll(/(\D)(\d*)/g)].flatMap(([, letter, count]) => Array(Number(count || 1)).fill(letter));
  const changed = rows.filter((row) => row.sign !== " ");
  const marks = new Map(changed.map((row, place) => [row, signs[letters[place]]]));
  return (row) => marks.get(row) ?? ["", ""];
}

/* What the signs in the margin mean, each in its colour. */
function legendOf(data) {
  const [first, second] = data.features.map((feature) => String(feature.number));
  const meanings = [
    ["one", first, `feature ${first} added or removed it`],
    ["two", second, `feature ${second} added or removed it`],
    ["both", "=", "both features did"],
    ["resolver", "*", "a strategy wrote it where the features conflict"],
    ["marker", "!", "it marks a conflict that is still open"],
    ["unknown", "?", "no version has it, and it is not part of a conflict"],
  ];
  return make(
    "div",
    { class: "beside" },
    make("p", {}, "Against the base. Strategies with the same tree are shown together. The margin shows where each changed line comes from:"),
    make(
      "ul",
      { class: "legend" },
      meanings.map(([kind, sign, words]) => make("li", {}, make("b", { class: `sign of-${kind}` }, sign), ` ${words}`)),
    ),
    make("p", {}, "An added line without a sign is one of the base that was moved, or whose file was renamed. A removed line without a sign is one that neither feature removes."),
  );
}

/* Both patches, and each merge. */
function diffSections(data) {
  const patches = data.features.map((feature, place) => {
    const label = `Patch of feature ${feature.number}`;
    const patch = data.patches[place];
    const why = feature.usable
      ? "An earlier version of the library wrote this report, without the patches. Evaluate the pair again to see them."
      : `It was not applied. ${feature.patch}`;
    const shown = patch ? diffFiles(data, patch, label) : [make("p", { class: "beside" }, why)];
    return make("section", { class: "diff" }, heading(4, label), shown);
  });
  const merges = data.merges.map((merge) => {
    const names = merge.strategies.join(", ");
    return make(
      "section",
      { class: "diff" },
      heading(4, [`Merge of ${names}`]),
      merge.problem ? make("p", { class: "beside" }, merge.problem) : null,
      diffFiles(data, merge, `Merge of ${names}`),
    );
  });
  const isMarked = data.merges.some((merge) => !merge.problem);
  return {
    Patches: [make("div", { class: "side-by-side wide-boxes" }, patches)],
    Merges: [isMarked ? legendOf(data) : null, ...merges].filter(Boolean),
  };
}
