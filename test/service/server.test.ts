import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { hostname } from "node:os";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { hostCheck, sampleAccessToken, type Service } from "../../src/service/service.js";
import { ask, bearing, runningService } from "./running-service.js";

const loopback = ["localhost", "LOCALHOST:8080", "localhost.:8080", "repute.localhost:9000"];
const addresses = ["127.0.0.1", "127.1.2.3:8080", "[::1]:8080", "192.0.2.5:80", "[2001:DB8:0::5]"];
const foreign = [
  "rebound.example",
  "rebound.example:8080",
  "localhost.example",
  "127.0.0.1.example",
  "",
  "localhost/..",
  "a@localhost",
  "localhost:port",
];

test.each([
  ["127.0.0.1", []],
  ["2001:db8:0:0::5", []],
  ["0.0.0.0", [hostname()]],
  ["::", [hostname()]],
  ["Intel.Example", ["intel.example:8080"]],
])(
  "listening on %s, accepts addresses, loopback names and its own name, and no other",
  (listening, own) => {
    const hosts = [...loopback, ...addresses, ...own];
    const others = own.length > 0 ? foreign : [...foreign, hostname(), "intel.example"];
    expect([...hosts, ...others].filter(hostCheck(listening))).toEqual(hosts);
  },
);

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

const customers = "/beta/ops/customers";
const context = "/api/v1/cases/case-2001/context";
const basic = { headers: { authorization: `Basic ${sampleAccessToken}` } };
const failed = '{"message":"Authentication Failed"}';

test.each<[string, string, RequestInit, number, string]>([
  ["no credential", customers, {}, 401, ""],
  ["another scheme", customers, basic, 401, ""],
  ["x as cursor", `${customers}?cursor=x`, bearing(sampleAccessToken), 400, ""],
  ["a strange cursor", `${customers}?cursor=Y3VzdG9tZXJzOjk5`, bearing(sampleAccessToken), 400, ""],
  ["no credential", context, {}, 401, failed],
  ["another key", context, bearing("other"), 401, failed],
])("with %s, %s is refused", async (_, path, init, status, body) => {
  expect(await ask(await runningService(), path, init)).toMatchObject({ status, body });
});
