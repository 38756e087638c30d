// Runs the main job on the samples, against the embedded service. `npm run demo` starts it.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
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

const events = join(out, "events.enriched.ndjson");
repute([
  "enrich",
  join(samples, "events.ndjson"),
  "--item-column",
  "event.source.ip",
  "-o",
  events,
  "--local",
]);

console.log("\nThe addresses behind one of the tags that the rows brought:\n");
for (const line of readFileSync(join(lists, "spam--snowshoe.txt"), "utf8").trimEnd().split("\n")) {
  console.log(`  ${line}`);
}
console.log("\nThe first columns of what came out:\n");
for (const line of readFileSync(enriched, "utf8").split("\n").slice(0, 6)) {
  console.log(`  ${line.length > 110 ? `${line.slice(0, 109)}…` : line}`);
}
console.log(
  `\nThe files are in ${here(out)}: the rows, beside them the record of\neach run, and in tag-ips the lists.`,
);

function repute(args) {
  console.log(`$ repute ${args.map(shown).join(" ")}`);
  const { status } = spawnSync(
    process.execPath,
    [join(root, "dist", "program", "repute.js"), ...args],
    {
      stdio: "inherit",
    },
  );
  if (status !== 0) process.exit(status ?? 1);
}

function shown(arg) {
  return arg.startsWith(root) ? here(arg) : arg;
}
