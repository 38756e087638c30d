// Writes rows into a warehouse like a run does: checkpoints, audit, finish. After a kill at any
// point, the next process continues from the newest checkpoint.
// node warehouse-writer.mjs '{"kind", "file", "state", "rows", "every", "kill"}'
// `kill` is null, or a step and how often it is reached before the kill.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openParquet } from "../../dist/outputs/parquet/open-parquet.js";
import { findWarehouse } from "../../dist/outputs/registry.js";
import { parseParquetTarget } from "../../dist/outputs/warehouse/target.js";
import { writtenRow } from "../helpers/written-row.mjs";

const job = JSON.parse(process.argv[2]);
const statePath = join(job.state, "checkpoint.json");
const reached = new Map();
const encoder = { columns: ["ip"], prefix: "rep_", runId: "00000000-0000-4000-8000-000000000002" };

mkdirSync(job.state, { recursive: true });
const saved = existsSync(statePath) ? JSON.parse(readFileSync(statePath, "utf8")) : null;
const opened = await open({
  ...encoder,
  resume: saved?.sink ?? null,
  stateFolder: job.state,
});
const { sink, note } = opened;
let done = (note === null ? saved : JSON.parse(note))?.done ?? 0;

await checkpoint(false);
while (done < job.rows) {
  const size = Math.min(137, job.rows - done);
  await sink.write(Array.from({ length: size }, (_, index) => writtenRow(done + index + 1)));
  done += size;
  step("written");
  if (Math.floor(done / job.every) !== Math.floor((done - size) / job.every)) {
    await checkpoint(false);
  }
}
await checkpoint(false);
const counted = await opened.audit();
if (counted.rows !== job.rows) throw new Error(`audit: ${counted.rows} rows`);
step("audited");
await checkpoint(true);
step("completed");
const result = await sink.finish();
if (result.rows !== job.rows) throw new Error(`finish: ${result.rows} rows`);
step("finished");
rmSync(job.state, { recursive: true });

async function open(options) {
  if (job.kind === "duckdb")
    return findWarehouse(`duckdb:${job.file}?table=enriched`).open(options);
  const part = `${job.file}.part`;
  // Like a run whose output already has its final name.
  if (saved?.complete && !existsSync(part)) renameSync(job.file, part);
  return openParquet(parseParquetTarget(job.file), options, { rows: 700, characters: 1e6 });
}

async function checkpoint(complete) {
  const content = (position) => JSON.stringify({ done, sink: position, complete });
  const committing = sink.checkpoint(content);
  step("committing");
  const position = await committing;
  step("committed");
  writeFileSync(`${statePath}.new`, content(position));
  renameSync(`${statePath}.new`, statePath);
  step("saved");
}

function step(name) {
  const times = (reached.get(name) ?? 0) + 1;
  reached.set(name, times);
  if (job.kill?.step === name && job.kill.times === times) process.kill(process.pid, "SIGKILL");
}
