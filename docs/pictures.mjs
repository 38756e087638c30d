// Makes the pictures of the README from the demo's output: docs/report.png with Debian's Chromium,
// docs/terminal.svg from the text that the program prints. Run `npm run demo` first.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const docs = dirname(fileURLToPath(import.meta.url));
const root = dirname(docs);
const demo = ".out/demo";

photograph(join(root, demo, "report.html"), join(docs, "report.png"));
writeFileSync(join(docs, "terminal.svg"), terminal(`${demo}/dump.enriched.csv`));

/** The top of a page as PNG. */
function photograph(page, picture) {
  const profile = mkdtempSync(join(tmpdir(), "repute-pictures-"));
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"];
  const quiet = ["--no-first-run", "--disable-background-networking", "--disable-sync"];
  const size = ["--window-size=1100,960", `--user-data-dir=${profile}`, `--screenshot=${picture}`];
  run("chromium", [...flags, ...quiet, ...size, pathToFileURL(page).href]);
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}

/** The beginning of the printed report, drawn as a terminal. */
function terminal(output) {
  const text = run(process.execPath, ["dist/program/repute.js", "report", output]);
  const lines = [`$ repute report ${output}`, "", ...text.split("\n").slice(0, 34)];
  const height = 19;
  const escape = (line) => line.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const rows = lines.map(
    (line, index) => `<text x="18" y="${30 + index * height}">${escape(line)}</text>`,
  );
  const size = `width="760" height="${lines.length * height + 34}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14" xml:space="preserve" fill="#e6e8eb"><rect ${size} rx="8" fill="#15171a"/>
${rows.join("\n")}
</svg>
`;
}

function run(program, args) {
  const { status, stdout, error } = spawnSync(program, args, { cwd: root, encoding: "utf8" });
  if (status === 0) return stdout;
  throw new Error(`${program} failed`, { cause: error });
}
