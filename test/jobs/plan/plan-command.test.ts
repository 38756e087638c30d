import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runRepute } from "../../helpers/run-repute.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

test("counts items in columns that are not looked up", async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "in.csv"), "ip,note\n192.0.2.1,\n192.0.2.2,192.0.2.9\n192.0.2.3,\n");
  const { stdout } = await runRepute(["plan", "in.csv", "--json"], { cwd });
  expect(JSON.parse(stdout)).toMatchObject({ kinds: { ip: 3 }, elsewhere: { note: 1 } });
  const text = await runRepute(["plan", "in.csv"], { cwd });
  expect(text.stdout).toMatch(/^elsewhere +note 1$/m);
});

async function inputFolder(): Promise<string> {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "in.csv"), "ip\n192.0.2.1\n192.0.2.1\nexample.com\nsetup.exe\n");
  return cwd;
}

test("prints a plan line by line, or as one JSON object with --json", async () => {
  const cwd = await inputFolder();
  const args = ["plan", "in.csv", "--rate", "2/s", "--rate", "3/d"];
  const { code, stdout, stderr } = await runRepute(args, { cwd });
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: 'repute: using column "ip" (4 of 4 sampled cells are indicators)\n',
  });
  expect(stdout).toMatch(/^rows +4$/m);
  expect(stdout).toMatch(/^requests query,quick-check +query 2, quick-check 2$/m);
  expect(stdout).toMatch(/^quota +3 in 24 h 0 min used up after 1\.0 s, with 1 request left$/m);
  expect(stdout).toMatch(/^nights +2, with one run a night and --resume$/m);
  const json = await runRepute(["plan", "in.csv", "--json"], { cwd });
  expect(JSON.parse(json.stdout)).toMatchObject({
    rows: 4,
    distinct_items: 2,
    chosen: { requests: 4 },
  });
});
