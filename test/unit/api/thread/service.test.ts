import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { TransportError } from "../../../../src/api/http/transport-error.js";
import {
  type Arrivals,
  type Orders,
  ThreadService,
  type ThreadServiceOptions,
} from "../../../../src/api/thread/service.js";
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

function orders(
  requests: readonly (readonly [id: number, path: string])[],
  cancelled: readonly number[] = [],
): Orders {
  return { requests: [...requests], cancelled: [...cancelled] };
}

const answer = { status: 200, headers: {}, body: Buffer.from("{}") };

test("reports requests that end in the same turn of the event loop together", async () => {
  const { service, asked, arrivals } = scripted();
  service.take(
    orders([
      [3, "/a"],
      [1, "/b"],
    ]),
  );
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
      answers: [[1, 200, 2, {}]],
      bodies: new Uint8Array(Buffer.from("{}")),
      faults: [
        {
          id: 3,
          code: "connection_reset",
          message: "gone",
          httpStatus: 200,
          cause: "read ECONNRESET",
        },
      ],
    },
  ]);
  await turn();
  expect(arrivals).toHaveLength(1);
});

test("does not report an aborted request", async () => {
  const { service, asked, broken, arrivals } = scripted();
  service.take(
    orders([
      [0, "/a"],
      [1, "/b"],
    ]),
  );
  service.take(orders([], [1]));
  expect(broken).toEqual(["/b"]);
  asked.get("/a")?.answered(answer);
  await turn();
  expect(arrivals).toMatchObject([{ answers: [[0, 200, 2, {}]], faults: [] }]);
});

test("ignores the cancellation of a finished request", async () => {
  const { service, asked, broken } = scripted();
  service.take(orders([[5, "/a"]]));
  asked.get("/a")?.answered(answer);
  service.take(orders([], [5, 9]));
  expect(broken).toEqual([]);
});

test("leaves nothing to abort after a request that fails at once", async () => {
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
  service.take(orders([[0, "/a"]]));
  service.take(orders([], [0]));
  await turn();
  expect(arrivals).toMatchObject([{ faults: [{ id: 0, code: "connect_failed" }] }]);
});

test("opens no more requests than connections, and fills a free one with the next", async () => {
  const { service, asked } = scripted({ connections: 2 });
  service.take(
    orders([
      [0, "/a"],
      [1, "/b"],
      [2, "/c"],
    ]),
  );
  expect([...asked.keys()]).toEqual(["/a", "/b"]);
  asked.get("/a")?.answered(answer);
  expect(asked.has("/c")).toBe(false);
  await turn();
  expect(asked.has("/c")).toBe(true);
  asked.get("/b")?.failed(new TransportError("timeout", "late"));
  service.take(
    orders([
      [3, "/d"],
      [4, "/e"],
    ]),
  );
  await turn();
  expect([...asked.keys()]).toEqual(["/a", "/b", "/c", "/d"]);
});

test("never sends a cancelled queued request, and keeps its connection for others", async () => {
  const { service, asked, broken } = scripted({ connections: 1 });
  service.take(
    orders([
      [0, "/a"],
      [1, "/b"],
      [2, "/c"],
    ]),
  );
  service.take(orders([], [1]));
  asked.get("/a")?.answered(answer);
  await turn();
  expect([...asked.keys()]).toEqual(["/a", "/c"]);
  expect(broken).toEqual([]);
});
