// Makes docs/report.png from the demo's report with Debian's Chromium. Run `npm run demo` first.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const docs = dirname(fileURLToPath(import.meta.url));
const root = dirname(docs);

photograph(join(root, ".out/demo/report.html"), join(docs, "report.png"));

/** The top of a page as PNG. */
function photograph(page, picture) {
  const profile = mkdtempSync(join(tmpdir(), "repute-pictures-"));
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"];
  const quiet = ["--no-first-run", "--disable-background-networking", "--disable-sync"];
  const size = ["--window-size=1100,960", `--user-data-dir=${profile}`, `--screenshot=${picture}`];
  run("chromium", [...flags, ...quiet, ...size, pathToFileURL(page).href]);
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}

function run(program, args) {
  const { status, stdout, error } = spawnSync(program, args, { cwd: root, encoding: "utf8" });
  if (status === 0) return stdout;
  throw new Error(`${program} failed`, { cause: error });
}
