import { appendFile, symlink, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import {
  compareFingerprints,
  type Fingerprint,
  identifyInput,
} from "../../../../src/jobs/enrich/state/fingerprint.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

describe("compareFingerprints", () => {
  it("finds no difference between a run and itself", async () => {
    expect(await compareAfter(() => Promise.resolve())).toEqual({
      differences: [],
      inputGrew: false,
    });
  });

  it("allows an input that grew, and says so", async () => {
    expect(await compareAfter((path) => appendFile(path, "192.0.2.3\n"))).toEqual({
      differences: [],
      inputGrew: true,
    });
  });

  it("names an input that was truncated, and one with other content", async () => {
    const cut = await compareAfter((path) => writeFile(path, "ip\n"));
    expect(cut.differences).toEqual([expect.stringContaining("had 23 bytes, now 3")]);
    const other = await compareAfter((path) => writeFile(path, "ip\n192.0.2.9\n192.0.2.2\n"));
    expect(other.differences).toEqual([
      expect.stringMatching(/^the content of .*in\.csv has changed$/),
    ]);
    const long = "ip\n".padEnd(200_000, "192.0.2.1\n");
    const end = await compareAfter((path) => writeFile(path, `${long}192.0.2.9\n`), {
      text: `${long}192.0.2.8\n`,
    });
    expect(end.differences).toHaveLength(1);
  });

  it("names each differing option by its flag", async () => {
    const { differences } = await compareAfter(() => Promise.resolve(), {
      options: { prefix: "x_" },
    });
    expect(differences).toEqual(['--prefix was "rep_", now "x_"']);
  });
});

async function compareAfter(
  change: (path: string) => Promise<void>,
  {
    options = { prefix: "rep_" },
    text = "ip\n192.0.2.1\n192.0.2.2\n",
  }: { readonly options?: Fingerprint["options"]; readonly text?: string } = {},
) {
  const path = join(await temporaryFolder(), "in.csv");
  await writeFile(path, text);
  const before = await fingerprintOf(path, { prefix: "rep_" });
  await change(path);
  const now = await fingerprintOf(path, options);
  return compareFingerprints(before, now, { path });
}

async function fingerprintOf(path: string, options: Fingerprint["options"]): Promise<Fingerprint> {
  return { schemaVersion: 2, input: await identifyInput({ path }), options };
}

it("recognises an input however its path is spelled", async () => {
  const folder = await temporaryFolder();
  const link = join(folder, "link");
  await symlink(folder, link);
  const path = join(folder, "in.csv");
  await writeFile(path, "ip\n192.0.2.1\n");
  const spellings = [
    path,
    relative(".", path),
    join(folder, ".", "x", "..", "in.csv"),
    join(link, "in.csv"),
  ];
  const before = await fingerprintOf(`${folder}/./in.csv`, {});
  for (const spelled of spellings) {
    const now = await fingerprintOf(spelled, {});
    const { differences } = await compareFingerprints(before, now, { path: spelled });
    expect([spelled, differences]).toEqual([spelled, []]);
  }
  const otherPath = join(folder, "other.csv");
  const other = await fingerprintOf(otherPath, {});
  expect((await compareFingerprints(before, other, { path: otherPath })).differences).toEqual([
    `the input was ${folder}/./in.csv, now ${join(folder, "other.csv")}`,
  ]);
});
