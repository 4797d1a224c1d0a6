/* Colours code line by line. A hunk is only a part of its file, so what a line begins in is
   found out from the lines before it in the hunk. */

const KEYWORDS = {
  python:
    "False None True and as assert async await break case class continue def del elif else except " +
    "finally for from global if import in is lambda match nonlocal not or pass raise return self " +
    "try while with yield",
  javascript:
    "abstract any as async await boolean break case catch class const continue declare default " +
    "delete do else enum export extends false finally for from function get if implements import " +
    "in instanceof interface let namespace never new null number of private protected public " +
    "readonly return set static string super switch this throw true try type typeof undefined " +
    "unknown var void while yield",
  go:
    "bool break byte case chan const continue default defer else error fallthrough false float64 " +
    "for func go goto if import int int64 interface iota map nil package range return rune select " +
    "string struct switch true type uint8 var",
  rust:
    "Self as async await bool break const continue crate dyn else enum extern false fn for i32 " +
    "i64 if impl in let loop match mod move mut pub ref return self static str struct super " +
    "trait true type u32 u64 u8 unsafe use usize where while",
  other:
    "bool break case catch char class const continue def default do double echo else end enum esac " +
    "export extends false fi final float for function if import in int interface long namespace " +
    "new nil null package private protected public return sizeof static string struct switch then " +
    "this throw true try typedef using var void while",
};
const STRING = String.raw`"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?`;
const WORD = String.raw`[\p{L}_$][\p{L}\p{N}_$]*`;
const rule = (parts) =>
  new RegExp(
    [
      ...Object.entries(parts).map(([name, pattern]) => `(?<${name}>${pattern})`),
      String.raw`(?<number>\d[\w.]*)`,
      `(?<word>${WORD})`,
    ].join("|"),
    "gu",
  );
const SLASHES = { comment: String.raw`\/\/.*`, block: String.raw`\/\*` };
const LANGUAGES = {
  python: rule({
    comment: "#.*",
    block: `[rbfuRBFU]{0,2}(?:"""|''')`,
    string: `[rbfuRBFU]{0,2}(?:${STRING})`,
    mark: String.raw`(?<=^\s*)@[\w.]+`,
  }),
  javascript: rule({ ...SLASHES, long: "`", string: STRING }),
  go: rule({ ...SLASHES, long: "`", string: STRING }),
  // A quotation mark before a lifetime has no partner.
  rust: rule({ ...SLASHES, string: String.raw`"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.[^']*)'` }),
  hashed: rule({ comment: "(?<![^\\s])#.*", string: STRING }),
  other: rule({ ...SLASHES, string: STRING }),
};
const SUFFIXES = {
  python: "py pyi",
  javascript: "js jsx mjs cjs ts tsx mts cts",
  go: "go",
  rust: "rs",
  hashed: "sh bash yml yaml toml cfg ini rb mk",
  other: "c cc cpp h hpp java kt cs swift scala php",
};
const LANGUAGE_OF = Object.fromEntries(
  Object.entries(SUFFIXES).flatMap(([name, all]) => all.split(" ").map((each) => [each, name])),
);
const WORDS = Object.fromEntries(
  Object.entries(KEYWORDS).map(([name, all]) => [name, new Set(all.split(" "))]),
);
const DEFINING = new Set("class def enum fn func function interface mod struct trait type".split(" "));
const LONGEST_COLOURED = 2000;

/* Returns a function that cuts the next line into [kind, text] pieces; a kind is a class of the
   style, and empty for what has no colour. *lines* are all that it will be given. */
function colourer(path, lines) {
  const suffix = /\.(\w+)$/.exec(path)?.[1].toLowerCase() ?? "";
  const language = Object.hasOwn(LANGUAGE_OF, suffix) ? LANGUAGE_OF[suffix] : "";
  if (!language) return (line) => [["", line]];
  const keywords = WORDS[language] ?? WORDS.other;
  let inside = language === "python" ? insideAtFirst(lines) : null;

  return (line) => {
    if (line.length > LONGEST_COLOURED) return [["", line]];
    const pieces = [];
    let at = 0;
    const add = (kind, end) => {
      if (end > at) pieces.push([kind, line.slice(at, end)]);
      at = Math.max(at, end);
    };
    // Adds the text up to the end of what the line is in; it may end in a later line.
    const finish = () => {
      const { close, kind } = inside;
      const found = line.indexOf(close, at);
      if (found >= 0) inside = null;
      add(kind, found < 0 ? line.length : found + close.length);
    };
    if (inside) finish();
    const pattern = new RegExp(LANGUAGES[language]);
    let before = "";
    while (!inside) {
      pattern.lastIndex = at;
      const found = pattern.exec(line);
      if (!found) break;
      const [text] = found;
      const end = found.index + text.length;
      add("", found.index);
      const { comment, block, long, string, mark, number, word } = found.groups;
      if (block !== undefined || long !== undefined) {
        const isComment = block === "/*";
        inside = { close: isComment ? "*/" : text.slice(long ? -1 : -3), kind: isComment ? "comment" : "string" };
        add(inside.kind, end);
        finish();
      } else if (word !== undefined) {
        add(keywords.has(word) ? "keyword" : DEFINING.has(before) ? "defined" : "", end);
        before = word;
      } else add(comment ? "comment" : string ? "string" : mark ? "keyword" : number ? "number" : "", end);
    }
    add("", line.length);
    return pieces;
  };
}

/* A part of a Python file may begin within a docstring. It does if the first quotation marks
   end a text instead of beginning one. */
function insideAtFirst(lines) {
  for (const [place, line] of lines.entries()) {
    const found = /"""|'''/.exec(line);
    if (!found) continue;
    const before = line.slice(0, found.index).trim();
    const after = line.slice(found.index + 3).trim();
    const count = lines.join("\n").split(found[0]).length - 1;
    const ends = before
      ? !after && !/[=(,[{:+rbfu]$|\b(?:return|in|not)$/i.test(before)
      : !after && count % 2 === 1 && place > 0;
    return ends ? { close: found[0], kind: "string" } : null;
  }
  return null;
}
