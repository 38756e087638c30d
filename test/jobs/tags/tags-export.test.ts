import { readdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { runRepute } from "../../helpers/run-repute.js";
import { workspace } from "../../helpers/workspace.js";

it("tags ips --plain prints one address a line in a pipe, too", async () => {
  const args = ["tags", "ips", "spam:snowshoe", "--local"];
  const lines = async (...flags: readonly string[]) => {
    const { code, stdout } = await runRepute([...args, ...flags]);
    expect(code).toBe(0);
    return stdout.trimEnd().split("\n");
  };
  const objects = (await lines()).map((line) => JSON.parse(line) as { readonly ip: string });
  expect(objects.length).toBeGreaterThan(1);
  const addresses = objects.map(({ ip }) => ip);
  expect(await lines("--plain")).toEqual(addresses);
});

describe("tags export", () => {
  it("says in its summary and its record where the lists are together", async () => {
    const { read, ...place } = await workspace();
    const names = ["spam:snowshoe", "credentials:brute-force"];
    const args = ["tags", "export", ...names, "-o", "lists", "--local", "--combine", "all"];
    const run = (...flags: readonly string[]) => place.run(...args, ...flags);
    const { code, stderr } = await run("--formats", "txt,nft");
    expect([code, stderr]).toEqual([0, expect.stringContaining("2 of 2 lists exported")]);
    const list = await read("lists/all.txt");
    const total = list.trimEnd().split("\n").length;
    expect(stderr.replaceAll(",", "")).toContain(
      `  ${total} addresses together in all.txt all.nft\n`,
    );
    const { combined } = JSON.parse((await run("--json")).stdout) as { combined: unknown };
    expect(combined).toEqual({ name: "all", total, files: ["all.txt"] });
  });

  it("fails for a list that shrank by more than --max-change, which may allow it", async () => {
    const { read, ...place } = await workspace();
    const args = ["tags", "export", "credentials:brute-force", "-o", "lists", "--local"];
    const run = (...flags: readonly string[]) => place.run(...args, ...flags);
    expect(await run()).toMatchObject({ code: 0 });
    // All of them are reserved.
    expect(await run("--bogons", "local")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("had 272 addresses and now has 0"),
    });
    const list = () => read("lists/credentials--brute-force.txt");
    expect((await list()).split("\n")).toHaveLength(272 + 1);
    expect(await run("--bogons", "local", "--max-change", "100%")).toMatchObject({ code: 0 });
    expect(await list()).toBe("");
  });

  it.each([
    ["tags export", ["tags", "export", "--all", "-o", "s3://lake/lists"]],
    ["enrich", ["enrich", "-", "-o", "out.csv", "--tag-ips", "s3://lake/lists"]],
  ])("refuses object storage before the first request: %s", async (_, args) => {
    const { cwd, run } = await workspace({}, { stdin: "192.0.2.1\n" });
    const { code, stderr } = await run(...args, "--intel-url", "http://127.0.0.1:9/beta");
    expect(code).toBe(2);
    expect(stderr).toContain("tag lists go to a folder, not to s3://lake/lists");
    expect(stderr).toContain("aws s3 sync DIR s3://lake/lists");
    expect(await readdir(cwd)).toEqual([]);
  });

  it.each([
    ["no tags", ["-o", "x"]],
    ["two ways of naming them", ["a:b", "--all", "-o", "x"]],
    ["no folder", ["a:b"]],
  ])("refuses %s", async (_, args) => {
    const { run } = await workspace();
    const { code } = await run("tags", "export", "--local", ...args);
    expect(code).toBe(2);
  });
});
