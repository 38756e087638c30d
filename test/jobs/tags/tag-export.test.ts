import { readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { reply } from "../../helpers/scripted-server.js";
import { exportedTag, exporterOf, linesOf, readExport } from "./exporting.js";
import { addresses, served, startTagServer } from "./tag-server.js";

const aTag = { "spam:bulk": served(["192.0.2.10", "2001:db8::1", "192.0.2.9"]) };

describe("the list of a tag", () => {
  it("is sorted numerically, IPv4 before IPv6, and described in the index", async () => {
    const { folder, run } = await exporterOf(aTag);
    await run();
    const lines = ["192.0.2.9", "192.0.2.10", "2001:db8::1"];
    expect(await linesOf(folder, "spam--bulk.txt")).toEqual(lines);
    const { files, sha256, ...rest } = await exportedTag(folder, "spam:bulk");
    expect(rest).toEqual({
      name: "spam:bulk",
      status: "exported",
      error: null,
      description: "What spam:bulk means",
      intent: "malicious",
      category: "activity",
      snapshot: "a".repeat(24),
      exported_at: "2024-01-01T00:00:00.000Z",
      lastUpdate: "2024-01-01T00:00:00Z a",
      total: 3,
      left_out: { reserved: null, excluded: [] },
      added: 3,
      removed: 0,
      stem: "spam--bulk",
      sets: { ipv4: "spam--bulk_v4", ipv6: "spam--bulk_v6" },
    });
    expect(files.map(({ file }) => file)).toEqual([
      "spam--bulk.txt",
      "spam--bulk.added.txt",
      "spam--bulk.removed.txt",
    ]);
    expect(files[0]?.sha256).toBe(sha256);
  });

  it("is written in each requested format, with the same digest in each", async () => {
    const { folder, run } = await exporterOf(aTag);
    await run();
    const { sha256 } = await exportedTag(folder, "spam:bulk");
    await run({ formats: ["csv", "ndjson", "cidr", "nft", "ipset"] });
    const exported = await exportedTag(folder, "spam:bulk");
    expect(exported.sha256).toBe(sha256);
    const endings = exported.files.map(({ file }) => file.replace("spam--bulk.", ""));
    expect(endings.join(" ")).toBe("csv ndjson cidr nft ipset added.txt removed.txt");
  });
});

describe("paging", () => {
  test.each([
    [0, [0]],
    [10_000, [0]],
    [10_001, [0, 10_000]],
  ])("%i entries are requested at offsets %j, from the first page's snapshot", async (...given) => {
    const [count, offsets] = given;
    const { server, folder, run } = await exporterOf({ "a:b": served(addresses(count)) });
    const told: unknown[] = [];
    const report = await run({
      onProgress: ({ entries, total }) => told.push([entries, total]),
    });
    expect(report.tags[0]).toMatchObject({ status: "exported", total: count });
    const snapshots = [null, "a".repeat(24)];
    expect(server.pages).toMatchObject(
      offsets.map((offset, n) => ({ offset, limit: 10_000, snapshot: snapshots[n] })),
    );
    expect(told).toEqual(offsets.map((offset) => [Math.min(count, offset + 10_000), count]));
    expect(await linesOf(folder, "a--b.txt")).toHaveLength(count);
  });

  it("continues after a page shorter than requested", async () => {
    const { server, run } = await exporterOf({ "a:b": served(addresses(25)) }, (page) => ({
      ...page,
      entries: page.entries.slice(0, 10),
    }));
    const report = await run();
    expect(report.tags[0]).toMatchObject({ status: "exported", total: 25 });
    expect(server.pages.map(({ offset }) => offset)).toEqual([0, 10, 20]);
  });
});

describe("a second export", () => {
  it("reports added and removed addresses", async () => {
    const { server, folder, run, clock } = await exporterOf({
      "a:b": served(["192.0.2.1", "192.0.2.2", "::1"]),
    });
    await run();
    server.lists["a:b"] = served(["192.0.2.3", "192.0.2.2", "::2"], "b");
    await clock.advance(1000);
    expect((await run()).tags[0]).toMatchObject({ status: "exported", added: 2, removed: 2 });
    expect(await linesOf(folder, "a--b.added.txt")).toEqual(["192.0.2.3", "::2"]);
    expect(await linesOf(folder, "a--b.removed.txt")).toEqual(["192.0.2.1", "::1"]);
    expect(await exportedTag(folder, "a:b")).toMatchObject({ added: 2, removed: 2 });
  });

  it("of the same addresses is unchanged, but still a new generation", async () => {
    const { folder, run, clock } = await exporterOf(aTag);
    const first = await run();
    await clock.advance(1000);
    const second = await run();
    expect(second).toMatchObject({ exported: 0, unchanged: 1 });
    expect(second.generation).not.toBe(first.generation);
    expect(await exportedTag(folder, "spam:bulk")).toMatchObject({
      status: "unchanged",
      exported_at: "2024-01-01T00:00:01.000Z",
    });
  });

  it("compares with an empty list if the earlier addresses are gone, and says so", async () => {
    const { folder, run, warnings } = await exporterOf(aTag);
    await run();
    await rm(join(folder, "current", "spam--bulk.txt"));
    await run();
    expect(await exportedTag(folder, "spam:bulk")).toMatchObject({ added: 3 });
    expect(warnings).toEqual([expect.stringContaining("cannot read the earlier list")]);
  });
});

test("tags that are not requested keep their lists, unless they are to be removed", async () => {
  const lists = { "a:b": served(["192.0.2.1"]), "c:d": served(["192.0.2.2"]) };
  const { server, folder, run } = await exporterOf(lists);
  await run();
  expect(await run({ names: ["a:b"] })).toMatchObject({ unchanged: 1, kept: 1 });
  expect(await exportedTag(folder, "c:d")).toMatchObject({ status: "kept" });
  expect(await linesOf(folder, "c--d.txt")).toEqual(["192.0.2.2"]);
  // Each is compared with its own last export.
  server.lists["c:d"] = served(["192.0.2.3"], "b");
  await run({ names: ["c:d"] });
  expect(await exportedTag(folder, "c:d")).toMatchObject({ added: 1, removed: 1 });
  expect(await run({ names: ["a:b"], prune: true })).toMatchObject({ kept: 0 });
  expect((await readExport(folder)).tags.map(({ name }) => name)).toEqual(["a:b"]);
  expect(await readdir(folder)).not.toContain("c--d.txt");
});

describe("a tag that fails", () => {
  const lists = { "a:b": served(["192.0.2.1"]), "c:d": served(["192.0.2.2"]) };

  it("keeps its earlier list, and the others continue", async () => {
    const { server, folder, run } = await exporterOf(lists);
    await run();
    delete server.lists["a:b"];
    server.lists["c:d"] = served(["192.0.2.3"], "b");
    const report = await run({ names: ["a:b", "c:d"] });
    expect(report).toMatchObject({ failed: 1, exported: 1 });
    expect(await exportedTag(folder, "a:b")).toMatchObject({
      status: "failed",
      error: {
        code: "rejected",
        message: expect.stringContaining("there is no tag a:b") as string,
      },
      total: 1,
    });
    expect(await linesOf(folder, "a--b.txt")).toEqual(["192.0.2.1"]);
    expect(await linesOf(folder, "c--d.txt")).toEqual(["192.0.2.3"]);
  });

  it("is in the index if it was never exported, or has an empty name", async () => {
    const { folder, run } = await exporterOf(lists);
    await run({ names: ["", "a:b", "no:such"] });
    const failed = (name: string, code: string) => ({
      name,
      status: "failed",
      error: { code, message: expect.any(String) as string },
    });
    const [empty, , unknown] = (await readExport(folder)).tags;
    expect(empty).toEqual(failed("", "invalid_tag_name"));
    expect(unknown).toEqual(failed("no:such", "rejected"));
  });

  it("leaves the folder unchanged if no other was exported", async () => {
    const { server, folder, run } = await exporterOf(lists);
    await run();
    const before = await readExport(folder);
    delete server.lists["a:b"];
    expect(await run({ names: ["a:b"] })).toMatchObject({ generation: null, failed: 1 });
    expect(await readExport(folder)).toEqual(before);
  });
});

describe("a service that is down", () => {
  const names = Array.from({ length: 30 }, (_, at) => `a:${at}`);

  it("is not retried for every tag", async () => {
    const { server, run } = await exporterOf(
      Object.fromEntries(names.map((name) => [name, served([])])),
      () => reply(502),
    );
    const report = await run({ parallel: 2 });
    expect([report.failed, report.tags.length]).toEqual([30, 30]);
    expect(server.pages.length).toBeLessThan(12);
    expect(report.tags[29]?.error).toEqual({
      code: "http_502",
      message: expect.stringMatching(/^not requested because all tags before it failed/) as string,
    });
  });

  it("is still asked if only some tags fail", async () => {
    const lists = Object.fromEntries(names.map((name) => [name, served([])]));
    const { run } = await exporterOf(lists, (page, { at }) => (at % 4 === 3 ? page : reply(502)));
    expect(await run({ parallel: 1 })).toMatchObject({ exported: 7, failed: 23 });
  });
});

describe("names", () => {
  it("never become a path", async () => {
    const names = ["..", "../x:y", "/etc:passwd", ".a:b", `long:${"x".repeat(300)}`];
    const lists = Object.fromEntries(names.map((name) => [name, served(["192.0.2.1"])]));
    const { folder, run } = await exporterOf(lists);
    const report = await run({ names });
    expect(report.tags.map(({ status }) => status)).toEqual(names.map(() => "exported"));
    const files = (await readdir(folder)).filter((name) => name.endsWith(".txt"));
    expect(files.filter((name) => !/^[A-Za-z0-9%][A-Za-z0-9._%-]{0,200}$/.test(name))).toEqual([]);
    expect(files).toHaveLength(names.length * 3);
  });

  it("may repeat, or be missing: the folder has an empty index, or stays as it is", async () => {
    const { server, folder, run } = await exporterOf(aTag);
    await run({ names: [] });
    expect((await readExport(folder)).tags).toEqual([]);
    const report = await run({ names: ["spam:bulk", "spam:bulk"] });
    expect([report.exported, report.tags.length, server.pages.length]).toEqual([1, 1, 1]);
    const before = await readExport(folder);
    expect(await run({ names: [] })).toMatchObject({ generation: null, kept: 1 });
    expect(await readExport(folder)).toEqual(before);
  });
});

describe("generations", () => {
  it("stay in order when the clock is set back", async () => {
    const { folder, run, clock } = await exporterOf(aTag);
    await run();
    await clock.advance(1000);
    await run();
    clock.jump(-86_400_000);
    await run();
    expect((await readdir(join(folder, "generations"))).sort()).toEqual([
      ".lock",
      "20231231T000001Z",
      "20240101T000001Z",
    ]);
    expect((await readExport(folder)).generation).toBe("generations/20231231T000001Z");
  });

  it("of the same second get distinct names; the folder has nothing but links to the newest", async () => {
    const { folder, run } = await exporterOf(aTag);
    const names = [(await run()).generation, (await run()).generation];
    expect(names).toEqual(["generations/20240101T000000Z", "generations/20240101T000000Z-2"]);
    for (const generation of names) {
      const text = await readFile(join(folder, generation ?? "", "index.json"), "utf8");
      expect(JSON.parse(text)).toMatchObject({ generation });
    }
    const files = ["spam--bulk.added.txt", "spam--bulk.removed.txt", "spam--bulk.txt"];
    const links = ["current", "generations", "index.json", ...files];
    expect((await readdir(folder)).sort()).toEqual(links);
  });
});

describe("a folder with foreign files", () => {
  test.each([
    ["index.json", "mine", "export_folder_in_use"],
    ["current", "mine", "export_folder_in_use"],
    // Its own, but it cannot be read.
    ["current/index.json", "{", "export_index_unreadable"],
  ])("is refused for its %s with %j", async (name, content, code) => {
    const { folder, run } = await exporterOf(aTag);
    await run();
    await rm(join(folder, name));
    await writeFile(join(folder, name), content);
    await expect(run()).rejects.toMatchObject({ code });
    expect(await readFile(join(folder, name), "utf8")).toBe(content);
  });

  it("fails a tag whose file name is taken", async () => {
    const { folder, run } = await exporterOf(aTag);
    await run({ names: [] });
    await symlink("elsewhere", join(folder, "spam--bulk.csv"));
    expect((await run()).tags[0]?.error?.code).toBe("file_name_taken");
    expect(await readlink(join(folder, "spam--bulk.csv"))).toBe("elsewhere");
  });
});

test("refused credentials end the export, and the folder stays unchanged", async () => {
  const { folder, run } = await exporterOf(aTag);
  await run();
  const before = await readExport(folder);
  const refused = await startTagServer(aTag, () => (socket) => {
    socket.end("HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n");
  });
  await expect(run({ client: refused.client })).rejects.toMatchObject({ code: "unauthorized" });
  expect(await readExport(folder)).toEqual(before);
});
