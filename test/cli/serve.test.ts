import { expect, test } from "vitest";
import { runRepute, startRepute } from "../helpers/run-repute.js";

test("prints its address and serves there", async () => {
  const { waitFor } = startRepute(["serve"]);
  const [, intelUrl] = await waitFor("stdout", /^intel (\S+\/beta) {2}ops (\S+) {2}case (\S+)\n/);
  const answer = await fetch(`${intelUrl}/query/192.0.2.1`);
  expect(await answer.json()).toMatchObject({ statusCode: answer.status });
});

test("prints it as JSON with --json", async () => {
  const { waitFor } = startRepute(["serve", "--json"]);
  const [line] = await waitFor("stdout", /^.*\n/);
  expect(Object.keys(JSON.parse(line) as object)).toEqual(["intel_url", "ops_url", "case_url"]);
});

test.each(["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"] as const)(
  "ends with 0 on %s",
  async (name) => {
    const { child, waitFor, result } = startRepute(["serve"]);
    await waitFor("stdout", /\n/);
    child.kill(name);
    expect(await result).toMatchObject({ code: 0, signal: null, stderr: "" });
  },
);

test("prints the request counts on SIGUSR1 and continues", async () => {
  const { child, waitFor, result } = startRepute(["serve"]);
  const [, intelUrl] = await waitFor("stdout", /^intel (\S+\/beta) /);
  await fetch(`${intelUrl}/quick-check/192.0.2.1`);
  child.kill("SIGUSR1");
  await waitFor("stderr", /\n/);
  expect((await fetch(`${intelUrl}/quick-check/192.0.2.1`)).status).toBe(200);
  child.kill("SIGTERM");
  expect(await result).toMatchObject({
    code: 0,
    stderr: `repute: serving ${intelUrl}: requests 1, in flight 0\n`,
  });
});

test("takes the operations interface token from the environment", async () => {
  const { waitFor } = startRepute(["serve"], { env: { REPUTE_ACCESS_TOKEN: "t-1" } });
  const [, opsUrl] = await waitFor("stdout", / ops (\S+)/);
  const headers = { authorization: "Bearer t-1" };
  const answer = await fetch(`${opsUrl}/beta/ops/customers`, { headers });
  expect(answer.status).toBe(200);
});

test("ends with 1 if the port is taken", async () => {
  const { waitFor } = startRepute(["serve"]);
  const [, port = ""] = await waitFor("stdout", /:(\d+)\/beta/);
  expect(await runRepute(["serve", "--port", port])).toMatchObject({ code: 1, stdout: "" });
});

test("ends with 2 if the dataset does not exist", async () => {
  const { code, stderr } = await runRepute(["serve", "--dataset", "no-such-folder"]);
  expect(code).toBe(2);
  expect(stderr).toContain("no-such-folder");
});

test("warns when it listens beyond the loopback interface, even with --quiet", async () => {
  const { child, waitFor, result } = startRepute(["serve", "--host", "0.0.0.0", "--quiet"]);
  const [, port = ""] = await waitFor("stdout", /:(\d+)\/beta/);
  child.kill("SIGTERM");
  expect((await result).stderr).toBe(
    `repute: warning: listening on 0.0.0.0, reachable from other machines: anyone who can connect to port ${port} can read the dataset, change cases and fire webhooks\n`,
  );
});
