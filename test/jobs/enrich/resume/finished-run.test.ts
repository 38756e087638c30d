import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type AnsweringServer, startAnsweringServer } from "../../../helpers/answering-server.js";
import { enrichHere, type EnrichHereOptions } from "../../../helpers/enrich-here.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

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

test("a missing output of a finished run is an error, not a second run", async () => {
  const { options, folder } = await killedAtTheEnd(await answering());
  await rm(join(folder, "out.csv"));
  await expect(enrichHere({ ...options, settings: resume })).rejects.toMatchObject({
    code: "output_gone",
  });
});

test("an output of a finished run that has changed meanwhile is not published", async () => {
  const { options, folder } = await killedAtTheEnd(await answering());
  await writeFile(join(folder, "out.csv"), "x", { flag: "r+" });
  await rm(join(folder, "out.csv.manifest.json"));
  await expect(enrichHere({ ...options, settings: resume })).rejects.toMatchObject({
    code: "output_part_damaged",
    hint: expect.stringContaining("--restart") as string,
  });
  expect(await readdir(folder)).not.toContain("out.csv.manifest.json");
});
