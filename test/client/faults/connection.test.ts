import { type AddressInfo, createServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { createDispatcher } from "../../../src/client/api/http/dispatcher.js";
import { IntelClient, type IntelClientOptions } from "../../../src/client/api/intel-client.js";
import { systemClock } from "../../../src/core/clock.js";
import { ways } from "../../helpers/connections.js";
import { freePort } from "../../helpers/free-port.js";
import {
  drip,
  endless,
  raw,
  reply,
  reset,
  resetInBody,
  silence,
  startScriptedServer,
  type Step,
  truncated,
  truncatedChunks,
} from "../../helpers/scripted-server.js";
import { ipResult, success } from "../api/answers.js";
import { queriesOf, tryQuery } from "./lookup.js";

const address = { kind: "ip", value: "192.0.2.7" } as const;
const whole = success(ipResult());
const mayPass = { policy: "transient", afterMs: null };

describe.each(ways)("%s", (_way, connect) => {
  const query = queriesOf(connect);

  test.each([
    ["a reset before the answer", reset(), "connection_reset"],
    ["a body shorter than its content-length", truncated(whole), "truncated_body"],
    ["a chunked body without its end", truncatedChunks(), "truncated_body"],
    ["an end of the connection without an answer", raw(""), "connection_reset"],
    ["something that is no HTTP", raw("220 mail.example.com ESMTP\r\n"), "invalid_http"],
    ["headers without an end", raw(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(100_000)}`), "invalid_http"],
  ])("%s is a transient fault", async (_, step, code) => {
    const { finding, attempts } = await query(step);
    expect(finding).toMatchObject({ status: "failed", error: { code }, again: mayPass });
    expect(attempts).toMatchObject([{ endpoint: "query", outcome: code, headers: null }]);
  });

  test("a reset within the body is a transient fault", async () => {
    const { finding } = await query(resetInBody());
    expect(finding).toMatchObject({ status: "failed", again: mayPass });
    expect(["connection_reset", "truncated_body"]).toContain(finding.error?.code);
  });

  test("a body longer than its content-length is cut there", async () => {
    const body = JSON.stringify(whole);
    const step = raw(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length - 1}\r\n\r\n${body}`);
    expect((await query(step)).finding.error?.code).toBe("response_schema");
  });

  test.each([
    ["a server that never answers", silence(), 50, null],
    ["a body that drips without end", drip(5), 400, 200],
  ])("%s is a timeout", async (_, step, timeoutMs, httpStatus) => {
    const { finding, attempts } = await tryQuery(connect, step, { timeoutMs });
    expect(finding).toMatchObject({ status: "failed", error: { code: "timeout" }, again: mayPass });
    expect(finding.error?.message).toContain(`did not answer in full within ${timeoutMs / 1000} s`);
    expect(attempts).toMatchObject([{ httpStatus, outcome: "timeout" }]);
  });

  test("an endless body is cut off and fails permanently", async () => {
    const { finding } = await query(endless());
    expect(finding).toMatchObject({ status: "failed", error: { code: "body_too_large" } });
    expect(finding.again).toBeNull();
  });

  test("headers named like object members do no harm", async () => {
    const headers = { __proto__x: "a", constructor: "b", "retry-after": ["1", "2"] };
    const { finding } = await query(reply(429, "", { ...headers, ["__proto__"]: "c" }));
    expect(finding.again).toEqual({ policy: "throttled", afterMs: 1000 });
    expect(({} as Record<string, unknown>)["0"]).toBeUndefined();
  });

  test("a refused connection is a transient fault", async () => {
    const baseUrl = `http://127.0.0.1:${await freePort()}`;
    const { finding } = await tryQuery(connect, silence(), { baseUrl });
    expect(finding).toMatchObject({
      status: "failed",
      httpStatus: null,
      error: {
        code: "connect_refused",
        message: `${baseUrl} refused the connection (ECONNREFUSED)`,
      },
      again: mayPass,
    });
  });

  test("an https address on a port without TLS is a TLS fault", async () => {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const baseUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { finding } = await tryQuery(connect, silence(), { baseUrl });
    expect(finding).toMatchObject({ error: { code: "tls_failure" }, again: mayPass });
  });

  async function clientOf(steps: readonly Step[], options: Partial<IntelClientOptions>) {
    const { url: baseUrl } = await startScriptedServer(steps);
    const dispatcher = connect(baseUrl);
    onTestFinished(() => dispatcher.destroy());
    return new IntelClient({ baseUrl, dispatcher, clock: systemClock, ...options });
  }

  test("an abort rejects with the signal's reason and reports the request", async () => {
    const outcomes: string[] = [];
    const onAttempt: IntelClientOptions["onAttempt"] = ({ outcome }) => outcomes.push(outcome);
    const intel = await clientOf([silence()], { onAttempt });
    const controller = new AbortController();
    const reason = new Error("stop");
    // The second request waits for the connection of the first.
    const lookups = [1, 2].map(() => intel.query(address, { signal: controller.signal }));
    controller.abort(reason);
    const results = await Promise.allSettled(lookups);
    await expect(intel.query(address, { signal: controller.signal })).rejects.toBe(reason);
    expect(results).toEqual([
      { status: "rejected", reason },
      { status: "rejected", reason },
    ]);
    expect(outcomes).toEqual(["aborted", "aborted"]);
  });

  test("a pool keeps working after an aborted request", async () => {
    const intel = await clientOf([drip(5), reply(200, whole)], { timeoutMs: 500 });
    const { signal } = new AbortController();
    const statuses = [
      (await intel.query(address, { signal })).status,
      (await intel.query(address, { signal })).status,
    ];
    expect(statuses).toEqual(["failed", "complete"]);
  });
});

test("a TLS handshake without end is a failed connection", async () => {
  const { url } = await startScriptedServer([silence()]);
  const baseUrl = url.replace("http:", "https:");
  const dispatcher = createDispatcher(baseUrl, { connections: 1, connectTimeoutMs: 50 });
  const { finding } = await tryQuery(() => dispatcher, silence(), { baseUrl });
  expect(finding).toMatchObject({ error: { code: "connect_timeout" }, again: mayPass });
});

test("reads a body of exactly 8 MiB", async () => {
  const [[, connect]] = ways;
  const start = JSON.stringify(success({ ...ipResult(), padding: "" })).slice(0, -3);
  const body = start + "x".repeat(8 * 1024 * 1024 - start.length - 3) + '"}}';
  expect(body.length).toBe(8 * 1024 * 1024);
  expect((await tryQuery(connect, reply(200, body))).finding.status).toBe("complete");
});
