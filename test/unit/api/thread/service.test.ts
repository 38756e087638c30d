import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { TransportError } from "../../../../src/api/transport-error.js";
import type { Arrivals } from "../../../../src/api/thread/messages.js";
import { ThreadService } from "../../../../src/api/thread/service.js";
import type { Receiver } from "../../../../src/api/types.js";

/** A service whose requests end when the test says so. */
function scripted() {
  const asked = new Map<string, Receiver>();
  const broken: string[] = [];
  const arrivals: Arrivals[] = [];
  const service = new ThreadService(
    {
      get(path, _signal, receiver) {
        asked.set(path, receiver);
        return {
          abort: (reason) => {
            broken.push(path);
            receiver.failed(reason);
          },
        };
      },
    },
    (arrived) => arrivals.push(arrived),
  );
  return { service, asked, broken, arrivals };
}

const answer = { status: 200, headers: {}, body: Buffer.from("{}") };

test("what ends in one turn of the event loop is told together", async () => {
  const { service, asked, arrivals } = scripted();
  service.take({ seats: [3, 1], paths: "/a\n/b", cancelled: [] });
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
  service.take({ seats: [0, 1], paths: "/a\n/b", cancelled: [] });
  service.take({ seats: [], paths: "", cancelled: [1] });
  await turn();
  expect(broken).toEqual(["/b"]);
  expect(arrivals).toMatchObject([{ count: 0, faults: [{ seat: 1, error: null }] }]);
});

test("what has ended is not broken off", async () => {
  const { service, asked, broken } = scripted();
  service.take({ seats: [5], paths: "/a", cancelled: [] });
  asked.get("/a")?.answered(answer);
  service.take({ seats: [], paths: "", cancelled: [5, 9] });
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
  const service = new ThreadService(requests, (arrived) => arrivals.push(arrived));
  service.take({ seats: [0], paths: "/a", cancelled: [] });
  service.take({ seats: [], paths: "", cancelled: [0] });
  await turn();
  expect(arrivals).toMatchObject([{ faults: [{ seat: 0, error: { code: "connect_failed" } }] }]);
});
