import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Manifest } from "../../../../src/core/manifest.js";
import { type AnsweringServer, startAnsweringServer } from "../../../helpers/answering-server.js";
import { enrichHere } from "../../../helpers/enrich-here.js";
import { runRepute } from "../../../helpers/run-repute.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const rows = 1_000;
const input = `domain\n${Array.from({ length: rows }, (_, n) => `host-${n}.example.com\n`).join("")}`;
const mostRequests = rows + 2 * 32;

it("waits for a service that goes down and comes back, without losing a row", async () => {
  const server = await startAnsweringServer();
  const stopped = requestsOf(server, 300).then(() => server.stop());
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
  const { server, args, out } = await prepared();
  const stopped = requestsOf(server, 300).then(() => server.stop());
  const { code, stderr } = await runRepute([...args, "--outage-patience", "1s"]);
  await stopped;
  expect(code).toBe(1);
  expect(stderr).toMatch(/^repute: nothing but errors from http:\/\/127\.0\.0\.1.*\n.*--resume/m);
  expect(stderr).not.toContain("    at ");
  expect(existsSync(out)).toBe(false);
  await server.start();
  expect((await runRepute([...args, "--resume"])).code).toBe(0);
  const manifest = JSON.parse(await readFile(`${out}.manifest.json`, "utf8")) as Manifest;
  expect(manifest.statuses.complete).toBe(rows);
  expect(server.total).toBeLessThanOrEqual(mostRequests);
});

/** A service, and the command that enriches the rows from it. */
async function prepared() {
  const [folder, server] = [await temporaryFolder(), await startAnsweringServer()];
  await writeFile(join(folder, "in.csv"), input);
  await mkdir(join(folder, "out"));
  const out = join(folder, "out", "out.csv");
  const service = ["--intel-url", server.url, "--lookups", "query", "--rate", "2000/s"];
  return { server, folder, out, args: ["enrich", join(folder, "in.csv"), "-o", out, ...service] };
}

/** Resolves once this many requests were made in total. */
function requestsOf(server: AnsweringServer, total: number): Promise<void> {
  return new Promise((resolve) => {
    server.onRequest = (made) => {
      if (made === total) resolve();
      return true;
    };
  });
}
