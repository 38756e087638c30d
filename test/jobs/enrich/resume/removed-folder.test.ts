import { mkdirSync, renameSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { column, servedWorkspace } from "../../../helpers/workspace.js";

const names = Array.from({ length: 120 }, (_, n) => `h${n}.example.com`);

const concurrency = 4;

/** An output, and the folder that its state is in. */
const outputs = {
  "out/o.csv": "out/o.csv.state",
  "out/o.ndjson.gz": "out/o.ndjson.gz.state",
  "out/o.parquet": "out/o.parquet.state",
  "duckdb:out/o.db?table=t": "out/o.db.t.state",
} as const;

/** What happens to the folders of a run, by the name of its state folder. */
const losses: Readonly<Record<string, (state: string) => void>> = {
  "whose folder is removed": () => rmSync("out", { recursive: true }),
  "whose folder is moved": () => renameSync("out", "elsewhere"),
  "whose folder is emptied": () => {
    rmSync("out", { recursive: true });
    mkdirSync("out");
  },
  "whose state is removed": (state) => rmSync(state, { recursive: true }),
};

const cases = Object.entries(outputs).flatMap(([output, state]) =>
  Object.keys(losses).map((loss) => [output, loss, state] as const),
);

async function started(output: string) {
  const place = await servedWorkspace({ "in.csv": column("domain", names) });
  const { at, server, run } = place;
  await mkdir(at("out"));
  const service = ["--intel-url", server.url, "--lookups", "query", "--rate", "9000/s"];
  const args = ["in.csv", "-o", output, ...service, "--concurrency", String(concurrency)];
  const enrich = (...flags: readonly string[]) => run("enrich", ...args, ...flags);
  /** Runs it, and loses something after some of its requests. */
  const lose = (loss: () => void) => {
    server.onRequest = (total) => {
      if (total === 50) loss();
      return true;
    };
    return enrich();
  };
  return { ...place, enrich, lose };
}

test.each(cases)("a run to %s %s keeps its answers", async (output, loss, state) => {
  const { at, server, run, enrich, lose } = await started(output);
  const { code, stderr } = await lose(() => losses[loss]!(state));
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(
      /\.state was removed during the run; its answers are saved there again\n {2}continue with --resume$/m,
    ),
  ]);
  await mkdir(at("out"), { recursive: true });
  const resumed = await enrich("--resume");
  expect([resumed.code, resumed.stderr]).toEqual([0, expect.stringContaining("took over")]);
  expect(server.asked.size).toBe(names.length);
  // Those that were open when the run ended may be repeated.
  expect(server.total).toBeLessThanOrEqual(names.length + concurrency);
  expect(await run("verify", output)).toMatchObject({ code: 0 });
});
