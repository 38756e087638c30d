import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { repute } from "../../../src/index.js";
import { sampleAccessToken } from "../../../src/service/service.js";
import { startAnsweringServer } from "../../helpers/answering-server.js";
import { RedisServer } from "../../helpers/redis-server.js";
import { runRepute, startRepute } from "../../helpers/run-repute.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { workspace } from "../../helpers/workspace.js";
import { runningService } from "../../service/running-service.js";
import { collected } from "../api/answers.js";

const redis = await RedisServer.start();
afterAll(() => redis.stop());

const key = "key-of-the-worker";

async function startWorker(url: string, intelUrl: string, env = {}): Promise<void> {
  const worker = startRepute(["worker", url, "--intel-url", intelUrl], { env });
  onTestFinished(() => void worker.child.kill("SIGTERM"));
  await worker.waitFor("stderr", /answering lookups/);
}

/** A service that wants a key, and the only process that has it. */
async function service() {
  const started = await runningService({ synthetic: 1, apiKey: key });
  await startWorker(redis.url(), started.intelUrl, { REPUTE_API_KEY: key });
  const cwd = await temporaryFolder();
  const env = {
    REPUTE_INTEL_URL: started.intelUrl,
    REPUTE_OPS_URL: started.opsUrl,
    REPUTE_ACCESS_TOKEN: sampleAccessToken,
  };
  return { cwd, env };
}

const timeless = (text: string): string => text.replaceAll(/"?202\d-[^,"\s]*Z"?/g, "");

test.each([
  ["query", ["query", "example.com", "192.0.2.1", "https://example.com/a?b=c"]],
  ["quick-check", ["quick-check", "example.com", "2001:db8::1"]],
  ["case enrich", ["case", "enrich", "case-2001", "--quiet"]],
])("%s through workers, without a key, prints what it prints with one", async (_, args) => {
  const { cwd, env } = await service();
  const all = [...args, "--bogons", "ask"];
  const direct = await runRepute(all, { cwd, env: { ...env, REPUTE_API_KEY: key } });
  const through = await runRepute([...all, "--workers", redis.url()], { cwd, env });
  expect([through.code, through.stderr]).toEqual([0, ""]);
  expect(direct.stdout).not.toBe("");
  expect(timeless(through.stdout)).toBe(timeless(direct.stdout));
});

test("retry through workers asks for the partial rows only", async () => {
  const server = await startAnsweringServer();
  await startWorker(redis.url(), server.url);
  const names = Array.from({ length: 20 }, (_, n) => `h${n}.example.com`);
  const { run, records } = await workspace({ "in.txt": `${names.join("\n")}\n` });
  for (const name of names.slice(3, 6)) server.partial.add(name);
  const through = ["--intel-url", server.url, "--workers", redis.url(), "--quiet"];
  const asked = ["--lookups", "query", "--fail-on", "never", ...through];
  const enrich = ["enrich", "in.txt", "-o", "out.csv", "--partial-retries", "0", ...asked];
  expect(await run(...enrich)).toMatchObject({ code: 0 });
  server.partial.clear();
  expect(await run("retry", "out.csv", ...asked)).toMatchObject({ code: 0 });
  expect(server.total).toBe(23);
  const statuses = (await records()).map((row) => row["rep_status"]);
  expect(statuses).toEqual(names.map(() => "complete"));
});

test("the library asks through workers: single lookups, many, and a file", async () => {
  const { env } = await service();
  const names = ["example.com", "example.net", "example.org"];
  const { at } = await workspace({ "in.txt": `${names.join("\n")}\n` });
  const url = env.REPUTE_INTEL_URL;
  const client = repute({ url, workers: redis.url() });
  onTestFinished(() => client.close());
  const direct = repute({ url, apiKey: key });
  onTestFinished(() => direct.close());
  const { verdict } = await client.lookup("example[.]com");
  expect(verdict).toBe((await direct.lookup("example.com")).verdict);
  const statusesOf = async (asking: typeof client) =>
    (await collected(asking.lookupAll(names))).map(({ status }) => status);
  expect(await statusesOf(client)).toEqual(await statusesOf(direct));
  const { statuses } = await client.enrichFile(at("in.txt"), at("out.csv"));
  expect(statuses.complete + statuses.partial).toBe(3);
});

test("the library ends without workers once its patience is over", async () => {
  const url = "http://127.0.0.1:9/beta";
  const client = repute({ url, workers: redis.url(), outagePatience: "1s" });
  onTestFinished(() => client.close());
  await expect(client.lookup("example.com")).rejects.toMatchObject({ code: "workers_away" });
});

/** Keys and certificates of a server, signed by an authority of its own, and that authority's. */
async function certificates() {
  const folder = await temporaryFolder();
  const openssl = (line: string): void => {
    execFileSync("openssl", line.split(" "), { cwd: folder, stdio: "ignore" });
  };
  const fresh = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
  openssl(`req -x509 ${fresh} -days 2 -subj /CN=authority -keyout ca.key -out ca.crt`);
  const names = "subjectAltName=IP:127.0.0.1,DNS:localhost";
  openssl(`req ${fresh} -subj /CN=redis -addext ${names} -keyout redis.key -out redis.csr`);
  const signed = "-CA ca.crt -CAkey ca.key -CAcreateserial -copy_extensions copy";
  openssl(`x509 -req -in redis.csr ${signed} -days 2 -out redis.crt`);
  const at = (name: string): string => join(folder, name);
  return { key: at("redis.key"), cert: at("redis.crt"), ca: at("ca.crt") };
}

test("rediss:// checks the certificate, and takes that of a private authority", async () => {
  const tls = await certificates();
  const secured = await RedisServer.start({ tls });
  onTestFinished(() => secured.stop());
  const server = await startAnsweringServer();
  const asked = ["--intel-url", server.url];
  const query = ["query", "example.com", ...asked, "--workers", secured.url()];
  const refused = expect.stringMatching(/certificate[^]*NODE_EXTRA_CA_CERTS/) as string;
  for (const command of [query, ["worker", secured.url(), ...asked]]) {
    const end = await runRepute(command, { ownProcess: true });
    expect(end).toMatchObject({ code: 1, stderr: refused });
  }
  const env = { NODE_EXTRA_CA_CERTS: tls.ca };
  await startWorker(secured.url().replace("127.0.0.1", "localhost"), server.url, env);
  const { code, stdout } = await runRepute(query, { ownProcess: true, env });
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { item: "example.com" }]);
});
