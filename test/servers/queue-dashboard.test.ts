import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { setTimeout as delay } from "node:timers/promises";
import { request } from "undici";
import { ChunkQueue, openQueue } from "../../src/pipeline/queue/chunk-queue.js";
import { type Dashboard, serveDashboard } from "../../src/pipeline/queue/dashboard.js";
import { openQueueLink, type QueueLink } from "../../src/pipeline/queue/queue-link.js";
import { Browser } from "../helpers/browser.js";
import { RedisServer } from "../helpers/redis-server.js";

let redis: RedisServer;
let link: QueueLink;
let dashboard: Dashboard;
let origin: string;
let token: string;

beforeAll(async () => {
  redis = await RedisServer.start();
  const onWarning = (): void => undefined;
  link = await openQueueLink(redis.url(), { environment: {}, onWarning });
  const queue = await openQueue(link);
  await new ChunkQueue(link, queue, "a-plan").submit("/shared/work", [0, 1, 2], "normal");
  dashboard = await serveDashboard(queue, 0);
  const url = new URL(dashboard.url);
  origin = url.origin;
  token = url.searchParams.get("token") ?? "";
});
afterAll(async () => {
  await dashboard?.close();
  link?.close();
  await redis?.stop();
});

async function get(path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") {
  const { statusCode, headers: answered, body } = await request(origin + path, { headers, method });
  return { code: statusCode, headers: answered, text: await body.text() };
}

test("nothing is shown without the token, also not under another name", async () => {
  const others = [
    get("/"),
    get("/api/queues"),
    get("/static/js/"),
    get("/?token=wrong"),
    get("/", { authorization: "Bearer wrong" }),
    get("/", { cookie: `repute_dashboard_${new URL(origin).port}=wrong` }),
  ];
  for (const { code, text } of await Promise.all(others)) {
    expect([code, text]).toEqual([401, expect.stringContaining("repute worker printed")]);
  }
  const rebound = await get(`/?token=${token}`, { host: "evil.example" });
  expect([rebound.code, rebound.headers["set-cookie"]]).toEqual([403, undefined]);
});

test("the address lets a browser in, which then keeps the token as a cookie", async () => {
  const entry = await get(`/?token=${token}`);
  expect([entry.code, entry.headers["location"]]).toEqual([303, "/"]);
  const [cookie = ""] = String(entry.headers["set-cookie"]).split(";");
  expect(entry.headers["set-cookie"]).toMatch(/; HttpOnly; SameSite=Strict$/);
  const page = await get("/", { cookie: `other=1; ${cookie}` });
  expect([page.code, page.text]).toEqual([200, expect.stringContaining('<div id="root">')]);
  expect(page.headers["content-security-policy"]).toContain("default-src 'self'");
  for (const [, path = ""] of page.text.matchAll(/src="(static\/[^"]+)"/g)) {
    expect((await get(`/${path}`, { cookie })).code).toBe(200);
  }
});

test("the queue is shown for reading only", async () => {
  const authorization = `Bearer ${token}`;
  const { code, text } = await get("/api/queues", { authorization });
  expect(code).toBe(200);
  const { queues } = JSON.parse(text) as { queues: { counts: object; readOnlyMode: boolean }[] };
  expect(queues).toMatchObject([
    { name: "chunks", readOnlyMode: true, counts: { prioritized: 3 } },
  ]);
  const clean = await get("/api/queues/chunks/empty", { authorization }, "PUT");
  expect(clean.code).toBeGreaterThanOrEqual(400);
  const after = await get("/api/queues", { authorization });
  expect(JSON.parse(after.text)).toMatchObject({ queues: [{ counts: { prioritized: 3 } }] });
});

test("a browser shows the queue with the token alone, and finds no fault", async () => {
  const browser = await Browser.open();
  onTestFinished(() => browser.close());
  const shown = async (text: RegExp): Promise<string> => {
    for (let tries = 0; ; tries++) {
      const found = String(await browser.evaluate("document.body.innerText"));
      if (text.test(found) || tries === 100) return found;
      await delay(50);
    }
  };
  await browser.show(origin);
  expect(await shown(/repute worker printed/)).not.toContain("chunks");
  await browser.show(dashboard.url);
  expect(await shown(/chunks/i)).toMatch(/chunks/i);
  expect(browser.events().console).toEqual([]);
  await browser.show(`${origin}/queue/chunks?status=prioritized`);
  expect(await shown(/a-plan\.0/)).toContain("a-plan.0");
  const { requests, console } = browser.events();
  expect(console).toEqual([]);
  expect(requests.filter((url) => !url.startsWith(origin))).toEqual([]);
});
