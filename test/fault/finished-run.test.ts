import { existsSync } from "node:fs";
import { readFile, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type AnsweringServer, startAnsweringServer } from "../helpers/answering-server.js";
import { enrichHere } from "../helpers/enrich-here.js";
import type { EnrichHereOptions } from "../helpers/enrich-here.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const input: EnrichHereOptions["input"] = [
  "in.csv",
  "item\na.example.com\nb.example.com\na.example.com\n",
];

/** A run killed just before its last step. */
async function killedAtTheEnd(server: AnsweringServer, output = "out.csv") {
  const folder = await temporaryFolder();
  const options = { input, output, folder, intelUrl: server.url };
  const run = await enrichHere({ ...options, onFinished: () => undefined });
  // The lock of a dead process would be taken over, but this process is alive.
  await rm(join(folder, `${output}.state`, "lock"));
  return { run, options, folder };
}

async function answering(): Promise<AnsweringServer> {
  const server = await startAnsweringServer();
  onTestFinished(() => server.close());
  return server;
}

const resume = { resume: true };

test("a resume returns the result of a finished run without a request", async () => {
  const server = await answering();
  const { run, options, folder } = await killedAtTheEnd(server);
  const before = server.total;
  const again = await enrichHere({ ...options, settings: resume });
  expect(again.manifest).toEqual({ ...run.manifest, resumed: 1 });
  expect(again.text).toBe(run.text);
  expect(server.total).toBe(before);
  expect((await readdir(folder)).sort()).toEqual(["in.csv", "out.csv", "out.csv.manifest.json"]);
});

test("a resume renames the files that the finished run had not renamed yet", async () => {
  const { run, options, folder } = await killedAtTheEnd(await answering());
  await rename(join(folder, "out.csv"), join(folder, "out.csv.part"));
  await rm(join(folder, "out.csv.manifest.json"));
  const again = await enrichHere({ ...options, settings: resume });
  expect(again.text).toBe(run.text);
  const saved: unknown = JSON.parse(await readFile(join(folder, "out.csv.manifest.json"), "utf8"));
  expect(saved).toEqual({ ...run.manifest, resumed: 1 });
});

test("the mark counts wherever the kill left it", async () => {
  const { run, options, folder } = await killedAtTheEnd(await answering());
  const state = join(folder, "out.csv.state");
  await rename(join(state, "finished.json"), `${state}.finished`);
  await rm(state, { recursive: true });
  const again = await enrichHere({ ...options, settings: resume });
  expect(again.manifest.run_id).toBe(run.manifest.run_id);
  expect(existsSync(`${state}.finished`)).toBe(false);
});

test("another input starts a new run after the finished one is published", async () => {
  const server = await answering();
  const { run, options, folder } = await killedAtTheEnd(server);
  await rm(join(folder, "out.csv.manifest.json"));
  const warnings: string[] = [];
  const next = await enrichHere({
    ...options,
    input: ["in.csv", "item\nc.example.com\n"],
    settings: resume,
    onWarning: (message) => void warnings.push(message),
  });
  expect(next.manifest.run_id).not.toBe(run.manifest.run_id);
  expect(next.records().map(({ item }) => item)).toEqual(["c.example.com"]);
  expect(warnings.join()).toContain("completed the interrupted run");
});

test("does not overwrite a killed finished run without a flag", async () => {
  const { options } = await killedAtTheEnd(await answering());
  await expect(enrichHere(options)).rejects.toMatchObject({ code: "state_exists" });
});

test("a missing output of a finished run is an error, not a second run", async () => {
  const { options, folder } = await killedAtTheEnd(await answering());
  await rm(join(folder, "out.csv"));
  await expect(enrichHere({ ...options, settings: resume })).rejects.toMatchObject({
    code: "output_gone",
  });
});
