import { mkdirSync, renameSync, rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startAnsweringServer } from "../../../helpers/answering-server.js";
import { runRepute } from "../../../helpers/run-repute.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const names = Array.from({ length: 120 }, (_, n) => `h${n}.example.com`);

const concurrency = 4;

/** What happens to the folders of a run. */
const losses: Readonly<Record<string, () => void>> = {
  "whose folder is removed": () => rmSync("out", { recursive: true }),
  "whose folder is emptied": () => {
    rmSync("out", { recursive: true });
    mkdirSync("out");
  },
  "whose state is removed": () => rmSync("out/o.csv.state", { recursive: true }),
};

async function started() {
  const cwd = await temporaryFolder();
  await mkdir(join(cwd, "out"));
  await writeFile(join(cwd, "in.csv"), `domain\n${names.join("\n")}\n`);
  const server = await startAnsweringServer();
  const service = [
    "--intel-url",
    server.url,
    "--lookups",
    "query",
    "--rate",
    "9000/s",
    "--concurrency",
    String(concurrency),
  ];
  const enrich = (...flags: readonly string[]) =>
    runRepute(["enrich", "in.csv", "-o", "out/o.csv", ...service, ...flags], { cwd });
  /** Runs it, and loses something after some of its requests. */
  const lose = (loss: () => void) => {
    server.onRequest = (total) => {
      if (total === 50) loss();
      return true;
    };
    return enrich();
  };
  return { cwd, server, enrich, lose };
}

test.each(Object.keys(losses))("a run %s keeps its answers", async (loss) => {
  const { cwd, server, enrich, lose } = await started();
  const { code, stderr } = await lose(losses[loss]!);
  const message =
    /o\.csv\.state was removed during the run; its answers are saved there again\n {2}continue with --resume$/m;
  expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
  await mkdir(join(cwd, "out"), { recursive: true });
  const resumed = await enrich("--resume");
  expect([resumed.code, resumed.stderr]).toEqual([0, expect.stringContaining("took over")]);
  expect(server.asked.size).toBe(names.length);
  // Those that were open when the run ended may be repeated.
  expect(server.total).toBeLessThanOrEqual(names.length + concurrency);
  expect(await runRepute(["verify", "out/o.csv"], { cwd })).toMatchObject({ code: 0 });
});

test("a run whose folder is moved goes on where it is moved back", async () => {
  const { cwd, server, enrich, lose } = await started();
  const { code, stderr } = await lose(() => renameSync("out", "elsewhere"));
  const message =
    /o\.csv\.state was moved during the run\n {2}move it back, then continue with --resume$/m;
  expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
  renameSync(join(cwd, "elsewhere"), join(cwd, "out"));
  expect(await enrich("--resume")).toMatchObject({ code: 0 });
  expect(server.asked.size).toBe(names.length);
  // Those that were open when the run ended may be repeated.
  expect(server.total).toBeLessThanOrEqual(names.length + 4);
  expect(await runRepute(["verify", "out/o.csv"], { cwd })).toMatchObject({ code: 0 });
});
