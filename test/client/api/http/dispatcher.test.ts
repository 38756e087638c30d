import { EnvHttpProxyAgent, Pool } from "undici";
import { expect, test } from "vitest";
import { createDispatcher } from "../../../../src/client/api/http/dispatcher.js";
import { IntelClient } from "../../../../src/client/api/intel-client.js";
import { ManualClock } from "../../../helpers/manual-clock.js";
import { reply, startScriptedServer, type Step } from "../../../helpers/scripted-server.js";
import { freePort } from "../../../helpers/free-port.js";
import { ipResult, success } from "../answers.js";

type Env = Record<string, string>;

function dispatcherOf(baseUrl: string, env: Env) {
  return createDispatcher(baseUrl, { connections: 1, env });
}

async function findingThrough(env: Env, baseUrl = "http://intel.example.com/beta", apiKey = "k-1") {
  const dispatcher = dispatcherOf(baseUrl, env);
  const intel = new IntelClient({ baseUrl, dispatcher, clock: new ManualClock(), apiKey });
  const { signal } = new AbortController();
  const finding = await intel.query({ kind: "ip", value: "192.0.2.7" }, { signal });
  await dispatcher.destroy();
  return finding;
}

async function throughProxy(step: Step, baseUrl: string) {
  const { url, requests } = await startScriptedServer([step]);
  return {
    finding: await findingThrough({ HTTP_PROXY: url, https_proxy: url }, baseUrl),
    requests,
  };
}

test.each(["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"])(
  "goes through a proxy with %s",
  (name) => {
    const env = { [name]: "http://proxy.example.com:3128" };
    expect(dispatcherOf("https://intel.example.com", env)).toBeInstanceOf(EnvHttpProxyAgent);
  },
);

test.each(["http://127.0.0.1:8080", "http://localhost:8080/beta", "http://[::1]:8080"])(
  "never reaches %s through a proxy",
  (baseUrl) => {
    const env = { HTTP_PROXY: "http://proxy.example.com:3128" };
    expect(dispatcherOf(baseUrl, env)).toBeInstanceOf(Pool);
  },
);

test("forwards plain HTTP through the proxy, with the service's key", async () => {
  const step = reply(200, success(ipResult()));
  const { finding, requests } = await throughProxy(step, "http://intel.example.com/beta");
  expect(finding.status).toBe("complete");
  expect(requests).toMatchObject([
    {
      method: "GET",
      path: "http://intel.example.com/beta/query/192.0.2.7",
      headers: { host: "intel.example.com", "x-api-key": "k-1" },
    },
  ]);
});

test("tunnels HTTPS and hides the key from the proxy", async () => {
  const { finding, requests } = await throughProxy(reply(502), "https://intel.example.com/beta");
  expect([finding.status, finding.error?.code]).toEqual(["failed", "proxy_failure"]);
  expect(finding.error?.message).toMatch(
    /^the proxy http:\/\/127\.0\.0\.1:\d+ \(from https_proxy\) did not connect to https:\/\/intel/,
  );
  expect(requests).toMatchObject([{ method: "CONNECT", path: "intel.example.com:443" }]);
  expect(JSON.stringify(requests)).not.toContain("k-1");
});

test.each([
  ["without its password", "http_proxy", "http://user:s3cret@127.0.0.1"],
  ["also if it has no scheme, like curl", "HTTP_PROXY", "127.0.0.1"],
])("names a proxy that refuses the connection, %s", async (_, name, proxy) => {
  const { error } = await findingThrough({ [name]: `${proxy}:${await freePort()}` });
  const words = RegExp(
    `^the proxy http://127.0.0.1:\\d+ \\(from ${name}\\) refused the connection`,
  );
  expect([error?.code, error?.message]).toEqual(["proxy_failure", expect.stringMatching(words)]);
});

test.each([
  ["*", true],
  [".example.com", true],
  ["other.example, *.example.com", true],
  ["EXAMPLE.com:443", true],
  ["example.com:8443", false],
])("NO_PROXY=%s: connects directly: %j", (entries, direct) => {
  const env = { HTTPS_PROXY: "http://proxy.example.com:3128", NO_PROXY: entries };
  const kind = direct ? Pool : EnvHttpProxyAgent;
  expect(dispatcherOf("https://intel.example.com/beta", env)).toBeInstanceOf(kind);
});

test.each(["nonsense", "ftp://127.0.0.1:21", "socks5://s3cret@127.0.0.1:1080"])(
  "rejects the proxy %s",
  (value) => {
    const message = "HTTPS_PROXY is not the address of an HTTP proxy";
    expect(() => dispatcherOf("https://intel.example.com", { HTTPS_PROXY: value })).toThrow(
      expect.objectContaining({ code: "invalid_proxy", message }),
    );
  },
);
