import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { aPlace, domains } from "../../../helpers/a-place.js";
import { startAnsweringServer } from "../../../helpers/answering-server.js";
import { enrichHere } from "../../../helpers/enrich-here.js";
import { runRepute } from "../../../helpers/run-repute.js";

const rows = 1_000;
const input = domains(Array.from({ length: rows }, (_, n) => `host-${n}.example.com`));
const mostRequests = rows + 2 * 32;

it("waits for a service that goes down and comes back, without losing a row", async () => {
  const server = await startAnsweringServer();
  const stopped = server.untilAsked(300).then(() => server.stop());
  const said: string[] = [];
  const { manifest } = await enrichHere({
    input: ["in.csv", input],
    intelUrl: server.url,
    settings: { lookups: "query", rate: "2000/s" },
    onWarning(message) {
      said.push(message);
      if (message.endsWith("the run waits and probes it")) void stopped.then(() => server.start());
    },
  });
  expect(said).toEqual([
    expect.stringContaining("nothing but errors from"),
    expect.stringContaining("answers again after"),
  ]);
  expect(manifest.statuses.complete).toBe(rows);
  expect(server.total).toBeLessThanOrEqual(mostRequests);
});

it("ends with one clear line when a service stays down, and resumes later", async () => {
  const { server, cwd, manifest } = await aPlace({ "in.csv": input });
  const service = ["--intel-url", server.url, "--lookups", "query", "--rate", "2000/s"];
  const args = ["enrich", "in.csv", "-o", "out.csv", ...service];
  const stopped = server.untilAsked(300).then(() => server.stop());
  const { code, stderr } = await runRepute([...args, "--outage-patience", "1s"], { cwd });
  await stopped;
  expect(code).toBe(1);
  expect(stderr).toMatch(/^repute: nothing but errors from http:\/\/127\.0\.0\.1.*\n.*--resume/m);
  expect(stderr).not.toContain("    at ");
  expect(existsSync(join(cwd, "out.csv"))).toBe(false);
  await server.start();
  expect((await runRepute([...args, "--resume"], { cwd })).code).toBe(0);
  expect((await manifest()).statuses.complete).toBe(rows);
  expect(server.total).toBeLessThanOrEqual(mostRequests);
});
