import { appendFile, symlink, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { expect, it } from "vitest";
import {
  compareFingerprints,
  type Fingerprint,
  identifyInput,
} from "../../../src/jobs/enrich/fingerprint.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const text = "ip\n192.0.2.1\n192.0.2.2\n";
const long = text.padEnd(200_000, "192.0.2.1\n");

it.each<[string, (path: string) => Promise<void>, string, boolean]>([
  ["nothing", () => Promise.resolve(), "", false],
  ["growth", (path) => appendFile(path, "192.0.2.3\n"), "", true],
  ["a cut", (path) => writeFile(path, "ip\n"), "PATH had 200000 bytes, now 3", false],
  [
    "another end",
    (path) => writeFile(path, long.slice(0, -2) + "9\n"),
    "the content of PATH has changed",
    false,
  ],
])(
  "compares the input with the interrupted run's: %s",
  async (_, change, difference, inputGrew) => {
    const path = join(await temporaryFolder(), "in.csv");
    await writeFile(path, long);
    const before = await fingerprintOf(path, { prefix: "rep_" });
    await change(path);
    const compared = await compareFingerprints(before, await fingerprintOf(path, {}), { path });
    const prefix = '--prefix was "rep_", now null';
    const differences = [prefix, difference.replace("PATH", path)].filter((text) => text !== "");
    expect(compared).toEqual({ differences, inputGrew });
  },
);

async function fingerprintOf(path: string, options: Fingerprint["options"]): Promise<Fingerprint> {
  return { inputs: [await identifyInput({ path })], options };
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
    `the input was ${path}, now ${otherPath}`,
  ]);
});
