// Runs the main job on the samples, against the embedded service. `npm run demo` starts it.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const samples = dirname(fileURLToPath(import.meta.url));
const root = dirname(samples);
const out = join(root, ".out", "demo");
const here = (path) => relative(process.cwd(), path) || ".";

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

const enriched = join(out, "indicators.enriched.csv");
const lists = join(out, "tag-ips");
repute(["enrich", join(samples, "indicators.csv"), "-o", enriched, "--tag-ips", lists, "--local"]);

const dump = join(out, "dump.csv");
const page = join(out, "report.html");
writeFileSync(dump, inventedDump(1200));
const reported = join(out, "dump.enriched.csv");
repute(["enrich", dump, "-o", reported, "--local", "--synthetic", "1", "--report", page]);
repute(["report", reported]);

console.log("\nThe addresses behind one of the tags that the rows brought:\n");
for (const line of readFileSync(join(lists, "spam--snowshoe.txt"), "utf8").trimEnd().split("\n")) {
  console.log(`  ${line}`);
}
console.log("\nThe first columns of what came out:\n");
for (const line of readFileSync(enriched, "utf8").split("\n").slice(0, 6)) {
  console.log(`  ${line.length > 110 ? `${line.slice(0, 109)}…` : line}`);
}
console.log(
  `\nThe files are in ${here(out)}: the rows, beside them the record of\neach run, and in tag-ips the lists. Open ${here(page)} in a browser.`,
);

/** A day's log of made-up addresses and names, all from ranges reserved for examples. */
function inventedDump(rows) {
  let state = 7;
  const below = (end) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
  const items = [
    () => `198.18.${below(4)}.${below(64)}`,
    () => `198.51.100.${below(256)}`,
    () => `203.0.113.${below(256)}`,
    () => `2001:db8:${below(40).toString(16)}::${1 + below(9)}`,
    () => `host-${below(400)}.example.org`,
    () => `hxxp://www[.]example[.]com/${below(300)}`,
    () => `user-${below(60)}@example.net`,
    () =>
      below(2 ** 32)
        .toString(16)
        .padStart(40, "0"),
    () => ["10.0.0.0/8", "setup.exe", "", "d41d8cd98f00b204e9800998ecf8427e"][below(4)],
  ];
  const sources = ["firewall", "mail gateway", "web proxy", "ssh"];
  const lines = Array.from({ length: rows }, () => {
    const time = `${String(below(24)).padStart(2, "0")}:${String(below(60)).padStart(2, "0")}`;
    const item = items[Math.min(below(items.length), below(items.length + 3))]();
    return `2026-06-30T${time}Z,${sources[below(sources.length)]},${item}`;
  });
  return `time,source,indicator\n${lines.sort().join("\n")}\n`;
}

function repute(args) {
  console.log(`$ repute ${args.map(shown).join(" ")}`);
  const { status } = spawnSync(
    process.execPath,
    [join(root, "dist", "program", "repute.js"), ...args.map(shown)],
    {
      stdio: "inherit",
    },
  );
  if (status !== 0) process.exit(status ?? 1);
}

function shown(arg) {
  return arg.startsWith(root) ? here(arg) : arg;
}
