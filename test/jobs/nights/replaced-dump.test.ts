import { expect, test } from "vitest";
import { column, servedWorkspace } from "../../helpers/workspace.js";

const dumpRows = 40;

/** Three dumps, each with a tenth of the rows of the one before it replaced, in another order. */
const dumps = [0, 1, 2].map((night) => {
  const kept = Array.from({ length: dumpRows }, (_, n) => n + 4 * night);
  return (night % 2 === 0 ? kept : kept.toReversed()).map((n) => `h${n}.example.com`);
});

/** Runs nights that read a stream. */
async function aStream() {
  const place = await servedWorkspace();
  const args = ["enrich", "-", "-o", "out.csv", "--resume"];
  const night = (items: readonly string[], ...flags: readonly string[]) =>
    place.askWith({ stdin: column("domain", items) }, ...args, ...flags);
  return { ...place, night };
}

test("a stream that turns out to be another one is refused once, and its answers are kept", async () => {
  const { server, night } = await aStream();
  expect(await night(dumps[0]!, "--max-requests", "25")).toMatchObject({ code: 75 });
  const refused = await night(dumps[1]!, "--json");
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("repeat the command with --resume") as string,
  });
  expect(JSON.parse(refused.stdout)).toMatchObject({ exit_reason: "io", resumable: true });
  const last = await night(dumps[1]!, "--json");
  expect(JSON.parse(last.stdout)).toMatchObject({ took_over: 25, exit_code: 0 });
  expect(new Set(server.asked.values())).toEqual(new Set([1]));
});

test("a stream without a row that was written is refused, even if it ends before all that was read", async () => {
  const { night, read } = await aStream();
  const rows = dumps[0]!.slice(0, 20);
  expect(await night(rows, "--max-requests", "10")).toMatchObject({ code: 75 });
  const shorter = rows.toSpliced(1, 1);
  expect(await night(shorter)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("stdin ends before byte") as string,
  });
  expect(await night(shorter)).toMatchObject({ code: 0 });
  const written = (await read("out.csv")).trimEnd().split("\n").slice(1);
  expect(written.map((row) => row.split(",")[0])).toEqual(shorter);
});
