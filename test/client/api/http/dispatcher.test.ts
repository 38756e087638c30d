import { EnvHttpProxyAgent, Pool } from "undici";
import { beforeEach, expect, test } from "vitest";
import { createDispatcher } from "../../../../src/client/api/http/dispatcher.js";
import { IntelClient } from "../../../../src/client/api/intel-client.js";
import { ManualClock } from "../../../helpers/manual-clock.js";
import {
  reply,
  type ScriptedServer,
  startScriptedServer,
  type Step,
} from "../../../helpers/scripted-server.js";
import { freePort } from "../../../helpers/free-port.js";
import { ipResult, success } from "../answers.js";

const connections = 1;
let proxy: ScriptedServer | null = null;

beforeEach(() => {
  proxy = null;
});

async function findingThrough(
  env: Record<string, string>,
  baseUrl = "http://intel.example.com/beta",
  apiKey?: string,
) {
  const dispatcher = createDispatcher(baseUrl, { connections, env });
  const intel = new IntelClient({ baseUrl, dispatcher, clock: new ManualClock(), apiKey });
  const { signal } = new AbortController();
  const finding = await intel.query({ kind: "ip", value: "192.0.2.7" }, { signal });
  await dispatcher.destroy();
  return finding;
}

async function throughProxy(step: Step, ...service: [baseUrl: string, apiKey?: string]) {
  proxy = await startScriptedServer([step]);
  return findingThrough({ HTTP_PROXY: proxy.url, https_proxy: proxy.url }, ...service);
}

test.each(["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"])(
  "goes through a proxy with %s",
  (name) => {
    const env = { [name]: "http://proxy.example.com:3128" };
    const dispatcher = createDispatcher("https://intel.example.com", { connections, env });
    expect(dispatcher).toBeInstanceOf(EnvHttpProxyAgent);
  },
);

test.each(["http://127.0.0.1:8080", "http://localhost:8080/beta", "http://[::1]:8080"])(
  "never reaches %s through a proxy",
  (baseUrl) => {
    const env = { HTTP_PROXY: "http://proxy.example.com:3128" };
    expect(createDispatcher(baseUrl, { connections, env })).toBeInstanceOf(Pool);
  },
);

test("forwards plain HTTP through the proxy, with the service's key", async () => {
  const step = reply(200, success(ipResult()));
  const finding = await throughProxy(step, "http://intel.example.com/beta", "k-1");
  expect(finding.status).toBe("complete");
  expect(proxy?.requests).toMatchObject([
    {
      method: "GET",
      path: "http://intel.example.com/beta/query/192.0.2.7",
      headers: { host: "intel.example.com", "x-api-key": "k-1" },
    },
  ]);
});

test("tunnels HTTPS and hides the key from the proxy", async () => {
  const finding = await throughProxy(reply(502), "https://intel.example.com/beta", "k-1");
  expect(finding).toMatchObject({
    status: "failed",
    error: {
      code: "proxy_failure",
      message: expect.stringMatching(
        /^the proxy http:\/\/127\.0\.0\.1:\d+ \(from https_proxy\) did not connect to https:\/\/intel/,
      ) as string,
    },
  });
  expect(proxy?.requests).toMatchObject([{ method: "CONNECT", path: "intel.example.com:443" }]);
  expect(JSON.stringify(proxy?.requests)).not.toContain("k-1");
});

test("names a proxy that refuses the connection, without its password", async () => {
  const finding = await findingThrough({
    http_proxy: `http://user:s3cret@127.0.0.1:${await freePort()}`,
  });
  expect(finding.error?.code).toBe("proxy_failure");
  expect(finding.error?.message).toMatch(
    /^the proxy http:\/\/127\.0\.0\.1:\d+ \(from http_proxy\) refused the connection/,
  );
});

test("accepts a proxy without a scheme, like curl", async () => {
  const finding = await findingThrough({ HTTP_PROXY: `127.0.0.1:${await freePort()}` });
  expect(finding.error?.message).toContain("the proxy http://127.0.0.1:");
});

test.each([
  ["*", true],
  [".example.com", true],
  ["other.example, *.example.com", true],
  ["EXAMPLE.com:443", true],
  ["example.com:8443", false],
])("NO_PROXY=%s: connects directly: %j", (entries, direct) => {
  const env = { HTTPS_PROXY: "http://proxy.example.com:3128", NO_PROXY: entries };
  const dispatcher = createDispatcher("https://intel.example.com/beta", { connections, env });
  expect(dispatcher).toBeInstanceOf(direct ? Pool : EnvHttpProxyAgent);
});

test.each(["nonsense", "ftp://127.0.0.1:21", "socks5://s3cret@127.0.0.1:1080"])(
  "rejects the proxy %s",
  (value) => {
    const env = { HTTPS_PROXY: value };
    const message = "HTTPS_PROXY is not the address of an HTTP proxy";
    expect(() => createDispatcher("https://intel.example.com", { connections, env })).toThrow(
      expect.objectContaining({ code: "invalid_proxy", message }),
    );
  },
);
