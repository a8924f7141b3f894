// Opens a page in headless Chromium and prints what expressions come to there, as JSON.
//
//     node browser.mjs CHROMIUM FILE.html|URL [--width N] [--height N] [--scale N] [--dark] [--print]
//         [--first URL] [--screenshot FILE.png] [--wait EXPRESSION] [EXPRESSION...]
//
// Prints `errors` (of the console), `requests` (to anything but the file itself) and `values` of the
// expressions, in order; a promise is awaited. --first opens a page that sets a cookie before. Speaks the DevTools protocol through a pipe.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [chromium, file, ...rest] = process.argv.slice(2);
const options = { width: 1200, height: 6000, scale: 1, dark: false, wait: "document.documentElement?.dataset.ready" };
const expressions = [];
while (rest.length) {
  const word = rest.shift();
  if (word === "--width") options.width = Number(rest.shift());
  else if (word === "--height") options.height = Number(rest.shift());
  else if (word === "--scale") options.scale = Number(rest.shift());
  else if (word === "--first") options.first = rest.shift();
  else if (word === "--dark") options.dark = true;
  else if (word === "--print") options.media = "print";
  else if (word === "--screenshot") options.screenshot = rest.shift();
  else if (word === "--wait") options.wait = rest.shift();
  else expressions.push(word);
}

const profile = mkdtempSync(join(tmpdir(), "bench-browser-"));
const browser = spawn(
  chromium,
  ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", `--user-data-dir=${profile}`,
    "--remote-debugging-pipe", "about:blank"],
  { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] },
);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const end = async (code) => {
  const gone = new Promise((done) => browser.once("exit", done));
  browser.kill("SIGKILL");
  await gone;
  // Its children may outlive it for a moment, and write.
  for (let left = 100; left > 0; --left)
    try {
      rmSync(profile, { recursive: true, force: true });
      break;
    } catch {
      await pause(100);
    }
  process.exit(code);
};

let last = 0;
const waiting = new Map();
const errors = [];
const requests = [];
const send = (method, params = {}, sessionId = undefined) =>
  new Promise((done, failed) => {
    waiting.set(++last, { done, failed });
    browser.stdio[3].write(JSON.stringify({ id: last, method, params, sessionId }) + "\0");
  });
const url = /^https?:/.test(file) ? file : pathToFileURL(resolve(file)).href;
const seen = ({ method, params }) => {
  if (method === "Runtime.exceptionThrown")
    errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
  if (method === "Runtime.consoleAPICalled" && ["error", "warning"].includes(params.type))
    errors.push(params.args.map((one) => one.value ?? one.description).join(" "));
  if (method === "Log.entryAdded" && ["error", "warning"].includes(params.entry.level))
    errors.push(params.entry.text);
  if (method === "Network.requestWillBeSent" && params.request.url !== url)
    requests.push(params.request.url.slice(0, 100));
};
let pending = "";
browser.stdio[4].setEncoding("utf8");
browser.stdio[4].on("data", (text) => {
  const messages = (pending + text).split("\0");
  pending = messages.pop();
  for (const message of messages.map((one) => JSON.parse(one))) {
    const asked = waiting.get(message.id);
    if (!asked) seen(message);
    else if (message.error) asked.failed(new Error(message.error.message));
    else asked.done(message.result);
    waiting.delete(message.id);
  }
});

try {
  const { targetInfos } = await send("Target.getTargets");
  const { targetId } = targetInfos.find((one) => one.type === "page");
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  const page = (method, params) => send(method, params, sessionId);
  for (const domain of ["Runtime", "Log", "Network", "Page"]) await page(`${domain}.enable`);
  await page("Emulation.setDeviceMetricsOverride", {
    width: options.width, height: 900, deviceScaleFactor: options.scale, mobile: false });
  await page("Emulation.setEmulatedMedia", {
    media: options.media ?? "",
    features: [{ name: "prefers-color-scheme", value: options.dark ? "dark" : "light" }] });
  const evaluate = async (expression) => {
    const { result, exceptionDetails } = await page("Runtime.evaluate", {
      expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails)
      throw new Error(`${expression}: ${exceptionDetails.exception?.description}`);
    return result.value ?? null;
  };
  const deadline = Date.now() + 200_000;  // for a page that hangs, on a machine that is busy
  for (const opened of [options.first, url].filter(Boolean)) {
    await page("Page.navigate", { url: opened });
    while (!(await evaluate(`Boolean(${options.wait}) || !!document.querySelector(".message.bad")`)))
      if (Date.now() > deadline) throw new Error(`${options.wait}: never`);
      else await pause(20);
  }
  const values = [];
  for (const expression of expressions) values.push(await evaluate(expression));
  if (options.screenshot) {
    const { cssContentSize: size } = await page("Page.getLayoutMetrics");
    const { data } = await page("Page.captureScreenshot", {
      format: "png", captureBeyondViewport: true,
      clip: { x: 0, y: 0, width: options.width, height: Math.min(size.height, options.height), scale: 1 } });
    writeFileSync(options.screenshot, Buffer.from(data, "base64"));
  }
  console.log(JSON.stringify({ errors, requests, values }));
  end(0);
} catch (error) {
  console.error(error.message);
  end(1);
}
