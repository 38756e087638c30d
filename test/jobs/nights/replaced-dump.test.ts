import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startService } from "../../../src/service/service.js";
import { queryDuckdb } from "../../io/output/tables/warehouse-readers.js";
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

interface Output {
  readonly args: readonly string[];
  /** The items in the output, in order. */
  readonly items: (cwd: string) => Promise<readonly unknown[]>;
}

const outputs: Readonly<Record<string, Output>> = {
  CSV: {
    args: ["-o", "out.csv"],
    items: async (cwd) => {
      const text = await readFile(join(cwd, "out.csv"), "utf8");
      return text.match(/198\.51\.100\.\d+(?=,ip,)/g) ?? [];
    },
  },
  "a DuckDB table": {
    args: ["-o", "duckdb:out.duckdb?table=t"],
    items: async (cwd) => {
      // The rows of the nights before stay.
      const manifest = await readFile(join(cwd, "out.duckdb.t.manifest.json"), "utf8");
      const { run_id } = JSON.parse(manifest) as { run_id: string };
      const rows = await queryDuckdb(
        `SELECT rep_item FROM t WHERE rep_run_id = '${run_id}' ORDER BY rep_row`,
        join(cwd, "out.duckdb"),
      );
      return rows.map((row) => row["rep_item"]);
    },
  },
};

test.each(Object.entries(outputs))(
  "two nights stop early, and the third writes %s: no request is repeated",
  async (_, { args, items }) => {
    const { asked, url } = await service();
    const cwd = await temporaryFolder();
    const fixed = ["dump.csv", ...args, ...url, "--resume", "--quiet"];
    for (const [night, dump] of dumps.entries()) {
      const early = night === dumps.length - 1 ? [] : ["--max-requests", "25"];
      await writeFile(join(cwd, "dump.csv"), `ip\n${dump.join("\n")}\n`);
      const { code, stderr } = await runRepute(["enrich", ...fixed, ...early], { cwd });
      expect([code, stderr.replace(/^repute: stopped early: --max-requests.*\n/, "")]).toEqual([
        early.length === 0 ? 0 : 75,
        "",
      ]);
    }
    expect(await items(cwd)).toEqual(dumps.at(-1));
    expect(asked).toHaveLength(new Set(asked).size);
    expect((await readdir(cwd)).filter((name) => /state|part$/.test(name))).toEqual([]);
  },
);

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
