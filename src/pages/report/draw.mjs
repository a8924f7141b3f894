// Draws the figures of a report, which it reads from standard input as JSON, into SVG files.
//
//     node draw.mjs VEGA_JS FIGURE_JS LIST DIRECTORY
//
// Writes the files' names into LIST.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runInThisContext } from "node:vm";

const [vegaFile, figureFile, list, directory] = process.argv.slice(2);
for (const file of [vegaFile, figureFile])
  runInThisContext(readFileSync(file, "utf8"), { filename: file });
const names = [];
for (const figure of JSON.parse(readFileSync(0, "utf8")).figures) {
  const name = `${figure.id}.svg`;
  writeFileSync(join(directory, name), await globalThis.benchFigure.svg(figure, "light"));
  names.push(name);
}
writeFileSync(list, names.join("\n") + "\n");
