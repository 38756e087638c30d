import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { packAnswers } from "../../../../src/api/thread/answer-pack.js";
import {
  arrivalFiles,
  ArrivalLog,
  frameHeadBytes,
} from "../../../../src/api/thread/arrival-log.js";
import { MemoryStore } from "../../../../src/store/memory-store.js";
import { arrivedKey } from "../../../../src/lookup/attempt/recovered.js";
import { recoverArrivals } from "../../../../src/pipeline/lookup/recover-arrivals.js";
import { ManualClock } from "../../../helpers/manual-clock.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});

const result = {
  item: "192.0.2.1",
  serviceMailBlocklist: "NOT_LISTED",
  type: "IP",
  bogon: false,
  intent: "none",
  activity: false,
};
const success = { status: "success", statusCode: 200, result };
const partial = {
  status: "partial_success",
  statusCode: 503,
  result: { ...result, intent: null, activity: null },
  errors: {},
};
const refused = { status: "failure", statusCode: 400, errors: { $: "no such item" } };

function arrived(path: string, status: number, body: unknown): void {
  const log = new ArrivalLog({ folder, answers: 100 }, () => Date.UTC(2026, 0, 1));
  const answer = { status, headers: {}, body: Buffer.from(JSON.stringify(body)) };
  const layout = { headBytes: frameHeadBytes, paths: path };
  const { answers } = packAnswers([{ seat: 0, path, answer }], layout);
  log.write(Buffer.from(answers), 1, path.length);
  log.close();
}

async function recover(partials = false): Promise<MemoryStore> {
  const journal = new MemoryStore();
  await recoverArrivals({ folder, journal, clock: new ManualClock(), partials });
  return journal;
}

test("a full answer and one of an item that is none are put by their paths", async () => {
  arrived("/quick-check/192.0.2.1", 200, success);
  let journal = await recover();
  expect(journal.get(arrivedKey("/quick-check/192.0.2.1"))).toMatchObject({
    finding: {
      status: "complete",
      answers: { "quick-check": { result } },
      httpStatus: 200,
      lookedUpAt: "2026-01-01T00:00:00.000Z",
    },
  });
  arrived("/query/nonsense", 400, refused);
  journal = await recover();
  expect(journal.get(arrivedKey("/query/nonsense"))).toMatchObject({
    finding: {
      status: "invalid",
      error: { code: "invalid_item", message: "no such item" },
    },
  });
});

test.each([
  ["a partial answer, which is asked for again", "/quick-check/192.0.2.1", 503, partial],
  ["a 503 that is none", "/query/192.0.2.1", 503, "busy"],
  ["a refused credential", "/query/192.0.2.1", 401, {}],
  ["too many requests", "/query/192.0.2.1", 429, {}],
  ["an answer of another form", "/query/192.0.2.1", 200, { status: "success" }],
  ["a call that is no lookup", "/tags/spam%3Abulk", 200, success],
])("%s is not", async (_, path, status, body) => {
  arrived(path, status, body);
  const journal = await recover();
  expect(journal.get(arrivedKey(path))).toBeNull();
});

test("a partial answer is, where partial ones are taken as they are", async () => {
  arrived("/quick-check/192.0.2.1", 503, partial);
  const journal = await recover(true);
  expect(journal.get(arrivedKey("/quick-check/192.0.2.1"))).toMatchObject({
    finding: { status: "partial", httpStatus: 503 },
    again: null,
  });
});

test("the log is done with once its answers are kept, and not before", async () => {
  arrived("/quick-check/192.0.2.1", 200, success);
  const full = new MemoryStore();
  full.put = () => Promise.reject(new Error("ENOSPC: no space left on device"));
  const options = { folder, clock: new ManualClock(), partials: false };
  await expect(recoverArrivals({ ...options, journal: full })).rejects.toThrow("ENOSPC");
  expect(readdirSync(folder)).not.toEqual([]);
  await recover();
  expect(readdirSync(folder)).toEqual([]);
});

test("what cannot be read is no log, and goes", async () => {
  mkdirSync(join(folder, arrivalFiles[0]));
  await recover();
  expect(readdirSync(folder)).toEqual([]);
});
