import { createPrivateKey } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createServer } from "node:tls";
import { describe, expect, test } from "vitest";
import {
  type Certificate,
  certificateCheck,
  checkConnection,
} from "../../../../src/cli/setup/check-connection.js";
import { diskCheck, nodeCheck } from "../../../../src/cli/setup/check-machine.js";
import { clockCheck } from "../../../../src/cli/setup/check-service.js";
import { packagePath } from "../../../../src/core/program.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const now = Date.parse("2026-01-01T00:00:00Z");

describe("Node.js", () => {
  test.each([
    ["20.19.0", "ok"],
    ["20.18.9", "fail"],
    ["21.7.0", "fail"],
    ["22.12.1", "ok"],
    ["22.11.0", "fail"],
    ["23.9.0", "fail"],
    ["24.0.0", "ok"],
    ["26.1.0", "ok"],
  ])("%s is %s", async (version, status) => {
    const { engines } = JSON.parse(await readFile(packagePath("package.json"), "utf8")) as {
      engines: { node: string };
    };
    expect(nodeCheck(version, engines.node).status).toBe(status);
  });
});

describe("free space", () => {
  test.each([
    [2e9, "ok"],
    [999e6, "warn"],
    [49e6, "fail"],
  ])("of %d bytes is %s", async (free, status) => {
    const folder = await temporaryFolder();
    expect((await diskCheck("cache folder", folder, async () => free)).status).toBe(status);
  });

  test("is measured on the parent of a missing folder", async () => {
    const folder = await temporaryFolder();
    const asked: string[] = [];
    await diskCheck("cache folder", `${folder}/a/b`, async (path) => asked.push(path));
    expect(asked).toEqual([folder]);
  });

  test("without a state folder is a warning", async () => {
    expect(await diskCheck("state folder", null)).toMatchObject({ status: "warn" });
  });
});

describe("the clock", () => {
  test.each([
    ["Thu, 01 Jan 2026 00:00:30 GMT", "ok", "agrees with the service"],
    ["Thu, 01 Jan 2026 00:05:00 GMT", "warn", "5 min behind the service"],
    ["Wed, 31 Dec 2025 23:50:00 GMT", "warn", "10 min ahead of the service"],
    ["yesterday", "ok", "the service does not tell its time"],
  ])("at midnight, with the service at %s, is %s", (date, status, finding) => {
    expect(clockCheck(date, now)).toMatchObject({ status, finding });
  });
});

describe("a certificate", () => {
  const valid: Certificate = { fault: null, validTo: "Mar  1 00:00:00 2026 GMT" };

  test.each([
    [valid, "ok", "valid until 2026-03-01, 59 days left", null],
    [
      { ...valid, validTo: "Jan 11 12:00:00 2026 GMT" },
      "warn",
      "valid until 2026-01-11, 10 days left",
      "renew",
    ],
    [
      { ...valid, fault: "CERT_HAS_EXPIRED" },
      "fail",
      "not trusted: CERT_HAS_EXPIRED",
      "this machine's clock",
    ],
    [
      { ...valid, fault: "ERR_TLS_CERT_ALTNAME_INVALID" },
      "fail",
      "not trusted: ERR_TLS_CERT_ALTNAME_INVALID",
      "it is not for intel.example",
    ],
    [
      { ...valid, fault: "SELF_SIGNED_CERT_IN_CHAIN" },
      "fail",
      "not trusted: SELF_SIGNED_CERT_IN_CHAIN",
      "NODE_EXTRA_CA_CERTS",
    ],
  ])("reports %o with advice", (certificate, status, finding, remedy) => {
    const check = certificateCheck(certificate, "intel.example", now);
    expect(check).toMatchObject({ status, finding });
    expect(check.remedy ?? "").toContain(remedy ?? "");
  });
});

/** For intel.example, signed by itself, valid until 2126; made for this test and used nowhere else. */
const cert = `-----BEGIN CERTIFICATE-----
MIIBoTCCAUegAwIBAgIUNzZYubg/dIz0L68vpn8ns9l2qAowCgYIKoZIzj0EAwIw
GDEWMBQGA1UEAwwNaW50ZWwuZXhhbXBsZTAgFw0yNjExMjMwMTEwMTNaGA8yMTI2
MTAzMDAxMTAxM1owGDEWMBQGA1UEAwwNaW50ZWwuZXhhbXBsZTBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABKqWnfdW7lTfZ3GzXOY9ntH+myc3gTlNQr48s9CZCDZo
Ykyt4wXkGv+eWX65eFVmIDSKWIRftv+SBCN6Ss+addqjbTBrMB0GA1UdDgQWBBTs
3kyOX/BjgVSlFOx3NO419ouD3TAfBgNVHSMEGDAWgBTs3kyOX/BjgVSlFOx3NO41
9ouD3TAPBgNVHRMBAf8EBTADAQH/MBgGA1UdEQQRMA+CDWludGVsLmV4YW1wbGUw
CgYIKoZIzj0EAwIDSAAwRQIgSF292RYgzPhFNYCvKbaywU8nSrDWb04zZZOEc5Sb
W1MCIQD1Y4SBARoX8kIkkp247BBwvzz8YqVz7z2WB0zerjzslw==
-----END CERTIFICATE-----
`;
const key = createPrivateKey({
  format: "jwk",
  key: {
    kty: "EC",
    x: "qpad91buVN9ncbNc5j2e0f6bJzeBOU1Cvjyz0JkINmg",
    y: "Ykyt4wXkGv-eWX65eFVmIDSKWIRftv-SBCN6Ss-addo",
    crv: "P-256",
    d: "X0vfVbcbHQbfQy49I01IS_ZLAgGbCSHHlDlhGUC5JIY",
  },
}).export({ format: "pem", type: "pkcs8" });

test("reports an untrusted certificate and sends no request", async () => {
  let received = 0;
  const server = createServer({ cert, key }, (socket) => {
    socket.on("data", () => received++).on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const { signal } = new AbortController();
  const options = { clock: { now: () => now }, timeoutMs: 10_000, signal };
  const checks = [];
  for await (const check of checkConnection(new URL(`https://127.0.0.1:${port}`), options)) {
    checks.push([check.check, check.status, check.finding]);
  }
  await new Promise((resolve) => server.close(resolve));
  expect(checks).toEqual([
    ["connection", "ok", expect.stringMatching(/^127\.0\.0\.1 port \d+, \d+ ms$/)],
    ["certificate", "fail", "not trusted: DEPTH_ZERO_SELF_SIGNED_CERT"],
  ]);
  expect(received).toBe(0);
});
