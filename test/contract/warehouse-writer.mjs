// Stages rows and publishes them like a run does. After a kill at any point, the next process
// continues from the newest checkpoint, or publishes the finished run.
// node warehouse-writer.mjs '{"output", "state", "rows", "every", "kill", "killAfterMs"}'
// `kill` is null, or a step and how often it is reached before the kill.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DuckdbDatabase } from "../../dist/outputs/duckdb/duckdb-database.js";
import { openStage, stageUpTo } from "../../dist/outputs/publish/staged-sink.js";
import { findWarehouse } from "../../dist/outputs/registry.js";
import { writtenRow } from "../helpers/written-row.mjs";

const job = JSON.parse(process.argv[2]);
const statePath = join(job.state, "checkpoint.json");
const reached = new Map();

mkdirSync(job.state, { recursive: true });
if (job.killAfterMs) setTimeout(() => process.kill(process.pid, "SIGKILL"), job.killAfterMs);
DuckdbDatabase.prototype.settle = async function settle() {
  step("settling");
  await this.query("CHECKPOINT");
};

const saved = existsSync(statePath) ? JSON.parse(readFileSync(statePath, "utf8")) : null;
const publication = await findWarehouse(job.output).open({
  columns: ["ip"],
  prefix: "rep_",
  runId: "00000000-0000-4000-8000-000000000002",
  stateFolder: job.state,
  base: join(job.state, "base"),
});
const position = saved?.finished ? saved.sink : await writeRows();
await publication.commit(watched("committing"), "");
step("committed");
rmSync(job.state, { recursive: true });
// A later kill finds nothing to interrupt.
process.exit();

async function writeRows() {
  const sink = await openStage(publication, job.state, saved?.sink ?? null);
  let { rows } = await save(sink, false);
  while (rows < job.rows) {
    const size = Math.min(137, job.rows - rows);
    await sink.write(Array.from({ length: size }, (_, index) => writtenRow(rows + index + 1)));
    rows += size;
    step("written");
    if (Math.floor(rows / job.every) !== Math.floor((rows - size) / job.every)) {
      await save(sink, false);
    }
  }
  const all = await sink.checkpoint();
  const audit = await publication.prepare(watched("preparing", all), "");
  if (audit.rows !== job.rows) throw new Error(`prepare: ${audit.rows} rows`);
  step("prepared");
  const finished = await save(sink, true);
  await sink.abandon();
  return finished;
}

async function save(sink, finished) {
  const at = await sink.checkpoint();
  step("durable");
  writeFileSync(`${statePath}.new`, JSON.stringify({ sink: at, finished }));
  renameSync(`${statePath}.new`, statePath);
  step("saved");
  return at;
}

/** The staged rows, whose batches are steps. */
function watched(name, at = position) {
  const stage = stageUpTo(publication, job.state, at);
  return {
    count: stage.count,
    exists: stage.exists,
    async *rows() {
      for await (const rows of stage.rows()) {
        step(name);
        yield rows;
      }
      step(`${name}, all read`);
    },
  };
}

function step(name) {
  const times = (reached.get(name) ?? 0) + 1;
  reached.set(name, times);
  if (job.kill?.step === name && job.kill.times === times) process.kill(process.pid, "SIGKILL");
}
