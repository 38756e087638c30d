// Measures the stages of a row's way one at a time, over the built modules, each in its own loop.
import { rm } from "node:fs/promises";
import { createDispatcher } from "../../dist/client/api/http/dispatcher.js";
import { IntelClient } from "../../dist/client/api/intel-client.js";
import { readAnswer } from "../../dist/client/api/read-answer.js";
import { describeService } from "../../dist/client/api/service-description.js";
import { readJson } from "../../dist/core/json-members.js";
import { judge } from "../../dist/client/api/judge.js";
import { systemClock } from "../../dist/core/clock.js";
import { columns } from "../../dist/core/columns.js";
import { recogniseItem } from "../../dist/core/item/recognise.js";
import { composeLookup } from "../../dist/client/lookup/compose.js";
import { itemKey } from "../../dist/client/lookup/attempt/journalled.js";
import { openJournal } from "../../dist/client/store/journal/journal.js";
import { Pace } from "../../dist/client/pace/pace.js";
import { countOutput } from "../../dist/io/output/verify.js";
import { moveRows } from "../../dist/jobs/enrich/rows/move-rows.js";
import { RunSignals } from "../../dist/jobs/enrich/run-signals.js";
import { Tally } from "../../dist/jobs/enrich/tally.js";
import { csvEncoder } from "../../dist/io/formats/csv/csv-writer.js";
import { openFileDestination } from "../../dist/io/output/file-destination.js";
import { textSink } from "../../dist/io/output/text/text-sink.js";
import { openSource } from "../../dist/io/input/open-input.js";
import { itemAt } from "./items.mjs";
import { spreadOf } from "./statistics.mjs";
import { withWork } from "./run-measure.mjs";

/**
 * @typedef {object} StageResult
 * @property {string} name
 * @property {string} what
 * @property {import("./statistics.mjs").Spread} micros microseconds per row
 * @property {import("./statistics.mjs").Spread} cpuMicros of this process, all threads
 */

const reader = { service: describeService("intel", false), clock: systemClock };
const { signal: unaborted } = new AbortController();
const unbound = [{ count: 1_000_000, perMs: 1000 }];
const batch = 64;
/** Several distinct answers, so that no stage sees the same object repeatedly. */
const answers = 1000;

/**
 * Measures every stage in turn, `repeat` times.
 *
 * @param {{ rows: number, repeat: number, concurrency: number, signal: AbortSignal, onRun: (text:
 *   string) => void }} settings
 * @returns {Promise<StageResult[]>}
 */
export async function runStages({ rows, repeat, concurrency, signal, onRun }) {
  return withWork({ rows, concurrency, latencyMs: 0, signal }, async (work) => {
    const material = await gather(work);
    const stages = stagesOf(work, material);
    const runs = new Map(stages.map(({ name }) => [name, []]));
    // The first round is a warm-up and does not count.
    for (let round = 0; round <= repeat; round++) {
      for (const { name, run } of stages) {
        onRun(round === 0 ? `${name}, warming up` : `${name}, ${round} of ${repeat}`);
        signal.throwIfAborted();
        const micros = await measure(run, work.rows);
        if (round > 0) runs.get(name).push(micros);
      }
    }
    await material.dispatcher.destroy();
    return stages.map(({ name, what }) => ({
      name,
      what,
      micros: spreadOf(runs.get(name).map(({ wall }) => wall)),
      cpuMicros: spreadOf(runs.get(name).map(({ cpu }) => cpu)),
    }));
  });
}

async function measure(run, rows) {
  const cpuBefore = process.cpuUsage();
  const begun = performance.now();
  await run();
  const wall = ((performance.now() - begun) * 1000) / rows;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { wall, cpu: (user + system) / rows };
}

/** The data that stages work on: rows as read, answers as received, findings as judged. */
async function gather({ url, input, rows, concurrency }) {
  const read = [];
  for await (const list of (await openInput(input)).rows) read.push(...list);
  const items = read.map(({ itemText }) => recogniseItem(itemText).item);
  const dispatcher = createDispatcher(url, { connections: concurrency });
  const client = new IntelClient({ baseUrl: url, dispatcher, clock: systemClock });
  const some = items.slice(0, answers);
  const attempts = await Promise.all(
    some.map((item) => client.attempt("query", item, { signal: unaborted })),
  );
  const received = await Promise.all(
    some.map(async ({ value }) => {
      const response = await fetch(`${url}/query/${encodeURIComponent(value)}`);
      return { status: 200, headers: {}, body: Buffer.from(await response.arrayBuffer()) };
    }),
  );
  const enriched = read.map((row, n) => ({
    row,
    item: items[n],
    finding: attempts[n % attempts.length].finding,
  }));
  const texts = Array.from({ length: rows }, (_, n) => itemAt(n));
  return { texts, items, dispatcher, client, attempts, received, enriched };
}

