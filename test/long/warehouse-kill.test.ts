import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { queryDuckdb } from "../contract/warehouse-readers.js";

const writer = fileURLToPath(new URL("../contract/warehouse-writer.mjs", import.meta.url));
const total = 4_000;

interface Kill {
  readonly step: string;
  readonly times: number;
}

/** In the order in which a run reaches them. */
const moments: readonly Kill[] = [
  { step: "durable", times: 1 },
  { step: "saved", times: 2 },
  { step: "written", times: 9 },
  { step: "durable", times: 3 },
  { step: "preparing", times: 2 },
  { step: "preparing, all read", times: 1 },
  { step: "prepared", times: 1 },
  { step: "saved", times: 2 },
];

/** Where a Parquet file is renamed, and rows are committed. */
const ends = {
  parquet: [{ step: "committed", times: 1 }],
  duckdb: [
    { step: "committing", times: 2 },
    { step: "committing, all read", times: 1 },
    { step: "settling", times: 1 },
    { step: "committed", times: 1 },
  ],
} as const;

describe.each(["parquet", "duckdb"] as const)("a %s output that is killed repeatedly", (kind) => {
  it("has every row exactly once in the end", async () => {
    const folder = await temporaryFolder();
    const file = join(folder, `out.${kind}`);
    const output = kind === "duckdb" ? `duckdb:${file}?table=enriched` : file;
    const write = (kill: Kill | null): NodeJS.Signals | null => {
      const job = { output, state: join(folder, "state"), rows: total, every: 500, kill };
      const { signal, stderr, status } = spawnSync(
        process.execPath,
        [writer, JSON.stringify(job)],
        { encoding: "utf8" },
      );
      expect(stderr).toBe("");
      expect(status ?? 0).toBe(0);
      return signal;
    };
    for (const kill of [...moments, ...ends[kind]]) {
      expect([kill, write(kill)]).toEqual([kill, "SIGKILL"]);
    }
    expect(write(null)).toBeNull();

    const from = kind === "duckdb" ? "enriched" : `read_parquet('${file}')`;
    const [counts] = await queryDuckdb(
      `SELECT count(*) AS n, count(DISTINCT (rep_run_id, rep_row)) AS keys,
       bool_and(ip = 'cell ' || rep_row) AS same FROM ${from}`,
      kind === "duckdb" ? file : undefined,
    );
    expect(counts).toEqual({ n: BigInt(total), keys: BigInt(total), same: true });
  });
});
