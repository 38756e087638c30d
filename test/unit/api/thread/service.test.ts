import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { TransportError } from "../../../../src/api/http/transport-error.js";
import type { Arrivals } from "../../../../src/api/thread/messages.js";
import { ThreadService, type ThreadServiceOptions } from "../../../../src/api/thread/service.js";
import type { Answer, Receiver, Requests } from "../../../../src/api/types.js";

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
  service.take({ seats: [3, 1], paths: "/a\n/b", cancelled: [], handBack: false, epoch: 0 });
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
  service.take({ seats: [0, 1], paths: "/a\n/b", cancelled: [], handBack: false, epoch: 0 });
  service.take({ seats: [], paths: "", cancelled: [1], handBack: false, epoch: 0 });
  await turn();
  expect(broken).toEqual(["/b"]);
  expect(arrivals).toMatchObject([{ count: 0, faults: [{ seat: 1, error: null }] }]);
});

test("what has ended is not broken off", async () => {
  const { service, asked, broken } = scripted();
  service.take({ seats: [5], paths: "/a", cancelled: [], handBack: false, epoch: 0 });
  asked.get("/a")?.answered(answer);
  service.take({ seats: [], paths: "", cancelled: [5, 9], handBack: false, epoch: 0 });
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
  service.take({ seats: [0], paths: "/a", cancelled: [], handBack: false, epoch: 0 });
  service.take({ seats: [], paths: "", cancelled: [0], handBack: false, epoch: 0 });
  await turn();
  expect(arrivals).toMatchObject([{ faults: [{ seat: 0, error: { code: "connect_failed" } }] }]);
});

test("no more are open than there are connections; one that is free has the next", async () => {
  const { service, asked } = scripted({ connections: 2 });
  service.take({ seats: [0, 1, 2], paths: "/a\n/b\n/c", cancelled: [], handBack: false, epoch: 0 });
  expect([...asked.keys()]).toEqual(["/a", "/b"]);
  asked.get("/a")?.answered(answer);
  expect(asked.has("/c")).toBe(false);
  await turn();
  expect(asked.has("/c")).toBe(true);
  asked.get("/b")?.failed(new TransportError("timeout", "late"));
  service.take({ seats: [0, 1], paths: "/d\n/e", cancelled: [], handBack: false, epoch: 0 });
  await turn();
  expect([...asked.keys()]).toEqual(["/a", "/b", "/c", "/d"]);
});

test("what waits and is broken off was never asked, and takes no connection away", async () => {
  const { service, asked, broken, arrivals } = scripted({ connections: 1 });
  service.take({ seats: [0, 1, 2], paths: "/a\n/b\n/c", cancelled: [], handBack: false, epoch: 0 });
  service.take({ seats: [], paths: "", cancelled: [1], handBack: false, epoch: 0 });
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
  service.take({ seats: [0, 1], paths: "/a\n/b", cancelled: [], handBack: false, epoch: 0 });
  asked.get("/a")?.answered(answer);
  await turn();
  expect(events).toEqual(["1 of 2: /a, asked 1", "told 1"]);
  expect(asked.size).toBe(2);
});

test("once its log cannot be written nothing more is sent", async () => {
  let writes = 0;
  const { service, asked, arrivals } = scripted({
    connections: 2,
    log: {
      write() {
        writes++;
        throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
      },
    },
  });
  service.take({ seats: [0, 1, 2], paths: "/a\n/b\n/c", cancelled: [], handBack: false, epoch: 0 });
  asked.get("/a")?.answered(answer);
  await turn();
  asked.get("/b")?.answered(answer);
  await turn();
  service.take({ seats: [3], paths: "/d", cancelled: [], handBack: false, epoch: 0 });
  await turn();
  const logFault = { code: "ENOSPC", message: "no space left" };
  expect(arrivals).toMatchObject([
    { count: 1, unsent: [2], logFault },
    { count: 1, unsent: [], logFault },
    { count: 0, unsent: [3], logFault },
  ]);
  expect(writes).toBe(1);
  expect([...asked.keys()]).toEqual(["/a", "/b"]);
});

test.each<[number, string, Answer["headers"]?]>([
  [429, ""],
  [401, ""],
  [403, ""],
  [503, "<html>busy</html>"],
  [503, '{"message": "\\"partial_success\\""}'],
  [200, "{}", { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "2" }],
])("after HTTP %i what waits is handed back unsent: %j", async (status, body, headers = {}) => {
  const { service, asked, arrivals } = scripted({ connections: 1 });
  service.take({ seats: [0, 1, 2], paths: "/a\n/b\n/c", cancelled: [], handBack: false, epoch: 0 });
  asked.get("/a")?.answered({ status, headers, body: Buffer.from(body) });
  await turn();
  expect(arrivals).toMatchObject([{ count: 1, unsent: [1, 2] }]);
  expect([...asked.keys()]).toEqual(["/a"]);
  // Who does not know of it yet has its orders handed back as well.
  service.take({ seats: [3], paths: "/d", cancelled: [], handBack: false, epoch: 0 });
  await turn();
  expect(arrivals).toMatchObject([{ epoch: 1 }, { count: 0, unsent: [3], epoch: 1 }]);
  service.take({ seats: [3], paths: "/d", cancelled: [], handBack: false, epoch: 1 });
  expect([...asked.keys()]).toEqual(["/a", "/d"]);
});

test.each<[number, string, Answer["headers"]?]>([
  [200, "{}"],
  [400, "{}"],
  [500, ""],
  [503, '{"status": "partial_success"}'],
  [200, "{}", { "x-ratelimit-remaining": "9", "x-ratelimit-reset": "2" }],
])("after HTTP %i the next is asked: %j", async (status, body, headers = {}) => {
  const { service, asked, arrivals } = scripted({ connections: 1 });
  service.take({ seats: [0, 1], paths: "/a\n/b", cancelled: [], handBack: false, epoch: 0 });
  asked.get("/a")?.answered({ status, headers, body: Buffer.from(body) });
  await turn();
  expect(arrivals).toMatchObject([{ count: 1, unsent: [] }]);
  expect([...asked.keys()]).toEqual(["/a", "/b"]);
});

test("what waits is handed back when that is asked for; what is open goes on", async () => {
  const { service, asked, broken, arrivals } = scripted({ connections: 1 });
  service.take({ seats: [0, 1, 2], paths: "/a\n/b\n/c", cancelled: [], handBack: false, epoch: 0 });
  service.take({ seats: [], paths: "", cancelled: [], handBack: true, epoch: 0 });
  await turn();
  expect(arrivals).toMatchObject([{ count: 0, faults: [], unsent: [1, 2] }]);
  asked.get("/a")?.answered(answer);
  await turn();
  expect(arrivals).toMatchObject([{}, { count: 1, unsent: [] }]);
  expect([[...asked.keys()], broken]).toEqual([["/a"], []]);
});
