/* Shows what the address asks for: the overview, or one pair or team. */

const pageTitle = document.title;
let opened = "";
let isAskedAbove = false;

/* A page about a single pair or team opens on it; the address of its table ends with #. */
function shownFirst() {
  return byAddress.size === 1 && !location.href.includes("#") ? [...byAddress.keys()][0] : "";
}

function show() {
  const asked = readHash();
  asked.pair ||= shownFirst();
  const pair = byAddress.get(asked.pair);
  byId("list").hidden = Boolean(pair);
  byId("summary").classList.toggle("behind", Boolean(pair));
  byId("pair").hidden = !pair;
  if (pair) {
    const data = parsed(pair.data);
    found = find(asked);
    byId("pair").replaceChildren(walk(asked, pair), ...pairContent(data));
    document.title = `${data.title} – ${pageTitle}`;
    scrollTo(0, 0);
    byId("pair-heading").focus({ preventScroll: true });
  } else {
    byId("pair").replaceChildren();
    document.title = pageTitle;
    showList(asked);
    if (isAskedAbove) byId("list-heading").focus();
    else if (opened) focusRow(asked, opened);
  }
  opened = pair ? asked.pair : "";
  isAskedAbove = false;
}

function ask(change) {
  const asked = { ...readHash(), ...change, pair: "" };
  if (asked.task && asked.repo && repoOf.get(asked.task) !== asked.repo) asked.task = "";
  return hashOf(asked);
}

for (const id of ["summary", "groups"]) {
  byId(id).addEventListener("click", ({ target }) => {
    isAskedAbove = Boolean(target.closest("a"));
  });
}
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
body.addEventListener("keydown", walkRows);
byId("feature-matrices").addEventListener("keydown", walkCells);
const isNarrow = matchMedia("(max-width: 40rem)");
const foldFilters = () => {
  byId("filtering").open = !isNarrow.matches;
};
isNarrow.addEventListener("change", foldFilters);
foldFilters();
addEventListener("hashchange", show);
show();
