import { readdir, symlink } from "node:fs/promises";
import { beforeEach, describe, expect, test } from "vitest";
import type { Manifest } from "../../../src/core/manifest.js";
import {
  reply,
  type ScriptedServer,
  startScriptedServer,
  type Step,
} from "../../helpers/scripted-server.js";
import { type Workspace, workspace } from "../../helpers/workspace.js";
import { queryDuckdb } from "../../io/output/tables/warehouse-readers.js";
import { failure, ipResult, success } from "../../client/api/answers.js";

const snapshot = "0123456789abcdef01234567";

let place: Workspace;
let server: ScriptedServer;
/** Overrides the service's answers for tags. */
let bend: (path: string) => Step | null;

beforeEach(async () => {
  bend = () => null;
  server = await startScriptedServer(({ path }) => {
    const [, kind, name = "", ips] = path.split("/");
    if (kind === "query") {
      return reply(200, success({ ...ipResult(), item: name, tags: ["spam:bulk", "no:such"] }));
    }
    const tag = decodeURIComponent(name);
    const own = bend(path);
    if (own !== null) return own;
    if (tag === "no:such") return reply(400, failure("there is no tag no:such"));
    if (ips === undefined) return reply(200, success({ name: tag }));
    const entries = ["192.0.2.1", "192.0.2.2"];
    return reply(200, success({ tag, entries, lastUpdate: "now", total: 2, snapshot }));
  });
  place = await workspace({ "in.txt": "192.0.2.1\n" });
});

const run = (...args: readonly string[]) => place.run(...args, "--intel-url", server.url);

const enriching = ["enrich", "in.txt", "--lookups", "query"];

const enrich = (...more: readonly string[]) =>
  run(...enriching, "-o", "out.csv", "--tag-ips", "lists", ...more);

const failed = {
  tag: "no:such",
  status: "failed",
  snapshot: null,
  total: null,
  added: null,
  removed: null,
  files: [],
  error: {
    code: "rejected",
    message: expect.stringContaining("there is no tag no:such") as string,
  },
};

function exported() {
  const file = (ending: string) => `lists/spam--bulk.${ending}`;
  return {
    tag: "spam:bulk",
    status: "exported",
    snapshot: expect.stringMatching(/^.{24}$/) as string,
    total: 2,
    added: 2,
    removed: 0,
    files: [file("txt"), file("added.txt"), file("removed.txt")],
    error: null,
  };
}

const errorLine = /^repute: could not export tag no:such: .*there is no tag no:such$/m;

describe("a tag that fails", () => {
  test("is an error on stderr, exit code 3 and a line of the summary", async () => {
    const { code, stderr } = await enrich();
    expect(code).toBe(3);
    expect(stderr).toMatch(errorLine);
    expect(stderr).toMatch(
      /1 of 2 lists exported.*\n {2}no:such: failed, .*\n {2}spam:bulk: 2 addr/,
    );
  });

  test("is also reported by tags export --quiet", async () => {
    const args = ["tags", "export", "no:such", "spam:bulk", "-o", "lists", "--quiet"];
    const { code, stdout, stderr } = await run(...args);
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toBe(
      "repute: could not export tag no:such: the intelligence interface refuses: there is no tag no:such\n" +
        "  repute tags list prints the names of all tags\n",
    );
  });
});

describe("the result of each tag", () => {
  test("is in the manifest, which verify accepts, and in the single object of --json", async () => {
    const { code, stdout, stderr } = await enrich("--json", "--quiet");
    expect([code, stderr]).toEqual([3, expect.stringMatching(errorLine)]);
    const printed = JSON.parse(stdout) as Manifest;
    expect(printed.tag_exports).toEqual([failed, exported()]);
    expect(await place.manifest()).toEqual(printed);
    for (const file of exported().files) await place.read(file);
    expect(await place.run("verify", "out.csv")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("matches its manifest") as string,
    });
  });

  test.each(["append", "merge"])("is in the run's row beside a table, --mode %s", async (mode) => {
    const table = ["-o", "duckdb:out.duckdb?table=t", "--mode", mode];
    const enriched = await run(...enriching, ...table, "--tag-ips", "lists", "--json");
    expect(enriched.code, enriched.stderr).toBe(3);
    const rows = await queryDuckdb(
      "SELECT r.*, (SELECT count(*)::int FROM t) AS stored FROM t_runs r",
      place.at("out.duckdb"),
    );
    const printed = JSON.parse(enriched.stdout) as Manifest;
    expect(rows).toMatchObject([
      { run_id: printed.run_id, exit_reason: "rows_failed", rows: 1n, complete: 1n, stored: 1 },
    ]);
    const { manifest, loaded_at, ended_at } = rows[0] as Record<string, string>;
    expect(JSON.parse(manifest!)).toEqual(printed);
    expect(loaded_at).toEqual(ended_at);
  });

  test("is absent without an export", async () => {
    await run(...enriching, "-o", "out.csv");
    expect(await place.manifest()).not.toHaveProperty("tag_exports");
  });

  test("is there for rows on stdout, too", async () => {
    const { code, stderr } = await run(...enriching, "--tag-ips", "lists", "--json");
    const last = stderr.trimEnd().split("\n").at(-1) ?? "";
    expect([code, (JSON.parse(last) as Manifest).tag_exports?.length]).toEqual([3, 2]);
  });
});

test("an export that ends early fails every tag, keeps the rows and says how to get the lists", async () => {
  bend = (path) => (path.startsWith("/tags/") ? reply(401) : null);
  const { code, stdout, stderr } = await enrich("--json");
  expect(code).toBe(1);
  expect((JSON.parse(stdout) as Manifest).tag_exports).toMatchObject([
    { tag: "no:such", status: "failed", error: { code: "unauthorized" } },
    { tag: "spam:bulk", status: "failed", error: { code: "unauthorized" } },
  ]);
  expect((await place.manifest()).tag_exports).toHaveLength(2);
  const again = "tags export no:such spam:bulk -o lists";
  expect(stderr).toContain(`repute ${again}`);
  bend = () => null;
  expect(await run(...again.split(" "))).toMatchObject({ code: 3 });
  expect(await readdir(place.at("lists"))).toContain("spam--bulk.txt");
});

test.each([
  ["lists", 1, /cannot write .*lists.*: part of the path is not a folder/],
  ["index.json", 2, /index\.json exists and does not belong to an export/],
])("reports what is in the way before any request: a foreign %s", async (name, ends, message) => {
  await place.write(name, "mine");
  if (name !== "lists") await symlink(place.cwd, place.at("lists"));
  const { code, stderr } = await enrich();
  expect([code, server.requests.length]).toEqual([ends, 0]);
  expect(stderr).toMatch(message);
});

test("tags export --all drops no list if the service lists no tags", async () => {
  await run("tags", "export", "spam:bulk", "-o", "lists");
  bend = (path) => (path.startsWith("/tags?") || path === "/tags" ? reply(200, success([])) : null);
  const { code, stderr } = await run("tags", "export", "--all", "-o", "lists");
  expect([code, stderr]).toEqual([1, expect.stringContaining("the service lists no tags")]);
  expect(await readdir(place.at("lists"))).toContain("spam--bulk.txt");
});
