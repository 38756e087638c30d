// Writes rows into a table like a run does: checkpoints, audit, finish. After a kill at any point
// and a restart, it continues from the newest checkpoint.
// node postgres-writer.mjs '{"output", "state", "rows", "every", "killAfterMs"}'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findWarehouse } from "../../dist/outputs/registry.js";
import { writtenRow } from "../helpers/written-row.mjs";

const job = JSON.parse(process.argv[2]);
const statePath = join(job.state, "checkpoint.json");

mkdirSync(job.state, { recursive: true });
const saved = existsSync(statePath) ? JSON.parse(readFileSync(statePath, "utf8")) : null;
const opened = await findWarehouse(job.output).open({
  columns: ["ip"],
  prefix: "rep_",
  runId: "written by several",
  resume: saved?.sink ?? null,
  stateFolder: job.state,
});
const { sink, note } = opened;
let done = (note === null ? saved : JSON.parse(note))?.done ?? 0;
if (job.killAfterMs !== null) {
  setTimeout(() => process.kill(process.pid, "SIGKILL"), job.killAfterMs);
}

await checkpoint();
while (done < job.rows) {
  const size = Math.min(137, job.rows - done);
  await sink.write(Array.from({ length: size }, (_, index) => writtenRow(done + index + 1)));
  done += size;
  if (Math.floor(done / job.every) !== Math.floor((done - size) / job.every)) await checkpoint();
}
await checkpoint();
const counted = await opened.audit();
if (counted.rows !== job.rows) throw new Error(`audit: ${counted.rows} rows`);
const result = await sink.finish();
if (result.rows !== job.rows) throw new Error(`finish: ${result.rows} rows`);
rmSync(job.state, { recursive: true });
// A later kill finds nothing to interrupt.
process.exit();

async function checkpoint() {
  const content = (position) => JSON.stringify({ done, sink: position });
  const position = await sink.checkpoint(content);
  writeFileSync(`${statePath}.new`, content(position));
  renameSync(`${statePath}.new`, statePath);
}
