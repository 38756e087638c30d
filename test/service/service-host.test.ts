import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import type { Service } from "../../src/service/service.js";
import { runningService } from "./running-service.js";

/** Sends a request whose `Host` is not the address it goes to. */
async function askAs(host: string, service: Service, path: string, method = "GET") {
  const sent = request({ port: service.port, host: "127.0.0.1", path, method, headers: { host } });
  sent.end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return { status: answer.statusCode, body: await text(answer) };
}

test.each([
  ["GET", "/beta/query/192.0.2.1"],
  ["GET", "/_local/stats"],
  ["POST", "/_local/cases/case-2001/transition"],
])("%s %s for a foreign host is refused with 421 and a reason", async (method, path) => {
  const service = await runningService();
  const { status, body } = await askAs("rebound.example:8080", service, path, method);
  expect([status, JSON.parse(body)]).toEqual([
    421,
    {
      message:
        'this service does not answer for "rebound.example:8080": use localhost, or the address given with --host',
    },
  ]);
});

test.each([
  ["HTTP/1.0", 200],
  ["HTTP/1.1", 400],
])("answers a request of %s without Host with %i", async (version, status) => {
  const service = await runningService();
  const socket = connect(service.port, "127.0.0.1");
  socket.end(`GET /beta/query/192.0.2.1 ${version}\r\nConnection: close\r\n\r\n`);
  expect(await text(socket)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
});

test("knows whether other machines can reach it", async () => {
  const [inside, outside] = [await runningService(), await runningService({ host: "0.0.0.0" })];
  expect([inside.exposed, outside.exposed]).toEqual([false, true]);
});
