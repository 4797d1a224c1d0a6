/* The table of teams, below that of the pairs. */

const teams = table.teams.map((team, place) => ({ ...team, data: `team-${place + 1}`, kind: "teams" }));
for (const team of teams) byAddress.set(team.id, Object.assign(team, { among: teams }));

const teamLinks = teams.map(({ id, title }) => make("a", { "data-pair": id }, brief(title)));
const teamRows = teams.map(({ model, landed }, place) => [[teamLinks[place]], [landed], [model]]);
const isByModel = teams.some(({ model }) => model);
const teamHeads = ["Team", "Landed", ...(isByModel ? ["Model"] : [])];
byId("teams").append(
  heading(2, "Teams"),
  tableOf(
    "What landed, by the size of the team",
    ["Features", "Strategy", "Teams", "Share landed", "Correct"],
    table.sizes.map((row) => row.map((cell) => [cell])),
  ),
  tableOf("Teams", teamHeads, teamRows.map((row) => row.slice(0, teamHeads.length))),
);
byId("teams").addEventListener("keydown", walkRows);

/* The links keep the filters of the pairs. */
function linkTeams() {
  for (const link of teamLinks) link.href = hashOf({ ...readHash(), pair: link.dataset.pair });
}
addEventListener("hashchange", linkTeams);
linkTeams();
