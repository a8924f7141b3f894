"use strict";
// Keeps a page of `bench serve` up to date, and draws its figures. Without this script, the page
// shows the same text.
(() => {
  const { make, figureCard, watch } = benchCards;
  const pauseMs = 2000;

  const fetched = async (address) => {
    const response = await fetch(address, { cache: "no-store" });
    if (!response.ok) throw new Error(response.statusText);
    return response;
  };

  // ---- figures
  const charts = [];

  let vegaLoaded = null;
  const loadVega = () => (vegaLoaded ??= new Promise((done, failed) =>
    document.head.append(make("script", { src: "vega.js", onload: done, onerror: () =>
      failed(new Error("figures need Vega, which this installation of bench lacks")) }))));

  async function drawFigures() {
    const place = document.querySelector("[data-figures]");
    if (!place) return;
    const { figures, notes } = await (await fetched(place.dataset.figures)).json();
    const heading = make("h2", {}, place.dataset.title);
    const below = notes.map((note) => make("p", { class: "note" }, note));
    try {
      if (figures.length) await loadVega();
    } catch (error) {
      place.replaceChildren(heading, make("p", { class: "note" }, error.message), ...below);
      return;
    }
    for (const chart of charts.splice(0)) chart.view?.finalize();
    const cards = figures.map((figure) => figureCard(figure, charts));
    place.replaceChildren(...(figures.length + notes.length ? [heading] : []),
      make("div", { class: "figures" }, ...cards), ...below);
    for (const chart of charts) chart.draw();
  }

  // ---- live texts
  // The value at a path such as `steps.0.done` in an answer.
  const valueAt = (answer, path) => path.split(".").reduce((part, key) => part?.[key], answer);

  function show(answer) {
    for (const element of document.querySelectorAll("[data-live]")) {
      const value = valueAt(answer, element.dataset.live);
      if (value === undefined) continue;
      if (element instanceof HTMLProgressElement) {
        element.max = Math.max(1, valueAt(answer, element.dataset.liveMax));
        element.value = value;
      } else if (element.textContent !== String(value)) {
        const atEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - 4;
        element.textContent = value;
        if (atEnd) element.scrollTop = element.scrollHeight;
      }
      if ("state" in element.dataset) element.dataset.state = value;
    }
  }

  // Replaces the content with that of the current page, and keeps the scroll position.
  async function renew() {
    const text = await (await fetched(location.href)).text();
    const page = new DOMParser().parseFromString(text, "text/html");
    const chosen = new Set(
      [...document.querySelectorAll("input:checked")].map((input) => input.name + "=" + input.value));
    const drawn = document.querySelector("[data-figures]");
    document.querySelector("main").replaceWith(page.querySelector("main"));
    // Until the new ones are drawn.
    if (drawn) document.querySelector("[data-figures]")?.replaceWith(drawn);
    for (const input of document.querySelectorAll("input"))
      if (chosen.has(input.name + "=" + input.value)) input.checked = true;
    document.body.dataset.version = page.body.dataset.version;
    await drawFigures();
  }

  async function look() {
    const begin = performance.now();
    let lost = false;
    try {
      if (!document.hidden) {
        const answer = await (await fetched(document.body.dataset.address)).json();
        if (answer.version === document.body.dataset.version) show(answer);
        else await renew();
      }
    } catch {
      lost = true;
    }
    document.getElementById("lost").hidden = !lost;
    // Polls less often if answers are slow, so that measurements are not disturbed.
    setTimeout(look, Math.max(pauseMs, 10 * (performance.now() - begin)));
  }

  for (const element of document.querySelectorAll("pre")) element.scrollTop = element.scrollHeight;
  watch(charts, () => charts.forEach((chart) => chart.draw()));
  drawFigures().catch(console.error).finally(() => {
    document.documentElement.dataset.ready = String(charts.length);
    if (document.body.dataset.address) setTimeout(look, pauseMs);
  });
})();
