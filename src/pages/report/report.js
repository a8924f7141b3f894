"use strict";
// The page of a report: shows the data that is in it.
(() => {
  const { make, theme, Table, figureCard, watch } = benchCards;

  const unpack = async (id) => {
    const coded = atob(document.getElementById(id).textContent);
    const bytes = new Uint8Array(coded.length);
    for (let k = 0; k < coded.length; ++k) bytes[k] = coded.charCodeAt(k);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  };

  const sections = document.getElementById("sections");
  const section = (id, title, ...children) => {
    sections.append(make("a", { href: "#" + id }, title));
    return make("section", { id }, make("h2", {}, title), ...children);
  };

  const plain = (rows) =>
    make("div", { class: "plain" }, make("table", { class: "plain" },
      make("thead", {}, make("tr", {}, ...rows[0].map((text) => make("th", { scope: "col" }, text)))),
      make("tbody", {}, ...rows.slice(1).map((row) =>
        make("tr", {}, ...row.map((text, k) => make("td", { class: k ? "n" : "" }, text)))))));

  const tiles = (report) => {
    const sums = new Map();
    for (const run of report.runs)
      for (const row of run.states.slice(1))
        row.slice(1).forEach((count, k) => {
          const state = run.states[0][k + 1];
          sums.set(state, (sums.get(state) ?? 0) + Number(count));
        });
    const kinds = { done: "good", failed: "bad", skipped: "skip" };
    const all = [["runs", report.runs.length], ...sums].filter(
      ([name, count]) => count > 0 && !(name === "runs" && count === 1));
    return make("div", { class: "tiles" }, ...all.map(([name, count]) =>
      make("div", { class: `tile ${kinds[name] ?? ""}` }, make("b", {}, String(count)),
        make("span", {}, name === "runs" ? name : `workpackages ${name}`))));
  };

  const runCard = (run) => {
    const list = make("dl");
    for (const [name, text] of run.facts) list.append(make("dt", {}, name), make("dd", {}, text));
    return make("div", { class: "card" }, make("h3", {}, run.name), list,
      run.states.length > 1 ? plain(run.states) : null);
  };

  const tableCard = (table) =>
    make("div", { class: table.columns.length > 12 ? "card many-columns" : "card" },
      make("h3", {}, table.title),
      new Table(table, table.name || "table").element,
      ...table.notes.map((note) => make("p", { class: "note" }, note)));

  // What is there before the tables, which may be large, are unpacked.
  const buildFirst = (report, main) => {
    const charts = [];
    const parts = [section("overview", "Overview",
      report.comment ? make("p", { class: "comment" }, report.comment) : "", tiles(report))];
    if (report.figures.length)
      parts.push(section("figures", "Figures", make("div", { class: "figures" },
        ...report.figures.map((figure) => figureCard(figure, charts)))));
    main.replaceChildren(...parts);
    return charts;
  };

  const buildRest = (report, { failures, tables, licenses }, main) => {
    if (failures)
      main.append(section("failures", "Failures",
        make("div", { class: "card" }, new Table(failures, "failures").element)));
    if (tables.length) main.append(section("tables", "Tables", ...tables.map(tableCard)));
    main.append(section("runs", "Provenance",
      make("div", { class: "runs" }, ...report.runs.map(runCard))));
    main.append(section("about", "About", make("div", { class: "card" },
      make("p", {}, `Made by bench ${report.version}. Drawn by Vega and Vega-Lite, which contain ` +
        "D3. Everything is in this file; it loads nothing."),
      make("details", {}, make("summary", {}, "licenses of the libraries in this file"),
        make("pre", {}, licenses)))));
  };

  const setTheme = (name, charts) => {
    document.documentElement.dataset.theme = name;
    document.getElementById("theme").textContent = name === "dark" ? "☀" : "☾";
    document.getElementById("theme").setAttribute("aria-label",
      name === "dark" ? "use light colours" : "use dark colours");
    for (const chart of charts) chart.draw();
  };

  const start = async () => {
    const message = document.getElementById("message");
    try {
      // The policy knows the hash of this script.
      document.head.append(make("script", {}, await unpack("vega")));
      const report = JSON.parse(await unpack("content"));
      const main = document.getElementById("report");
      const charts = buildFirst(report, main);
      setTheme(theme(), []);
      document.getElementById("theme").addEventListener("click", () =>
        setTheme(theme() === "dark" ? "light" : "dark", charts));
      watch(charts, (name) => setTheme(name, charts));
      const pause = () => new Promise((done) => setTimeout(done));  // the page stays usable
      for (const chart of charts) {
        chart.draw();
        if (chart === charts[0]) {
          performance.mark("first-chart");
          await pause();
          buildRest(report, JSON.parse(await unpack("tables-content")), main);
        }
        await pause();
      }
      if (!charts.length) buildRest(report, JSON.parse(await unpack("tables-content")), main);
      document.documentElement.dataset.ready = String(charts.length);
    } catch (error) {
      message.textContent = `This report cannot be shown: ${error.message}`;
      message.className = "message bad";
      document.getElementById("report").replaceChildren(message);
      throw error;
    }
  };
  start();
})();
