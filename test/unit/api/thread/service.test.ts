import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { TransportError } from "../../../../src/api/transport-error.js";
import type { Arrivals } from "../../../../src/api/thread/messages.js";
import { ThreadService, type ThreadServiceOptions } from "../../../../src/api/thread/service.js";
import type { Receiver, Requests } from "../../../../src/api/types.js";

/** A service whose requests end when the test says so. */
function scripted(options: Partial<ThreadServiceOptions> = {}) {
  const asked = new Map<string, Receiver>();
  const broken: string[] = [];
  const arrivals: Arrivals[] = [];
  const requests: Requests = {
    get(path, _signal, receiver) {
      asked.set(path, receiver);
      return {
        abort: (reason) => {
          broken.push(path);
          receiver.failed(reason);
        },
      };
    },
  };
  const service = new ThreadService({
    requests,
    connections: 4,
    post: (arrived) => arrivals.push(arrived),
    ...options,
  });
  return { service, asked, broken, arrivals };
}

const answer = { status: 200, headers: {}, body: Buffer.from("{}") };

test("what ends in one turn of the event loop is told together", async () => {
  const { service, asked, arrivals } = scripted();
  service.take({ seats: [3, 1], paths: "/a\n/b", cancelled: [], handBack: false });
  expect([...asked.keys()]).toEqual(["/a", "/b"]);
  asked.get("/b")?.answered(answer);
  const cause = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
  asked
    .get("/a")
    ?.failed(new TransportError("connection_reset", "gone", { cause, httpStatus: 200 }));
  expect(arrivals).toEqual([]);
  await turn();
  expect(arrivals).toMatchObject([
    {
      count: 1,
      faults: [
        {
          seat: 3,
          error: {
            code: "connection_reset",
            message: "gone",
            httpStatus: 200,
            cause: "read ECONNRESET",
          },
        },
      ],
    },
  ]);
  await turn();
  expect(arrivals).toHaveLength(1);
});

test("what is broken off is told to have ended, without an error", async () => {
  const { service, broken, arrivals } = scripted();
  service.take({ seats: [0, 1], paths: "/a\n/b", cancelled: [], handBack: false });
  service.take({ seats: [], paths: "", cancelled: [1], handBack: false });
  await turn();
  expect(broken).toEqual(["/b"]);
  expect(arrivals).toMatchObject([{ count: 0, faults: [{ seat: 1, error: null }] }]);
});

test("what has ended is not broken off", async () => {
  const { service, asked, broken } = scripted();
  service.take({ seats: [5], paths: "/a", cancelled: [], handBack: false });
  asked.get("/a")?.answered(answer);
  service.take({ seats: [], paths: "", cancelled: [5, 9], handBack: false });
  expect(broken).toEqual([]);
});

test("a request that fails at once leaves nothing to break off", async () => {
  const arrivals: Arrivals[] = [];
  const requests = {
    get(_path: string, _signal: AbortSignal, receiver: Receiver) {
      receiver.failed(new TransportError("connect_failed", "no way"));
      return { abort: () => expect.unreachable() };
    },
  };
  const service = new ThreadService({
    requests,
    connections: 4,
    post: (arrived) => arrivals.push(arrived),
  });
  service.take({ seats: [0], paths: "/a", cancelled: [], handBack: false });
  service.take({ seats: [], paths: "", cancelled: [0], handBack: false });
  await turn();
  expect(arrivals).toMatchObject([{ faults: [{ seat: 0, error: { code: "connect_failed" } }] }]);
});

test("no more are open than there are connections; one that is free has the next", async () => {
  const { service, asked } = scripted({ connections: 2 });
  service.take({ seats: [0, 1, 2], paths: "/a\n/b\n/c", cancelled: [], handBack: false });
  expect([...asked.keys()]).toEqual(["/a", "/b"]);
  asked.get("/a")?.answered(answer);
  expect(asked.has("/c")).toBe(false);
  await turn();
  expect(asked.has("/c")).toBe(true);
  asked.get("/b")?.failed(new TransportError("timeout", "late"));
  service.take({ seats: [0, 1], paths: "/d\n/e", cancelled: [], handBack: false });
  await turn();
  expect([...asked.keys()]).toEqual(["/a", "/b", "/c", "/d"]);
});

