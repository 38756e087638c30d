import { EnvHttpProxyAgent, Pool } from "undici";
import { afterEach, expect, test } from "vitest";
import { createDispatcher } from "../../../src/api/dispatcher.js";
import { IntelClient } from "../../../src/api/intel-client.js";
import { ManualClock } from "../../helpers/manual-clock.js";
import {
  reply,
  type ScriptedServer,
  startScriptedServer,
  type Step,
} from "../../helpers/scripted-server.js";
import { ipResult, success } from "./answers.js";

const connections = 1;
let proxy: ScriptedServer | null = null;

afterEach(async () => {
  await proxy?.close();
  proxy = null;
});

async function throughProxy(step: Step, baseUrl: string, apiKey?: string) {
  proxy = await startScriptedServer([step]);
  const env = { HTTP_PROXY: proxy.url, https_proxy: proxy.url };
  const dispatcher = createDispatcher(baseUrl, { connections, env });
  const intel = new IntelClient({ baseUrl, dispatcher, clock: new ManualClock(), apiKey });
  const { signal } = new AbortController();
  const finding = await intel.query({ kind: "ip", value: "192.0.2.7" }, { signal });
  await dispatcher.destroy();
  return finding;
}

test("without a proxy variable it is a pool", () => {
  const dispatcher = createDispatcher("https://intel.example.com/beta", { connections, env: {} });
  expect(dispatcher).toBeInstanceOf(Pool);
});

test.each(["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"])(
  "%s makes it go through a proxy",
  (name) => {
    const env = { [name]: "http://proxy.example.com:3128" };
    const dispatcher = createDispatcher("https://intel.example.com", { connections, env });
    expect(dispatcher).toBeInstanceOf(EnvHttpProxyAgent);
  },
);

test.each(["http://127.0.0.1:8080", "http://localhost:8080/beta", "http://[::1]:8080"])(
  "%s is never reached through a proxy",
  (baseUrl) => {
    const env = { HTTP_PROXY: "http://proxy.example.com:3128" };
    expect(createDispatcher(baseUrl, { connections, env })).toBeInstanceOf(Pool);
  },
);

test("plain HTTP is forwarded by the proxy, with the key for the service", async () => {
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

test("HTTPS is tunnelled, and the proxy sees no key", async () => {
  const finding = await throughProxy(reply(502), "https://intel.example.com/beta", "k-1");
  expect(finding).toMatchObject({
    status: "failed",
    error: {
      code: "proxy_failure",
      message: "the proxy made no connection to https://intel.example.com (UND_ERR_ABORTED)",
    },
  });
  expect(proxy?.requests).toMatchObject([{ method: "CONNECT", path: "intel.example.com:443" }]);
  expect(JSON.stringify(proxy?.requests)).not.toContain("k-1");
});

test("a proxy that wants a password is named", async () => {
  const finding = await throughProxy(reply(407), "http://intel.example.com/beta");
  expect(finding.error?.code).toBe("proxy_failure");
});

test.each(["http_proxy", "HTTPS_PROXY"])("%s that is no address is told by its name", (name) => {
  const env = { [name]: "nonsense" };
  expect(() => createDispatcher("https://intel.example.com", { connections, env })).toThrow(
    expect.objectContaining({ code: "invalid_proxy", message: expect.stringContaining("PROXY") }),
  );
});
