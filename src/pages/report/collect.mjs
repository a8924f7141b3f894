// Puts what `npm ci` has fetched into two files: vega.js, all scripts that a report contains, and
// THIRD_PARTY_LICENSES, the notices of what is in it.
//
//     node collect.mjs NODE_MODULES DIRECTORY
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [modules, directory] = process.argv.slice(2);
const read = (...path) => readFileSync(join(modules, ...path), "utf8");
const packageOf = (name) => JSON.parse(read(name, "package.json"));

// The interpreter is published as a module only. What it imports is exported by Vega, too.
const interpreter = () => {
  let exported;
  const body = read("vega-interpreter", "build", "vega-interpreter.js")
    .replace(/^import \{([^}]*)\} from 'vega-util';$/m, (_, names) => `const {${names}} = vega;`)
    .replace(/^export \{ (\w+) as expressionInterpreter \};$/m, (_, name) => {
      exported = name;
      return "";
    });
  if (!exported || /^(import|export) /m.test(body))
    throw new Error("vega-interpreter has another form than expected");
  return `var vegaInterpreter = (function () {\n${body}\nreturn ${exported};\n})();\n`;
};

const scripts = [
  read("vega", "build", "vega.min.js"),
  read("vega-lite", "build", "vega-lite.min.js"),
  interpreter(),
].map((script) => script.replace(/^\/\/# sourceMappingURL=.*$/gm, "").trim());

// Programs of the command line and types, of which nothing is in the scripts.
const notContained = new Set(["yargs", "commander", "iconv-lite", "rw", "vega-typings"]);
const contained = new Set();
const follow = (name) => {
  if (contained.has(name) || notContained.has(name) || name.startsWith("@types/")) return;
  contained.add(name);
  Object.keys(packageOf(name).dependencies ?? {}).forEach(follow);
};
["vega", "vega-lite", "vega-interpreter"].forEach(follow);

const noticeOf = (name) => {
  const file = readdirSync(join(modules, name)).find((entry) => /^licen[sc]e/i.test(entry));
  if (!file) throw new Error(`${name} has no license file`);
  return read(name, file).replace(/\r\n/g, "\n").trim();
};
const namesByNotice = new Map();
for (const name of [...contained].sort()) {
  const notice = noticeOf(name);
  const text = `${name} ${packageOf(name).version}`;
  namesByNotice.set(notice, [...(namesByNotice.get(notice) ?? []), text]);
}
const rule = "-".repeat(80);
const licenses = [...namesByNotice]
  .map(([notice, names]) => `${names.join(", ")}\n\n${notice}\n`)
  .join(`\n${rule}\n\n`);

writeFileSync(join(directory, "vega.js"), scripts.join("\n") + "\n");
writeFileSync(
  join(directory, "THIRD_PARTY_LICENSES"),
  `Reports of bench contain these programs, under these licenses.\n\n${rule}\n\n${licenses}`,
);
