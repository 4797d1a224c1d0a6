/* What every view uses: making elements, showing texts, and the page's data. Texts from
   reports are only ever inserted as text, never as markup. */

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

// Where names wrap: after a sign between words, and before the brackets of a case.
const WRAPS = /(?<=[\p{L}\p{N}][_/.:]+)(?=\p{L})|(?<=[\p{L}\p{N}])(?=\[[\p{L}\p{N}])/u;

function writeSeen(parent, text, isLines) {
  if (isLines) parent.append(text);
  else text.split(WRAPS).forEach((part, place) => parent.append(...(place ? [document.createElement("wbr")] : []), part));
}

function write(parent, text, isLines = false) {
  let done = 0;
  for (const found of text.matchAll(ODD)) {
    const character = found[0];
    if (isLines && (character === "\n" || character === "\t")) continue;
    if (found.index > done) writeSeen(parent, text.slice(done, found.index), isLines);
    const odd = document.createElement("span");
    odd.className = "odd";
    odd.textContent = nameOf(character);
    parent.append(odd);
    done = found.index + character.length;
  }
  if (done < text.length) writeSeen(parent, text.slice(done), isLines);
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

/* Cuts a long text in the middle, because names often differ only at their end. */
const brief = (text) =>
  text.length > 300 ? `${text.slice(0, 150)}\u2026${text.slice(-149)}` : text;

// --- the page's data ---

const table = parsed("index");
const nameAt = (number) => table.names[number];
const strategies = table.strategies.map(nameAt);
const policies = table.policies.map(nameAt);

// --- parts of a view ---

/* A sign with its words, which only a screen reader gets if they are hidden. */
function signWithWords(sign, hidden) {
  const [symbol, words] = table.signs[sign];
  return make(
    "span",
    { class: `result ${sign}`, title: hidden ? words : null },
    make("span", { "aria-hidden": "true" }, symbol),
    hidden ? make("span", { class: "unseen" }, words) : ` ${words}`,
  );
}
const result = (answer) => signWithWords(answer, false);
const signOf = (sign) => signWithWords(sign, true);

const andMore = (more) => (more ? [make("li", { class: "beside" }, `and ${more} more`)] : []);
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
  const rest = andMore(count - list.length);
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
  return make("div", { class: "wide", role: "group", "aria-label": caption, tabindex: "0" }, made);
}
