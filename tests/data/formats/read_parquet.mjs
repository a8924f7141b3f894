// Prints the types and the rows that hyparquet reads in a file: node read_parquet.mjs MODULES FILE
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";

const [modules, path] = process.argv.slice(2);
const { parquetMetadata, parquetReadObjects } = await import(
  pathToFileURL(`${modules}/hyparquet/src/index.js`));

const bytes = readFileSync(path);
const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
for (const { name, type, converted_type: meaning } of parquetMetadata(file).schema.slice(1))
  console.log([name, type, meaning].filter(Boolean).join(" "));
const rows = await parquetReadObjects({ file, compressors: { GZIP: gunzipSync } });
for (const row of rows) console.log(Object.values(row).join(" ; "));