function stagesOf({ folder, input, rows, concurrency }, material) {
  const { texts, items, client, attempts, received, enriched } = material;
  const batches = Array.from({ length: Math.ceil(rows / batch) }, (_, n) =>
    enriched.slice(n * batch, (n + 1) * batch),
  );
  const encoderOptions = {
    columns: ["id", "ip", "seen", "note"],
    prefix: "rep_",
    shape: "flat",
  };
  const output = `${folder}/stage.csv`;
  const openSink = async () => {
    const destination = await openFileDestination(output, null);
    const options = { gzip: false, resumeRows: null };
    return textSink(csvEncoder(",", encoderOptions), destination, options);
  };
  const chain = (ask, store) =>
    composeLookup({
      client: { attempt: ask },
      lookups: ["query"],
      concurrency,
      pace: new Pace({ rates: unbound, clock: systemClock }),
      retries: 5,
      partialRetries: 2,
      store,
      clock: systemClock,
    });
  const stage = (name, what, run) => ({ name, what, run });
  return [
    stage("read", "bytes of the file to rows", async () => {
      const source = await openInput(input);
      for await (const list of source.rows) if (list.length === 0) throw new Error("no rows");
    }),
    stage("recognise", "text to item", () => {
      for (const text of texts) if (recogniseItem(text).item === null) throw new Error(text);
    }),
    stage("lookup", "dedupe, retry, limit, keep, pace around an answer that is there", () => {
      const answer = async () => attempts[0];
      const lookup = chain(answer, forgetful);
      return byWorkers(concurrency, rows, (n) => lookup(items[n], { signal: unaborted }));
    }),
    stage("pace", "leave to send", async () => {
      const pace = new Pace({ rates: unbound, clock: systemClock });
      for (let n = 0; n < rows; n++) {
        await pace.take(unaborted);
        pace.succeeded();
      }
    }),
    stage("request", "item to finding by the client: request, parse, validate", () =>
      byWorkers(concurrency, rows, (n) => client.query(items[n], { signal: unaborted })),
    ),
    stage("parse", "body to JSON", () => {
      for (let n = 0; n < rows; n++) readJson(received[n % received.length].body);
    }),
    stage("envelope", "body to result: parse, and check the envelope", () => {
      for (let n = 0; n < rows; n++) readAnswer(received[n % received.length], reader);
    }),
    stage("judge", "body to finding: parse, validate, and say what it shows", () => {
      const asked = { endpoint: "query", item: null };
      for (let n = 0; n < rows; n++) {
        const { finding } = judge(asked, received[n % received.length], reader);
        if (finding.status !== "complete") throw new Error(finding.error?.message);
      }
    }),
    stage("journal", "look for it, keep it, then make all safe", async () => {
      const path = `${folder}/journal`;
      const journal = await openJournal({ folder: path });
      await byWorkers(concurrency, rows, async (n) => {
        const key = itemKey("query", items[n]);
        if ((await journal.get(key)) === null)
          await journal.put(key, attempts[n % attempts.length]);
      });
      await journal.sync();
      await journal.close();
      await rm(path, { recursive: true, force: true });
    }),
    stage("asked", "lookup, request and journal together", async () => {
      const path = `${folder}/journal`;
      const journal = await openJournal({ folder: path });
      const lookup = chain((...asked) => client.attempt(...asked), journal);
      await byWorkers(concurrency, rows, (n) => lookup(items[n], { signal: unaborted }));
      await journal.sync();
      await journal.close();
      await rm(path, { recursive: true, force: true });
    }),
    stage("flatten", "finding to the values of the added columns", () => {
      for (const one of enriched) for (const column of columns) column.value(one);
    }),
    stage("encode", "row and finding to text: flatten, quote", () => {
      const encoder = csvEncoder(",", encoderOptions);
      for (const some of batches) encoder.encode(some);
    }),
    stage("write", "row and finding to the file: flatten, quote, write", async () => {
      const sink = await openSink();
      for (const some of batches) await sink.write(some);
      await sink.finish();
    }),
    stage("count", "counts for the manifest", () => {
      const tally = new Tally();
      for (const one of enriched) tally.row(one);
    }),
    stage(
      "moved",
      "read, recognise, window, write and count together, answers at hand",
      async () => {
        const source = await openInput(input);
        const sink = await openSink();
        const answer = Promise.resolve(attempts[0].finding);
        await moveRows({
          source,
          start: (row) => ({ item: recogniseItem(row.itemText).item, finding: answer }),
          sink,
          tally: new Tally(),
          clock: systemClock,
          concurrency,
          signals: new RunSignals({ signal: unaborted, settings: { run: {} } }),
          skip: new Set(),
          startOffset: 0,
          onRead: () => undefined,
          onWritten: async () => undefined,
        });
        await sink.finish();
      },
    ),
    stage("verify", "the output read back, hashed and counted", async () => {
      const counted = await countOutput(output, {
        format: "csv",
        gzip: false,
        inputColumns: encoderOptions.columns.length,
        prefix: encoderOptions.prefix,
        place: null,
      });
      if (counted.rows !== rows) throw new Error(`${counted.rows} rows counted`);
    }),
  ];
}

/** A store that keeps nothing, because the journal is a separate stage. */
const forgetful = {
  get: () => null,
  put: () => Promise.resolve(),
  sync: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

function openInput(path) {
  return openSource(
    { path },
    {
      format: "csv",
      gzip: false,
      header: true,
      comment: null,
      itemColumn: null,
      kindColumn: null,
      resume: null,
    },
  );
}

async function byWorkers(concurrency, rows, work) {
  let next = 0;
  const worker = async () => {
    while (next < rows) await work(next++);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}
