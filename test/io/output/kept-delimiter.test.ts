import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runRepute } from "../../helpers/run-repute.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const rows = ["ip|note", "192.0.2.1|a, b", '192.0.2.2|"x"'];

test.each([";", "\t", "|", "^"])(
  "CSV written from CSV keeps the delimiter %j, and every command reads it",
  async (char) => {
    const folder = await temporaryFolder();
    const [input, output] = [join(folder, "in.csv"), join(folder, "out.csv")];
    await writeFile(input, `${rows.join("\n").replaceAll("|", char)}\n`);
    const flags = char === "^" ? ["--delimiter", "^"] : [];
    const run = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await runRepute(args);
      expect(code, stderr).toBe(0);
      return stdout;
    };
    await run("enrich", input, "-o", output, "--local", "--synthetic", "1", ...flags);
    const [header = "", first = ""] = (await readFile(output, "utf8")).split("\n");
    expect(header.split(char).slice(0, 3)).toEqual(["ip", "note", "rep_item"]);
    expect(first.split(char).slice(0, 3)).toEqual(["192.0.2.1", "a, b", "192.0.2.1"]);
    await run("verify", output);
    await run("diff", output, output);
    await run("report", output, "-o", join(folder, "report.html"));
    await run("retry", output, "-o", join(folder, "again.csv"), "--local");
    expect((await readFile(join(folder, "again.csv"), "utf8")).split("\n")[0]).toBe(header);
    await run("enrich", input, "-o", join(folder, "out.tsv"), "--local", ...flags);
    expect(await readFile(join(folder, "out.tsv"), "utf8")).toMatch(/^ip\tnote\trep_item\t/);
  },
);

test.each([
  ["in.txt", "192.0.2.1|x\n192.0.2.2|y\n", "|"],
  ["in.log", "# feed\nip;n\n192.0.2.1;x\n192.0.2.2;y\n", ";"],
  ["in.txt", "| ip | n |\n|---|---|\n| 192.0.2.1 | x |\n", "|"],
  ["in.log", "#Fields: n c-ip\n1 192.0.2.1\n2 192.0.2.2\n", ","],
  ["in.txt", "ip\tn\n192.0.2.1\tx\n192.0.2.2\ty\n", ","],
])("CSV written from the table in %s %j has the delimiter %j", async (name, content, char) => {
  const folder = await temporaryFolder();
  const [input, output] = [join(folder, name), join(folder, "out.csv")];
  await writeFile(input, content);
  await runRepute(["enrich", input, "-o", output, "--local"]);
  expect(await readFile(output, "utf8")).toContain(`${char}rep_item${char}rep_kind${char}`);
  expect((await runRepute(["report", output])).code).toBe(0);
  await runRepute(["enrich", input, input, "-o", output, "--local"]);
  expect(await readFile(output, "utf8")).toContain(`${char}rep_item${char}rep_kind${char}`);
});

test("a run names what it does not look up, in columns and inside cells", async () => {
  const folder = await temporaryFolder();
  const [table, text] = [join(folder, "t.csv"), join(folder, "notes.txt")];
  const sha1 = "c".repeat(40);
  await writeFile(table, `ioc,SHA1\n192.0.2.1,${sha1}\nexample.com,\n`);
  const output = join(folder, "out.csv");
  const { stderr } = await runRepute(["enrich", table, "-o", output, "--local"]);
  expect(stderr).toContain(
    'column "SHA1" has items too (1 of 2 rows): --item-column ioc --item-column SHA1',
  );
  expect(stderr).toMatch(/elsewhere +SHA1 1/);
  const { elsewhere } = JSON.parse(await readFile(`${output}.manifest.json`, "utf8"));
  expect(elsewhere).toEqual({ SHA1: 1 });

  await writeFile(text, "We saw 192.0.2.1 and then example.com again\n192.0.2.3\n");
  const plan = await runRepute(["plan", text]);
  expect(plan.stderr.replaceAll(/\s+/g, " ")).toContain(`repute extract ${text} | repute enrich -`);
});

test("a usual name that can't be read ends with 2 and the command that reads inside", async () => {
  const folder = await temporaryFolder();
  const table = join(folder, "t.csv");
  const rest = "for example.com, at night, see www.example.org and others";
  await writeFile(table, `IOC,Link\n"${rest}",https://reports.example.org/a\n`);
  const { code, stderr } = await runRepute(["enrich", table, "--local"]);
  expect(code).toBe(2);
  expect(stderr).toContain('column "IOC" can\'t be read: only 0 of 1 sampled cell');
  expect(stderr.replaceAll(/\s+/g, " ")).toContain(`repute extract ${table} | repute enrich - -o`);
});
