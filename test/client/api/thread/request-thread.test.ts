import { setImmediate as turn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test, vi } from "vitest";
import { requestThread } from "../../../../src/client/api/thread/request-thread.js";
import { TransportError } from "../../../../src/client/api/http/transport-error.js";
import type { Answer, Requests } from "../../../../src/client/api/types.js";
import { reply, silence, startScriptedServer } from "../../../helpers/scripted-server.js";

const entry = new URL("../../../../dist/client/api/thread/entry.js", import.meta.url);

/** Starting a thread takes a while on a busy machine. */
const patient = { timeout: 30_000 };

/** The address of a server that answers with path and key of a request. */
async function echo(): Promise<string> {
  const { url } = await startScriptedServer(({ path, headers }) =>
    reply(200, `${path} ${headers["x-api-key"]}`),
  );
  return url;
}

function open(baseUrl: string, module = entry, connections = 4, apartMs?: () => number): Requests {
  const thread = requestThread(connections, apartMs, module);
  onTestFinished(() => thread.destroy());
  return thread.open({ baseUrl, credential: ["x-api-key", "secret"] });
}

function get(
  requests: Requests,
  path: string,
  signal = new AbortController().signal,
): Promise<Answer> {
  return new Promise((answered, failed) => {
    requests.get(path, signal, { answered, failed });
  });
}

test("gives each of many requests its own answer", async () => {
  const requests = open(`${await echo()}/base/`);
  for (let round = 0; round < 3; round++) {
    const paths = Array.from({ length: 200 }, (_, n) => `/query/${round}-${n}`);
    const answers = await Promise.all(paths.map((path) => get(requests, path)));
    expect(answers.map(({ body }) => body.toString())).toEqual(
      paths.map((path) => `/base${path} secret`),
    );
  }
});

test("sends the first of many requests before the turn ends", async () => {
  const requests = open(await echo());
  await get(requests, "/first");
  const post = vi.spyOn(Worker.prototype, "postMessage");
  onTestFinished(() => post.mockRestore());
  const controller = new AbortController();
  const aborted = get(requests, "/aborted", controller.signal);
  const paths = Array.from({ length: 39 }, (_, n) => `/${n}`);
  const answers = Promise.all(paths.map((path) => get(requests, path)));
  expect(post).toHaveBeenCalledTimes(2);
  controller.abort(new Error("enough"));
  await expect(aborted).rejects.toThrow("enough");
  expect((await answers).map(({ body }) => body.toString())).toEqual(
    paths.map((path) => `${path} secret`),
  );
  expect(post).toHaveBeenCalledTimes(3);
});

test("opens no more requests than connections; others queue on the thread, or are dropped there", async () => {
  const held: (() => void)[] = [];
  const server = await startScriptedServer((_, at) => (socket, request) => {
    held.push(() => reply(at === 0 ? 429 : 200, "{}")(socket, request));
  });
  const asked = () => server.requests.map(({ path }) => path);
  const requests = open(server.url, entry, 1);
  const dropped = new AbortController();
  const [first, none, second] = [
    get(requests, "/first"),
    get(requests, "/dropped", dropped.signal),
    get(requests, "/second"),
  ];
  await expect.poll(asked, patient).toEqual(["/first"]);
  dropped.abort(new Error("enough"));
  await expect(none).rejects.toThrow("enough");
  // The thread reads its orders in sequence.
  await turn();
  held[0]?.();
  expect((await first).status).toBe(429);
  await expect.poll(asked, patient).toEqual(["/first", "/second"]);
  held[1]?.();
  expect((await second).body.toString()).toBe("{}");
});

test("sends requests no closer than asked", async () => {
  const apart = { ms: 0 };
  const requests = open(await echo(), entry, 8, () => apart.ms);
  await get(requests, "/first");
  apart.ms = 5;
  const begun = performance.now();
  const ends = Array.from({ length: 20 }, async (_, n) => {
    await get(requests, `/${n}`);
    return performance.now() - begun;
  });
  for (const [n, ms] of (await Promise.all(ends)).entries()) {
    expect(ms).toBeGreaterThanOrEqual(apart.ms * n);
  }
});

test("fails open and later requests when destroyed", async () => {
  const thread = requestThread(1, undefined, entry);
  const { url } = await startScriptedServer([silence()]);
  const requests = thread.open({ baseUrl: url });
  const pending = get(requests, "/a");
  const [, failed] = await Promise.all([
    thread.destroy(),
    pending.catch((error: unknown) => error),
  ]);
  expect(failed).toMatchObject({ code: "connection_reset" });
  await expect(get(requests, "/b")).rejects.toBeInstanceOf(TransportError);
  await thread.destroy();
});

test("gives two clients a thread each, and ends both, or none that started", async () => {
  const thread = requestThread(1, undefined, entry);
  const one = thread.open({ baseUrl: await echo() });
  const other = thread.open({ baseUrl: `${await echo()}/other` });
  const [here, there] = await Promise.all([get(one, "/a"), get(other, "/a")]);
  expect([here.body.toString(), there.body.toString()]).toEqual([
    "/a undefined",
    "/other/a undefined",
  ]);
  await thread.destroy();
  for (const closed of [one, other]) {
    await expect(get(closed, "/b")).rejects.toMatchObject({ code: "connection_reset" });
  }
  await expect(requestThread(1, undefined, entry).destroy()).resolves.toBeUndefined();
});

test.each([
  ["ends by itself", "data:text/javascript,process.exit(0)"],
  ["breaks down", "data:text/javascript,throw new Error('no')"],
  ["cannot be started", "ftp://192.0.2.1/entry.js"],
])("fails the requests of a thread that %s", async (_, module) => {
  const requests = open(await echo(), new URL(module));
  for (const path of ["/a", "/b"]) {
    await expect(get(requests, path)).rejects.toMatchObject({ code: "connection_reset" });
  }
});

test.each(["ftp://192.0.2.1/", "https://intel.example/beta?key=s3cret"])(
  "rejects the address %s at once, without showing its query",
  (baseUrl) => {
    const open = () => requestThread(1, undefined, entry).open({ baseUrl });
    expect(open).toThrow(expect.objectContaining({ code: "invalid_address" }));
    expect(open).not.toThrow("s3cret");
  },
);
