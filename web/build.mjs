// Builds the page: one HTML file with its script and style inside. `--check` compares it with the committed one.
import { readFileSync, writeFileSync, mkdirSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "../src/covey/viewer/page/index.html");
const bundle = (entry, loader) =>
  build({
    absWorkingDir: here,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
    legalComments: "none",
    charset: "utf8",
    loader,
  }).then((result) => result.outputFiles[0].text.trim());

const script = (await bundle("src/main.ts")).replaceAll("</script", "<\\/script");
const style = await bundle("src/style.css");
const html = readFileSync(join(here, "src/index.html"), "utf8")
  .replace("/*STYLE*/", () => style)
  .replace("/*SCRIPT*/", () => script);

if (process.argv.includes("--check")) {
  if (!existsSync(target) || readFileSync(target, "utf8") !== html) {
    console.error("the committed page differs from its sources; run: cd web && npm ci && npm run build");
    process.exit(1);
  }
} else {
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, html);
}
console.log(`page: ${html.length} bytes, ${gzipSync(html, { level: 9 }).length} compressed`);
