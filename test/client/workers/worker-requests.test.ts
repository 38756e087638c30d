import { EventEmitter } from "node:events";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  jobIdOf,
  type OpenQueue,
  type WorkerAnswer,
} from "../../../src/client/workers/lookup-queue.js";
import { WorkerRequests } from "../../../src/client/workers/worker-requests.js";
import { ManualClock } from "../../helpers/manual-clock.js";

const answer: WorkerAnswer = { status: 503, headers: {}, body: "{}" };

interface FakeJob {
  readonly finishedOn?: number;
  readonly returnvalue: WorkerAnswer | null;
}

/** Requests through a queue that a test plays, in a Redis that was never there unless it `isReady`. */
function open(isReady = true) {
  const clock = new ManualClock();
  const events = Object.assign(new EventEmitter(), { close: () => Promise.resolve() });
  const added: string[] = [];
  const jobs = new Map<string, FakeJob>();
  const looks: string[] = [];
  const answers = <T>(value: T): Promise<T> =>
    isReady ? Promise.resolve(value) : new Promise(() => undefined);
  const queue = {
    addBulk: async (some: readonly { opts: { jobId: string } }[]) => {
      for (const { opts } of some) {
        added.push(opts.jobId);
        jobs.set(opts.jobId, { returnvalue: null });
      }
    },
    getJob: async (id: string) => {
      looks.push(id);
      return jobs.get(id);
    },
    remove: async (id: string) => Number(jobs.delete(id)),
    getWorkersCount: () => answers(1),
    getRateLimitTtl: () => answers(0),
  };
  const redis = { status: isReady ? "ready" : "reconnecting" };
  const shown = "redis://redis.example/0";
  const connection = { shown, redis, lastFault: () => "refused", close: () => undefined };
  const warnings: string[] = [];
  const onWarning = (warning: string): void => void warnings.push(warning);
  const requests = new WorkerRequests(
    { baseUrl: "https://intel.example/beta", patienceMs: 60_000, clock, onWarning },
    { queue, connection, listen: () => answers(events) } as unknown as OpenQueue,
  );
  onTestFinished(() => requests.destroy());
  const answered: unknown[] = [];
  const get = (path: string): string => {
    const receiver = { answered: (one: unknown) => answered.push(one), failed: () => undefined };
    requests.get(path, new AbortController().signal, receiver);
    return jobIdOf(path, 1);
  };
  /** A request that is in the queue. */
  const queued = async (): Promise<string> => {
    const id = get("/query/example.com");
    await vi.waitFor(() => expect(added).toEqual([id]));
    return id;
  };
  /** Sends another request, and with it what is to be queued again. */
  const flush = async (): Promise<void> => {
    const id = get(`/query/flush-${added.length}`);
    await vi.waitFor(() => expect(added).toContain(id));
  };
  /** Lets seconds pass, one after the other. */
  const seconds = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++) await clock.advance(1_000);
  };
  return { events, added, jobs, looks, answered, get, queued, flush, seconds, warnings };
}

test("an answer that is not kept is not asked for again while its event is on the way", async () => {
  const { events, jobs, looks, answered, queued, added, flush, seconds } = open();
  const id = await queued();
  jobs.delete(id);
  await seconds(6);
  await vi.waitFor(() => expect(looks).toEqual([id]));
  await flush();
  events.emit("completed", { jobId: id, returnvalue: answer });
  await seconds(10);
  await flush();
  expect(answered).toHaveLength(1);
  expect(added.filter((one) => one === id)).toHaveLength(1);
});

test("a request that Redis has lost is queued again at the second look", async () => {
  const { jobs, looks, queued, added, seconds } = open();
  const id = await queued();
  jobs.delete(id);
  await seconds(7);
  await vi.waitFor(() => expect(added).toEqual([id, id]));
  expect(looks).toEqual([id, id]);
});

test.each([
  ["completed before it was added again", "duplicated"],
  ["completed without an event", null],
])("takes the answer of a request that was %s", async (_, event) => {
  const { events, jobs, answered, queued, added, seconds } = open();
  const id = await queued();
  jobs.set(id, { finishedOn: 1, returnvalue: answer });
  if (event === null) await seconds(6);
  else events.emit(event, { jobId: id });
  await vi.waitFor(() => expect(answered).toHaveLength(1));
  expect(added).toEqual([id]);
});

test("equal requests are one, and each gets the answer", async () => {
  const { events, answered, get, queued } = open();
  get("/query/example.com");
  const id = await queued();
  events.emit("completed", { jobId: id, returnvalue: answer });
  expect(answered).toHaveLength(2);
});

test("says within a second that Redis was never there, once", async () => {
  const { get, seconds, warnings } = open(false);
  get("/query/example.com");
  await seconds(1);
  const warning = "redis://redis.example/0 is away (refused); waiting for up to 1 min";
  expect(warnings).toEqual([warning]);
  await seconds(20);
  expect(warnings).toEqual([warning]);
});
