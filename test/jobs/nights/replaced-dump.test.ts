import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startService } from "../../../src/service/service.js";
import { runRepute } from "../../helpers/run-repute.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const dumpRows = 40;

/** Three dumps, each with a tenth of the rows of the one before it replaced, in another order. */
const dumps = [0, 1, 2].map((night) => {
  const kept = Array.from({ length: dumpRows }, (_, n) => n + 4 * night);
  return (night % 2 === 0 ? kept : kept.toReversed()).map((n) => `198.51.100.${n}`);
});

/** A service that notes each lookup it is asked for. */
async function service() {
  const asked: string[] = [];
  const started = await startService({
    latency: "1ms",
    onRequest: (endpoint, subject) => void asked.push(`${endpoint} ${subject}`),
  });
  onTestFinished(() => started.close());
  return { asked, url: ["--intel-url", started.intelUrl] };
}

test("a stream that turns out to be another one is refused once, and its answers are kept", async () => {
  const { asked, url } = await service();
  const cwd = await temporaryFolder();
  const night = (number: number, ...flags: string[]) => {
    const stdin = `ip\n${dumps[number]!.join("\n")}\n`;
    const args = ["enrich", "-", "-o", "out.csv", ...url, "--resume", ...flags];
    return runRepute(args, { cwd, stdin });
  };
  expect(await night(0, "--max-requests", "25")).toMatchObject({ code: 75 });
  const refused = await night(1, "--json");
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("repeat the command with --resume") as string,
  });
  expect(JSON.parse(refused.stdout)).toMatchObject({ exit_reason: "io", resumable: true });
  const last = await night(1, "--json");
  expect(JSON.parse(last.stdout)).toMatchObject({ took_over: 25, exit_code: 0 });
  expect(asked).toHaveLength(new Set(asked).size);
});

test("a stream without a row that was written is refused, even if it ends before all that was read", async () => {
  const { url } = await service();
  const cwd = await temporaryFolder();
  const rows = dumps[0]!.slice(0, 20);
  const night = (items: readonly string[], ...flags: string[]) => {
    const args = ["enrich", "-", "-o", "out.csv", ...url, "--resume", ...flags];
    return runRepute(args, { cwd, stdin: `ip\n${items.join("\n")}\n` });
  };
  expect(await night(rows, "--max-requests", "20")).toMatchObject({ code: 75 });
  const shorter = rows.toSpliced(1, 1);
  expect(await night(shorter)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("stdin ends before byte") as string,
  });
  expect(await night(shorter)).toMatchObject({ code: 0 });
  const text = await readFile(join(cwd, "out.csv"), "utf8");
  const written = text.trimEnd().split("\n").slice(1);
  expect(written.map((row) => row.split(",")[0])).toEqual(shorter);
});
