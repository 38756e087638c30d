import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type AnsweringServer, startAnsweringServer } from "../helpers/answering-server.js";
import { RedisServer, type RedisServerOptions } from "../helpers/redis-server.js";
import { runRepute, startRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

async function serverWith(options: RedisServerOptions): Promise<RedisServer> {
  const redis = await RedisServer.start(options);
  onTestFinished(() => redis.stop());
  return redis;
}

/** A dump of 30 rows and a service that answers. */
async function dump(): Promise<{ readonly folder: string; readonly service: AnsweringServer }> {
  const [folder, service] = await Promise.all([temporaryFolder(), startAnsweringServer()]);
  onTestFinished(() => service.close());
  const items = Array.from({ length: 30 }, (_, n) => `h${n}.example.com`);
  await writeFile(join(folder, "in.csv"), `domain\n${items.join("\n")}\n`);
  return { folder, service };
}

/** A key and a certificate for 127.0.0.1, signed by an authority of our own. */
function certificates(folder: string): NonNullable<RedisServerOptions["tls"]> {
  const openssl = (...args: readonly string[]): void => {
    execFileSync("openssl", args, { cwd: folder, stdio: "ignore" });
  };
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const own = ["-subj", "/CN=repute", "-keyout", "ca.key", "-out", "ca.pem"];
  openssl("req", "-x509", ...curve, "-days", "2", ...own);
  const name = ["-subj", "/CN=redis", "-addext", "subjectAltName=IP:127.0.0.1"];
  openssl("req", ...curve, ...name, "-keyout", "redis.key", "-out", "redis.csr");
  const signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2"];
  const to = ["-copy_extensions", "copy", "-out", "redis.pem"];
  openssl("x509", "-req", "-in", "redis.csr", ...signed, ...to);
  const path = (file: string): string => join(folder, file);
  return { key: path("redis.key"), cert: path("redis.pem"), ca: path("ca.pem") };
}

test("queue, pace and answers go through TLS to a server whose certificate is known", async () => {
  const { folder, service } = await dump();
  const tls = certificates(folder);
  const redis = await serverWith({ tls });
  const env = { NODE_EXTRA_CA_CERTS: tls.ca, NODE_OPTIONS: "--throw-deprecation" };
  const worker = startRepute(["worker", redis.url(), "--intel-url", service.url], { env });
  const spread = [
    "--workers",
    redis.url(),
    "--work",
    join(folder, "work"),
    "--cache",
    redis.url(1),
  ];
  const output = join(folder, "out.csv");
  const to = ["-o", output, "--intel-url", service.url, "--lookups", "query"];
  const args = ["enrich", join(folder, "in.csv"), ...to, ...spread];
  const { code, stderr } = await startRepute(args, { env }).result;
  expect([code, stderr]).toEqual([0, expect.stringContaining("30 read, 30 written")]);
  expect(service.total).toBe(30);
  expect((await readFile(output, "utf8")).trimEnd().split("\n")).toHaveLength(31);
  worker.child.kill("SIGTERM");
  expect(await worker.result).toMatchObject({ code: 0 });

  const unknown = await runRepute(["doctor", "--local", "--cache", redis.url(1)]);
  expect(unknown.code).toBe(1);
  expect(unknown.stdout).toMatch(/rediss:\/\/\S+: SELF_SIGNED_CERT_IN_CHAIN/);
  expect(unknown.stdout).toContain("NODE_EXTRA_CA_CERTS");
});

test("a user with the documented rights is enough; a cluster is refused", async () => {
  const redis = await serverWith({ settings: { "cluster-enabled": "yes" } });
  await redis.command("CLUSTER", "ADDSLOTSRANGE", 0, 16_383);
  const { folder, service } = await dump();
  const run = async (pace: string) => {
    const to = ["-o", join(folder, "out.csv"), "--intel-url", service.url, "--lookups", "query"];
    return runRepute(["enrich", join(folder, "in.csv"), ...to, "--pace", pace]);
  };
  const { code, stderr } = await run(redis.url());
  expect([code, stderr]).toEqual([1, expect.stringContaining("clusters are not supported")]);

  const single = await serverWith({});
  const docs = await readFile(new URL("../../docs/scale.md", import.meta.url), "utf8");
  const [, commands = "", keys = ""] =
    /limited rights needs `([^`]+)` and `([^`]+)`/.exec(docs) ?? [];
  const rights = [keys, ...commands.split(" ")];
  await single.command("ACL", "SETUSER", "limited", "on", ">secret", ...rights);
  const done = await run(single.url().replace("//", "//limited:secret@"));
  expect([done.code, done.stderr]).toEqual([0, expect.stringContaining("30 written")]);
});
