import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runRepute } from "../../helpers/run-repute.js";
import { shell } from "../../helpers/shell.js";
import { copiedFolder } from "../../helpers/temporary-folder.js";
import { runningService } from "../../service/running-service.js";

const input = "ip\n192.0.2.1\n192.0.2.2\n";

const folderWithInput = copiedFolder(async (cwd) => {
  await writeFile(join(cwd, "in.csv"), input);
  await mkdir(join(cwd, "folder"));
});

const service = await runningService();

/** Programs start in half the time if the service is not theirs. */
const env = { REPUTE_INTEL_URL: service.intelUrl, REPUTE_BOGONS: "ask", REPUTE_RATE: "999/s" };

async function inShell(line: string) {
  const cwd = await folderWithInput();
  return { cwd, ...(await shell(line, { cwd, env })) };
}

const withOutput = copiedFolder((cwd) => {
  return runRepute(["enrich", "--local", "-o", "out.csv"], { cwd, stdin: input });
});

test.each([
  ["a folder that is not there", "none/out.csv", /^the folder .*none does not exist\n/],
  ["a link to the input", "link.csv", /^the output link\.csv would overwrite the input in\.csv\n/],
  [
    "a format that is none",
    "out.xlsx",
    /^cannot write out\.xlsx: \.xlsx is not an output format\n {2}name it \.csv, .* or keep the name and set the format with --to\n/,
  ],
])("reports %s before it requests or overwrites anything", async (_, output, message) => {
  const cwd = await folderWithInput();
  await symlink("in.csv", join(cwd, "link.csv"));
  const before = await readdir(cwd);
  const result = await runRepute(["enrich", "in.csv", "--local", "-o", output], { cwd });
  expect(result).toMatchObject({ code: 2, stdout: "" });
  expect(result.stderr.replace(/^repute: /, "")).toMatch(message);
  expect(result.stderr).not.toMatch(/^ +at /m);
  expect(await readFile(join(cwd, "in.csv"), "utf8")).toBe(input);
  expect(await readdir(cwd)).toEqual(before);
});

describe("every command that writes rows refuses an unknown format", () => {
  test.each([
    [["retry", "out.csv", "-o", "again.xlsx"]],
    [["case", "enrich", "case-2001", "-o", "case.xlsx"]],
    [["tags", "export", "credentials:brute-force", "-o", "lists", "--formats", "xlsx"]],
  ])("%j", async (args) => {
    const cwd = await withOutput();
    const before = await readdir(cwd);
    const { code, stderr } = await runRepute([...args, "--local"], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringContaining("xls")]);
    expect(await readdir(cwd)).toEqual(before);
  });

  test("accepts /dev/null", async () => {
    const cwd = await folderWithInput();
    const args = ["enrich", "in.csv", "--local", "-q", "-o", "/dev/null"];
    expect(await runRepute(args, { cwd })).toMatchObject({ code: 0, stdout: "", stderr: "" });
    expect(await readdir(cwd)).toEqual(["folder", "in.csv"]);
  });

  test.each(["/dev/stdout", "/dev/fd/3"])("accepts %s", async (output) => {
    const line = `{ repute enrich in.csv -q -o ${output} 3>&1; } | cat`;
    const { cwd, stderr } = await inShell(line);
    expect(stderr).toBe("");
    expect(await readdir(cwd)).toEqual(["folder", "in.csv"]);
  });
});

test.each([
  [
    "as OUT",
    async () => {
      const args = ["enrich", "in.csv", "--local", "-o", "/dev/full"];
      return runRepute(args, { cwd: await folderWithInput() });
    },
  ],
  ["behind stdout", () => inShell("repute enrich in.csv -o - > /dev/full")],
])("a full device %s ends the run with a one-line error", async (_, run) => {
  const { code, stderr } = await run();
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^repute: using column "ip" .*\nrepute: cannot write (\/dev\/full|stdout): the disk is full\n {2}free some space, then run again\n$/,
  );
});

test.each([
  "enrich in.csv -o out.csv --json",
  "plan in.csv --json",
  "query 192.0.2.1",
  "tags export --all -o lists --json",
  "enrich --help",
  "--version",
])("repute %s to a full device fails", async (command) => {
  const { stdout, stderr } = await inShell(`{ repute ${command} > /dev/full; }; echo $?`);
  expect(stdout).toBe("1\n");
  expect(stderr).toMatch(/^repute: cannot write stdout: /m);
  expect(stderr).not.toContain("    at ");
});

test.each([21, 25, 30])(
  "with %i open files, a run is done or says what to raise",
  async (files) => {
    const { stdout, stderr } = await inShell(
      `ulimit -n ${files}; repute enrich in.csv -o out.csv --local -q; echo $?`,
    );
    expect(stderr).not.toMatch(/bug in repute|^ {4}at |node:/m);
    expect(stdout + stderr).toMatch(/^0\n$|^1\nrepute: .+\n {2}raise .*ulimit -n 1024/);
  },
);

test("a reader that disconnects ends the run quietly and leaves no temporary files", async () => {
  const line =
    "seq 200000 | TMPDIR=folder repute enrich --from text | head -1; echo ${PIPESTATUS[1]}";
  const { cwd, stdout, stderr } = await inShell(line);
  expect(stdout).toMatch(/^item,rep_item,.*\n0\n$/);
  expect(stderr).toBe("");
  expect(await readdir(join(cwd, "folder"))).toEqual([]);
});

test.each(["2>&-", "2>/dev/full"])("a run continues with %s", async (redirection) => {
  const { cwd, stdout } = await inShell(`repute enrich in.csv -o out.csv ${redirection}; echo $?`);
  expect(stdout).toBe("0\n");
  expect(existsSync(join(cwd, "out.csv"))).toBe(true);
});