test("what waits and is broken off was never asked, and takes no connection away", async () => {
  const { service, asked, broken, arrivals } = scripted({ connections: 1 });
  service.take({ seats: [0, 1, 2], paths: "/a\n/b\n/c", cancelled: [], handBack: false });
  service.take({ seats: [], paths: "", cancelled: [1], handBack: false });
  await turn();
  expect(arrivals).toMatchObject([{ faults: [{ seat: 1, error: null }] }]);
  asked.get("/a")?.answered(answer);
  await turn();
  expect([...asked.keys()]).toEqual(["/a", "/c"]);
  expect(broken).toEqual([]);
});

test("an answer is in the log before the next request is sent and before anybody is told", async () => {
  const events: string[] = [];
  const { service, asked } = scripted({
    connections: 1,
    log: {
      write: (frame, count, pathBytes) => {
        const paths = frame.toString("latin1").match(/\/[ab]/g);
        events.push(`${count} of ${pathBytes}: ${String(paths)}, asked ${asked.size}`);
      },
    },
    post: ({ count }) => events.push(`told ${count}`),
  });
  service.take({ seats: [0, 1], paths: "/a\n/b", cancelled: [], handBack: false });
  asked.get("/a")?.answered(answer);
  await turn();
  expect(events).toEqual(["1 of 2: /a, asked 1", "told 1"]);
  expect(asked.size).toBe(2);
});

test("a log that cannot be written is told once, and done without", async () => {
  let writes = 0;
  const { service, asked, arrivals } = scripted({
    log: {
      write() {
        writes++;
        throw new Error("ENOSPC");
      },
    },
  });
  service.take({ seats: [0, 1], paths: "/a\n/b", cancelled: [], handBack: false });
  asked.get("/a")?.answered(answer);
  await turn();
  asked.get("/b")?.answered(answer);
  await turn();
  expect(arrivals).toMatchObject([
    { count: 1, logFailed: true },
    { count: 1, logFailed: false },
  ]);
  expect(writes).toBe(1);
});

test.each([
  [429, ""],
  [401, ""],
  [403, ""],
  [503, "<html>busy</html>"],
])("after HTTP %i what waits is handed back unsent: %j", async (status, body) => {
  const { service, asked, arrivals } = scripted({ connections: 1 });
  service.take({ seats: [0, 1, 2], paths: "/a\n/b\n/c", cancelled: [], handBack: false });
  asked.get("/a")?.answered({ status, headers: {}, body: Buffer.from(body) });
  await turn();
  expect(arrivals).toMatchObject([{ count: 1, unsent: [1, 2] }]);
  expect([...asked.keys()]).toEqual(["/a"]);
  service.take({ seats: [3], paths: "/d", cancelled: [], handBack: false });
  expect([...asked.keys()]).toEqual(["/a", "/d"]);
});

test.each([
  [200, "{}"],
  [400, "{}"],
  [500, ""],
  [503, '{"status": "partial_success"}'],
])("after HTTP %i the next is asked: %j", async (status, body) => {
  const { service, asked, arrivals } = scripted({ connections: 1 });
  service.take({ seats: [0, 1], paths: "/a\n/b", cancelled: [], handBack: false });
  asked.get("/a")?.answered({ status, headers: {}, body: Buffer.from(body) });
  await turn();
  expect(arrivals).toMatchObject([{ count: 1, unsent: [] }]);
  expect([...asked.keys()]).toEqual(["/a", "/b"]);
});

test("what waits is handed back when that is asked for; what is open goes on", async () => {
  const { service, asked, broken, arrivals } = scripted({ connections: 1 });
  service.take({ seats: [0, 1, 2], paths: "/a\n/b\n/c", cancelled: [], handBack: false });
  service.take({ seats: [], paths: "", cancelled: [], handBack: true });
  await turn();
  expect(arrivals).toMatchObject([{ count: 0, faults: [], unsent: [1, 2] }]);
  asked.get("/a")?.answered(answer);
  await turn();
  expect(arrivals).toMatchObject([{}, { count: 1, unsent: [] }]);
  expect([[...asked.keys()], broken]).toEqual([["/a"], []]);
});
