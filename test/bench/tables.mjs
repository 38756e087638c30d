// Every input to every output, without lookups: the addresses are reserved. CPU seconds of the program
// (user and system, all threads), and rows per CPU second relative to CSV → CSV in the same round.
// The table has the median of the rounds. Needs a build (`npm run build`), GNU time and, for its
// lines, PostgreSQL.
//
//   node test/bench/tables.mjs [--rows 100000] [--rounds 3]
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startPostgres } from "./postgres-cluster.mjs";

const program = fileURLToPath(new URL("../../dist/program/repute.js", import.meta.url));
const { values } = parseArgs({
  options: { rows: { type: "string" }, rounds: { type: "string" } },
});
const rows = Number(values.rows ?? 100_000);
const rounds = Number(values.rounds ?? 3);
const folder = await mkdtemp(join(tmpdir(), "repute-bench-"));
const cluster = await startPostgres(folder);

/** Form of a name, and flags that an output of it needs. */
const forms = [
  { name: "CSV", at: (name) => `${name}.csv` },
  { name: "Parquet", at: (name) => `${name}.parquet` },
  { name: "DuckDB", at: (name) => `duckdb:${name}.duckdb?table=t` },
  ...(cluster === null
    ? []
    : [{ name: "PostgreSQL", at: (name) => `${cluster.url}?table=${name}` }]),
  { name: "NDJSON", at: (name) => `${name}.ndjson`, flags: ["--shape", "flat"] },
  { name: "data set of Parquet", at: (name) => `${name}/`, flags: ["--to", "parquet"] },
];

try {
  await writeFile(
    join(folder, "source.csv"),
    `n,ip,note\n${Array.from({ length: rows }, (_, n) => `${n},10.${n >> 16}.${(n >> 8) & 255}.${n & 255},note ${n % 97}\n`).join("")}`,
  );
  for (const form of forms) run("source.csv", form, "in", ["--prefix", "given_"]);
  const ratios = new Map();
  for (let round = 0; round < rounds; round++) {
    const [csv] = forms;
    const base = run(csv.at("in"), csv, `base${round}`).cpu;
    for (const [index, from] of forms.entries()) {
      for (const to of forms) {
        const { cpu, peak } = run(from.at("in"), to, `out${round}_${index}`);
        process.stderr.write(
          `${from.name} → ${to.name}: ${(base / cpu).toFixed(2)}, ${cpu.toFixed(1)} s\n`,
        );
        const key = `${from.name} → ${to.name}`;
        ratios.set(key, [...(ratios.get(key) ?? []), { ratio: base / cpu, cpu, peak }]);
      }
    }
  }
  console.log(`| from \\ to | ${forms.map(({ name }) => name).join(" | ")} |`);
  console.log(`| --- |${" ---: |".repeat(forms.length)}`);
  for (const from of forms) {
    const cells = forms.map((to) => {
      const found = ratios.get(`${from.name} → ${to.name}`).toSorted((a, b) => a.ratio - b.ratio);
      const { ratio, cpu, peak } = found[found.length >> 1];
      return `${ratio.toFixed(2)} (${cpu.toFixed(1)} s, ${Math.round(peak / 1024)} MB)`;
    });
    console.log(`| ${from.name} | ${cells.join(" | ")} |`);
  }
} finally {
  cluster?.server.kill("SIGQUIT");
  await cluster?.ended;
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** CPU seconds and peak memory in KiB of one run. */
function run(from, { at, flags = [] }, name, more = []) {
  const output = at(name);
  const own = ["--bogons", "local", "--item-column", "ip", "--quiet", "--fail-on", "never"];
  const args = ["enrich", from, "-o", output, "--local", ...own, ...flags, ...more];
  const { stderr, status } = spawnSync(
    "time",
    ["-f", "%U %S %M", process.execPath, program, ...args],
    {
      cwd: folder,
      encoding: "utf8",
    },
  );
  if (status !== 0) throw new Error(`${from} → ${output}: ${stderr}`);
  const [user, system, peak] = stderr.trimEnd().split("\n").at(-1).split(" ").map(Number);
  return { cpu: user + system, peak };
}
