import { readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { Manifest } from "../../../src/core/manifest.js";
import {
  reply,
  type ScriptedServer,
  startScriptedServer,
  type Step,
} from "../../helpers/scripted-server.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { failure, ipResult, success } from "../../client/api/answers.js";
import { runInProcess } from "../../cli/run-in-process.js";

const snapshot = "0123456789abcdef01234567";

let folder: string;
let server: ScriptedServer;
/** Overrides the service's answers for tags. */
let bend: (path: string) => Step | null;

beforeEach(async () => {
  folder = await temporaryFolder();
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
  await writeFile(join(folder, "in.txt"), "192.0.2.1\n");
});

function enrich(...more: string[]) {
  const paths = [join(folder, "in.txt"), "-o", join(folder, "out.csv")];
  const tags = ["--tag-ips", join(folder, "lists")];
  const service = ["--intel-url", server.url, "--lookups", "query"];
  return runInProcess(["enrich", ...paths, ...tags, ...service, ...more]);
}

async function manifest(): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, "out.csv.manifest.json"), "utf8")) as Manifest;
}

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
  const file = (ending: string) => join(folder, "lists", `spam--bulk.${ending}`);
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

describe("a tag that fails", () => {
  test("is an error on stderr and exit code 3, even with --quiet and --json", async () => {
    for (const flags of [[], ["--quiet", "--json"]]) {
      const { code, stderr } = await enrich(...flags, "--restart");
      expect(code).toBe(3);
      expect(stderr).toMatch(/^repute: could not export tag no:such: .*there is no tag no:such$/m);
    }
  });

  test("is also reported by tags export --quiet", async () => {
    const args = ["tags", "export", "no:such", "spam:bulk", "-o", join(folder, "lists")];
    const { code, stdout, stderr } = await runInProcess([
      ...args,
      "--intel-url",
      server.url,
      "--quiet",
    ]);
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toBe(
      "repute: could not export tag no:such: the intelligence interface refuses: there is no tag no:such\n" +
        "  repute tags list prints the names of all tags\n",
    );
  });
});

describe("the result of each tag", () => {
  test("is in the manifest, which verify accepts, and in the single object of --json", async () => {
    const { stdout } = await enrich("--json");
    const printed = JSON.parse(stdout) as Manifest;
    expect(printed.tag_exports).toEqual([failed, exported()]);
    expect(await manifest()).toEqual(printed);
    for (const file of exported().files) await readFile(file);
    const verified = await runInProcess(["verify", join(folder, "out.csv")]);
    expect(verified).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("matches its manifest") as string,
    });
  });

  test("is in the summary", async () => {
    const { stderr } = await enrich();
    expect(stderr).toMatch(
      /1 of 2 lists exported.*\n {2}no:such: failed, .*\n {2}spam:bulk: 2 addr/,
    );
  });

  test("is absent without an export", async () => {
    const paths = [join(folder, "in.txt"), "-o", join(folder, "out.csv")];
    await runInProcess(["enrich", ...paths, "--intel-url", server.url, "--lookups", "query"]);
    expect(await manifest()).not.toHaveProperty("tag_exports");
  });

  test("is there for rows on stdout, too", async () => {
    const args = ["enrich", join(folder, "in.txt"), "--tag-ips", join(folder, "lists"), "--json"];
    const service = ["--intel-url", server.url, "--lookups", "query"];
    const { code, stderr } = await runInProcess([...args, ...service]);
    const last = stderr.trimEnd().split("\n").at(-1) ?? "";
    expect([code, (JSON.parse(last) as Manifest).tag_exports?.length]).toEqual([3, 2]);
  });
});

describe("an export that ends early", () => {
  beforeEach(() => {
    bend = (path) => (path.startsWith("/tags/") ? reply(401) : null);
  });

  test("fails every tag, keeps the rows and says how to get the lists", async () => {
    const { code, stdout, stderr } = await enrich("--json");
    expect(code).toBe(1);
    expect((JSON.parse(stdout) as Manifest).tag_exports).toMatchObject([
      { tag: "no:such", status: "failed", error: { code: "unauthorized" } },
      { tag: "spam:bulk", status: "failed", error: { code: "unauthorized" } },
    ]);
    expect((await manifest()).tag_exports).toHaveLength(2);
    const lists = join(folder, "lists");
    const again = `tags export no:such spam:bulk -o ${lists}`;
    expect(stderr).toContain(`repute ${again}`);
    bend = () => null;
    const { code: later } = await runInProcess([...again.split(" "), "--intel-url", server.url]);
    expect(later).toBe(3);
    expect(await readdir(lists)).toContain("spam--bulk.txt");
  });
});

test("reports an unusable folder before any request", async () => {
  await writeFile(join(folder, "lists"), "a file");
  const { code, stderr } = await enrich();
  expect([code, server.requests.length]).toEqual([1, 0]);
  expect(stderr).toMatch(/cannot write .*lists.*: part of the path is not a folder/);
});

test("reports a folder with a foreign index before any request", async () => {
  await writeFile(join(folder, "index.json"), "mine");
  await symlink(folder, join(folder, "lists"));
  const { code, stderr } = await enrich();
  expect([code, server.requests.length]).toEqual([2, 0]);
  expect(stderr).toMatch(/index\.json exists and does not belong to an export/);
});

test("tags export --all drops no list if the service lists no tags", async () => {
  const lists = join(folder, "lists");
  const service = ["--intel-url", server.url];
  await runInProcess(["tags", "export", "spam:bulk", "-o", lists, ...service]);
  bend = (path) => (path.startsWith("/tags?") || path === "/tags" ? reply(200, success([])) : null);
  const { code, stderr } = await runInProcess(["tags", "export", "--all", "-o", lists, ...service]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("the service lists no tags")]);
  expect(await readdir(lists)).toContain("spam--bulk.txt");
});
