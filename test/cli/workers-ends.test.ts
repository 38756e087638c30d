import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startAnsweringServer } from "../helpers/answering-server.js";
import { runRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { workerHere } from "../helpers/worker-here.js";

test("a run with workers says whether it can be resumed", async () => {
  const cwd = await temporaryFolder();
  const server = await startAnsweringServer();
  onTestFinished(() => server.close());
  const items = Array.from({ length: 40 }, (_, n) => `h${n}.example.com`);
  await writeFile(join(cwd, "in.csv"), `domain\n${items.join("\n")}\n`);
  const spread = ["--workers", "2", "--rows-per-chunk", "10", "--lookups", "query"];
  const args = ["enrich", "in.csv", "-o", "out.csv", "--intel-url", server.url, ...spread];
  const end = async (...flags: readonly string[]): Promise<unknown> => {
    const { code, stdout } = await runRepute([...args, "--json", ...flags], {
      cwd,
      startWorker: workerHere,
    });
    const said = JSON.parse(stdout) as { readonly exit_code: number };
    expect(said.exit_code).toBe(code);
    return said;
  };
  const spent = { exit_code: 75, exit_reason: "budget", resumable: true };
  expect(await end("--rate", "1000/s", "--max-requests", "15")).toMatchObject(spent);
  const kept = await readFile(join(cwd, "out.csv.state", "manifest.json"), "utf8");
  expect(JSON.parse(kept)).toMatchObject({ ...spent, requests: { query: { total: 15 } } });
  const done = { exit_reason: "done", exit_code: 0, resumable: false, output: { rows: 40 } };
  expect(await end("--resume")).toMatchObject(done);
  const nothing = ["--item-column", "missing"];
  expect(await end("--restart", ...nothing)).toMatchObject({ exit_code: 2, resumable: false });
});
