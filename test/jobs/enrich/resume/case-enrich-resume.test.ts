import { expect, test } from "vitest";
import { reply, startScriptedServer } from "../../../helpers/scripted-server.js";
import { workspace } from "../../../helpers/workspace.js";
import { ipResult, success } from "../../../client/api/answers.js";

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
  const place = await workspace();
  const service = ["--ops-url", server.url, "--intel-url", server.url, "--concurrency", "1"];
  const args = ["case", "enrich", "c-1", "-o", "out.csv", "--lookups", "query", ...service];
  const run = (...more: string[]) => place.run(...args, "--quiet", ...more);
  expect(await run()).toMatchObject({ code: 1 });
  state.refuses = "";
  const asked = () => server.requests.filter(({ path }) => path === "/query/192.0.2.1").length;
  return { ...place, run, state, asked };
}

test("resumes an interrupted run over a case without repeating a request", async () => {
  const { run, records, asked } = await stoppedRun();
  const { code } = await run("--resume");
  expect([code, (await records()).length, asked()]).toEqual([0, 3, 1]);
});

test("starts a new run with the answers so far if the case has changed", async () => {
  const { run, read, state, asked } = await stoppedRun();
  state.case = "CLOSED";
  const { code } = await run("--resume");
  const changed = (await read("out.csv")).match(/CLOSED/g);
  expect([code, changed?.length, asked()]).toEqual([0, 3, 1]);
});
