// Keeps a page up to date. Without this script, the page shows the same content.
"use strict";

const pause_ms = 2000;

/** The value at a path such as `steps.0.done` in an answer. */
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

/** Replaces the content with that of the current page, and keeps the scroll position. */
async function renew() {
  const response = await fetch(location.href, { cache: "no-store" });
  if (!response.ok) throw new Error(response.statusText);
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const chosen = new Set(
    [...document.querySelectorAll("input:checked")].map((input) => input.name + "=" + input.value));
  document.querySelector("main").replaceWith(page.querySelector("main"));
  for (const input of document.querySelectorAll("input"))
    if (chosen.has(input.name + "=" + input.value)) input.checked = true;
  document.body.dataset.version = page.body.dataset.version;
}

async function look() {
  const begin = performance.now();
  let lost = false;
  try {
    if (!document.hidden) {
      const response = await fetch(document.body.dataset.address, { cache: "no-store" });
      if (!response.ok) throw new Error(response.statusText);
      const answer = await response.json();
      if (answer.version === document.body.dataset.version) show(answer);
      else await renew();
    }
  } catch {
    lost = true;
  }
  document.getElementById("lost").hidden = !lost;
  // Polls less often if answers are slow, so that measurements are not disturbed.
  setTimeout(look, Math.max(pause_ms, 10 * (performance.now() - begin)));
}

for (const element of document.querySelectorAll("pre")) element.scrollTop = element.scrollHeight;
if (document.body.dataset.address) setTimeout(look, pause_ms);
