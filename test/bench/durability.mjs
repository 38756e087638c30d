// What journal and checkpoints cost: the same run with both and with neither, in turn, and the ratio
// of their rows a second. Needs a build (`npm run build`).
//
//   node test/bench/durability.mjs [ROWS] [PAIRS]
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { enrich, enrichOptions } from "repute";

const rows = Number(process.argv[2] ?? 50_000);
const pairs = Number(process.argv[3] ?? 5);

const folder = await mkdtemp(join(tmpdir(), "repute-bench-"));
const path = join(folder, "in.csv");
await writeFile(
  path,
  "id,ip\n" +
    Array.from(
      { length: rows },
      (_, n) => `${n},${1 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}.7\n`,
    ).join(""),
);
const server = spawn(process.execPath, [
  fileURLToPath(new URL("instant-server.mjs", import.meta.url)),
]);
const url = await new Promise((resolve) =>
  server.stdout.once("data", (text) => resolve(String(text).trim())),
);

async function rowsPerSecond(durable) {
  const manifest = await enrich({
    settings: enrichOptions.parse({
      intelUrl: url,
      lookups: "query",
      concurrency: 64,
      output: join(folder, "out.csv"),
    }),
    input: { path },
    stdout: process.stdout,
    apiKey: null,
    command: [],
    signal: new AbortController().signal,
    durable,
  });
  return rows / manifest.seconds;
}

await rowsPerSecond(true);
await rowsPerSecond(false);
const ratios = [];
for (let pair = 0; pair < pairs; pair++) {
  const on = await rowsPerSecond(true);
  const off = await rowsPerSecond(false);
  ratios.push(on / off);
  console.log(
    `with ${Math.round(on)} rows/s, without ${Math.round(off)} rows/s, ratio ${(on / off).toFixed(2)}`,
  );
}
ratios.sort((a, b) => a - b);
console.log(`median ratio ${ratios[Math.floor(pairs / 2)].toFixed(2)}`);

server.kill();
await rm(folder, { recursive: true, force: true });
