import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commandNames } from "../../src/cli/command-list.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { runInProcess } from "./run-in-process.js";

const reading = "from item-column kind-column encoding sheet";
const rows = "columns distinct only prefix shape";
const asking = "lookups bogons exclude url-query";
const pace = "concurrency rate retries timeout partial-retries limit";
const ends = "max-requests deadline fail-on max-failed";
const anywhere = "quiet json config profile";

/** Flags that the main job has, and the other commands that have them with the same meaning. */
const flags: Readonly<Record<string, string>> = {
  enrich: `${reading} recursive to ${rows} ${asking} intel-url api-key-file local ${pace} cache cache-ttl resume restart tag-ips ${ends} report ${anywhere}`,
  plan: `${reading} recursive limit prefix ${asking} cache rate`,
  extract: "sheet recursive to quiet",
  schema: "from item-column recursive columns prefix",
  doctor: `${reading} recursive limit ${rows} ${asking}`,
};

/** Flags of the main job that other commands must not have, as they could do nothing there. */
const without: Readonly<Record<string, string>> = {
  plan: "columns only distinct",
  retry: `${reading} recursive columns only distinct limit`,
  extract: "columns limit",
  query: `${reading} recursive columns limit`,
};

/** Flags that the help of a command has a line for. */
async function flagsOf(command: string): Promise<readonly string[]> {
  const { code, stdout } = await runInProcess([command, "--help"]);
  expect(code).toBe(0);
  return [...stdout.matchAll(/^ +(?:-\w, )?--(?:\[no-\])?([a-z-]+)/gm)].map(([, name]) => name!);
}

test.each(Object.entries(flags))("%s has its flags", async (command, names) => {
  expect(await flagsOf(command)).toEqual(expect.arrayContaining(names.split(" ")));
});

test.each(Object.entries(without))("%s has no flag that does nothing", async (command, names) => {
  const own = await flagsOf(command);
  expect(own.length).toBeGreaterThan(2);
  expect(names.split(" ").filter((name) => own.includes(name))).toEqual([]);
});

test("only commands that read folders accept --recursive", async () => {
  const flag = "--recursive";
  const names: string[] = [];
  for (const name of commandNames) {
    const { stderr } = await runInProcess([...name.split(" "), flag, "--no-such-flag"]);
    if (!stderr.includes(flag)) names.push(name);
  }
  expect(names).toEqual(["enrich", "plan", "extract", "doctor", "schema"]);
});

test.each([
  ["a variable", { REPUTE_RECURSIVE: "yes" }, ""],
  ["the config file", {}, "recursive: true\n"],
])("subfolders are read if %s says so", async (_, env, config) => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "in/b"), { recursive: true });
  await writeFile(join(folder, "in/b/a.csv"), "ip\n192.0.2.1\n");
  await writeFile(join(folder, "repute.yaml"), config);
  const args = ["plan", join(folder, "in"), "--json", "--config", join(folder, "repute.yaml")];
  const { code, stdout, stderr } = await runInProcess(args, { env });
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ rows: 1 });
});
