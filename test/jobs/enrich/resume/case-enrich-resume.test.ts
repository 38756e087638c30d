import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { reply, startScriptedServer } from "../../../helpers/scripted-server.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { ipResult, success } from "../../../client/api/answers.js";
import { runInProcess } from "../../../cli/run-in-process.js";

/** A stopped run over a case with three addresses: the service refused the second one. */
async function stoppedRun() {
  const state = { case: "NEW", refuses: "192.0.2.2" };
  const server = await startScriptedServer(({ path }) => {
    if (path.startsWith("/beta/guardian-ops/")) {
      const event_ips = ["192.0.2.1", "192.0.2.2", "192.0.2.3"];
      return reply(200, { id: "c-1", event_ips, state: state.case });
    }
    const item = path.split("/").at(-1) ?? "";
    return item === state.refuses ? reply(401) : reply(200, success({ ...ipResult(), item }));
  });
  const output = join(await temporaryFolder(), "case.csv");
  const args = ["case", "enrich", "c-1", "-o", output, "--ops-url", server.url, "--quiet"];
  const run = (...more: string[]) =>
    runInProcess([
      ...args,
      "--intel-url",
      server.url,
      "--concurrency",
      "1",
      "--lookups",
      "query",
      ...more,
    ]);
  const { code } = await run();
  expect(code).toBe(1);
  state.refuses = "";
  return { run, state, output, server };
}

test("resumes an interrupted run over a case without repeating a request", async () => {
  const { run, output, server } = await stoppedRun();
  const { code } = await run("--resume");
  const rows = (await readFile(output, "utf8")).trimEnd().split("\n").slice(1);
  const asked = server.requests
    .map(({ path }) => path)
    .filter((path) => path === "/query/192.0.2.1");
  expect([code, rows.length, asked.length]).toEqual([0, 3, 1]);
});

test("starts a new run with the answers so far if the case has changed", async () => {
  const { run, state, output, server } = await stoppedRun();
  state.case = "CLOSED";
  const { code } = await run("--resume");
  expect([code, (await readFile(output, "utf8")).match(/CLOSED/g)?.length]).toEqual([0, 3]);
  const asked = server.requests.filter(({ path }) => path === "/query/192.0.2.1");
  expect(asked).toHaveLength(1);
});
