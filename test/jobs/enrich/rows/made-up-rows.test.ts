import { describe, expect, test } from "vitest";
import { queryDuckdb } from "../../../io/output/tables/warehouse-readers.js";
import { startAnsweringServer } from "../../../helpers/answering-server.js";
import { workspace } from "../../../helpers/workspace.js";
import { runningService } from "../../../service/running-service.js";

const items = ["d1.example.com", "d2.example.com", "d1.example.com", "d3.example.com"];

/** How each service is named, and the source of its answers. */
const services = {
  "a real one": ["live", () => realService()],
  "--local": ["sample", async () => ["--local"]],
  "repute serve": ["sample", () => served()],
  "--synthetic": ["invented", async () => ["--local", "--synthetic", "1"]],
  "repute serve --synthetic": ["invented", () => served(1)],
} as const satisfies Record<string, readonly [string, () => Promise<readonly string[]>]>;

type ServiceName = keyof typeof services;

async function realService(): Promise<readonly string[]> {
  return ["--intel-url", (await startAnsweringServer()).url];
}

async function served(synthetic?: number): Promise<readonly string[]> {
  const service = await runningService(synthetic === undefined ? {} : { synthetic });
  return ["--intel-url", service.intelUrl];
}

async function prepared() {
  const place = await workspace({ "in.csv": `domain\n${items.join("\n")}\n` });
  const run = async (name: ServiceName, ...args: readonly string[]) =>
    place.run("enrich", "in.csv", ...args, ...(await services[name][1]()));
  return { ...place, run };
}

test.each(Object.entries(services))(
  "rows say whose answers they hold: %s",
  async (name, [source]) => {
    const { run, records, manifest: manifestOf } = await prepared();
    const { code, stderr } = await run(name as ServiceName, "-o", "out.csv");
    expect(code, stderr).toBe(0);
    const sources = (await records()).map((row) => row["rep_source"]);
    expect(sources).toEqual([source, source, "duplicate", source]);
    const manifest = await manifestOf("out.csv");
    expect(manifest.sources[source]).toBe(3);
    expect([manifest.sample, manifest.synthetic]).toEqual([
      source === "sample" ? true : undefined,
      source === "invented" ? true : undefined,
    ]);
    expect(
      /^ +made up +(\w+) data: [^]*?say\s+nothing\s+about\s+real\s+hosts$/m.exec(stderr)?.[1],
    ).toBe({ live: undefined, sample: "Sample", invented: "Invented" }[source]);
  },
);

describe("a table never mixes made-up rows with those of a real service", () => {
  const real = "a real one";
  test.each<[ServiceName, ServiceName, number, mode?: string]>([
    [real, "--local", 2],
    [real, "--synthetic", 2, "merge"],
    [real, "--local", 2, "replace"],
    [real, "repute serve", 1],
    [real, "repute serve --synthetic", 1, "merge"],
    ["--local", real, 1],
    ["--synthetic", real, 1, "merge"],
    ["repute serve --synthetic", real, 1, "replace"],
  ])("%s, then %s", async (first, second, code, mode = "append") => {
    const { at, run } = await prepared();
    const out = ["-o", "duckdb:t.duckdb?table=t", "--mode", mode, "--resume", "-q"];
    expect(await run(first, ...out)).toMatchObject({ code: 0 });
    const content = () => queryDuckdb("SELECT * FROM t ORDER BY ALL", at("t.duckdb"));
    const before = await content();
    const refused = await run(second, ...out);
    expect([refused.code, refused.stderr]).toEqual([code, expect.stringContaining("made-up")]);
    expect(refused.stderr).toContain("write to another table");
    expect(await content()).toEqual(before);
  });

  test("samples and inventions may stand together", async () => {
    const { run } = await prepared();
    const out = ["-o", "duckdb:t.duckdb?table=t"];
    for (const name of ["--local", "repute serve --synthetic", "repute serve"] as const) {
      expect(await run(name, ...out)).toMatchObject({ code: 0 });
    }
  });
});
