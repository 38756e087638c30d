import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { exporterOf, readExport, type Exporter } from "../exporting.js";
import { served, startTagServer } from "../tag-server.js";

/** A folder with one export, ready for the next. */
async function anExport(): Promise<Exporter> {
  const exporter = await exporterOf(await startTagServer({ "a:b": served(["192.0.2.1"]) }));
  await exporter.run();
  return exporter;
}

async function plainNames(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith(".txt")).sort();
}

const names = ["a--b.added.txt", "a--b.removed.txt", "a--b.txt"];

describe("files of an export killed while publishing", () => {
  it("are removed if its generation was never current", async () => {
    const { folder, run } = await anExport();
    const { generation } = await readExport(folder);
    const orphan = "generations/20240102T000000Z";
    await cp(join(folder, generation), join(folder, orphan), { recursive: true });
    const index = await readFile(join(folder, orphan, "index.json"), "utf8");
    await writeFile(
      join(folder, orphan, "index.json"),
      index.replace(generation, orphan).replace("null", JSON.stringify(generation)),
    );
    await run();
    expect(await readdir(join(folder, "generations"))).toEqual([
      "20240101T000000Z",
      "20240101T000000Z-2",
    ]);
  });

  it("are removed if links dangle, even if there is nothing else to do", async () => {
    const { folder, run } = await anExport();
    await symlink("current/c--d.txt", join(folder, "c--d.txt"));
    await run({ names: [] });
    expect(await plainNames(folder)).toEqual(names);
  });

  it("are removed if it was under construction", async () => {
    const { folder, run } = await anExport();
    const next = join(folder, ".export.state", "next");
    await mkdir(next, { recursive: true });
    await writeFile(join(next, "c--d.txt"), "192.0.2.2\n");
    await run();
    const { generation } = await readExport(folder);
    expect(await plainNames(join(folder, generation))).toEqual(names);
  });
});

it("foreign files stay", async () => {
  const { folder, run } = await anExport();
  await writeFile(join(folder, "notes.txt"), "mine");
  await symlink("notes.txt", join(folder, "link.txt"));
  await mkdir(join(folder, "generations", "mine"));
  await run();
  expect(await plainNames(folder)).toEqual([...names, "link.txt", "notes.txt"]);
  expect(await readdir(join(folder, "generations"))).toContain("mine");
});

it("a list whose files are gone is reported and dropped if it cannot be kept", async () => {
  const lists = { "a:b": served(["192.0.2.1"]), "c:d": served(["192.0.2.2"]) };
  const { folder, run, warnings } = await exporterOf(await startTagServer(lists));
  await run();
  const { generation } = await readExport(folder);
  await rm(join(folder, generation, "c--d.txt"));
  await run({ names: ["a:b"] });
  expect((await readExport(folder)).tags.map(({ name }) => name)).toEqual(["a:b"]);
  expect(warnings).toEqual([expect.stringContaining("c:d")]);
});
