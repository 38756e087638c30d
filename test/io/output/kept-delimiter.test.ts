import { expect, test } from "vitest";
import { workspace } from "../../helpers/workspace.js";

const rows = ["ip|note", "192.0.2.1|a, b", '192.0.2.2|"x"'];

test.each([";", "\t", "|", "^"])(
  "CSV written from CSV keeps the delimiter %j, and every command reads it",
  async (char) => {
    const text = `${rows.join("\n").replaceAll("|", char)}\n`;
    const { read, ...place } = await workspace({ "in.csv": text });
    const flags = char === "^" ? ["--delimiter", "^"] : [];
    const run = async (...args: readonly string[]): Promise<void> => {
      const { code, stderr } = await place.run(...args);
      expect(code, stderr).toBe(0);
    };
    await run("enrich", "in.csv", "-o", "out.csv", "--local", "--synthetic", "1", ...flags);
    const [header = "", first = ""] = (await read("out.csv")).split("\n");
    expect(header.split(char).slice(0, 3)).toEqual(["ip", "note", "rep_item"]);
    expect(first.split(char).slice(0, 3)).toEqual(["192.0.2.1", "a, b", "192.0.2.1"]);
    await run("verify", "out.csv");
    await run("diff", "out.csv", "out.csv");
    await run("report", "out.csv", "-o", "report.html");
    await run("retry", "out.csv", "-o", "again.csv", "--local");
    expect((await read("again.csv")).split("\n")[0]).toBe(header);
    await run("enrich", "in.csv", "-o", "out.tsv", "--local", ...flags);
    expect(await read("out.tsv")).toMatch(/^ip\tnote\trep_item\t/);
  },
);

test.each([
  ["in.txt", "192.0.2.1|x\n192.0.2.2|y\n", "|"],
  ["in.log", "# feed\nip;n\n192.0.2.1;x\n192.0.2.2;y\n", ";"],
  ["in.txt", "| ip | n |\n|---|---|\n| 192.0.2.1 | x |\n", "|"],
  ["in.log", "#Fields: n c-ip\n1 192.0.2.1\n2 192.0.2.2\n", ","],
  ["in.txt", "ip\tn\n192.0.2.1\tx\n192.0.2.2\ty\n", ","],
])("CSV written from the table in %s %j has the delimiter %j", async (name, content, char) => {
  const { read, run } = await workspace({ [name]: content });
  await run("enrich", name, "-o", "out.csv", "--local");
  expect(await read("out.csv")).toContain(`${char}rep_item${char}rep_kind${char}`);
  expect((await run("report", "out.csv")).code).toBe(0);
  await run("enrich", name, name, "-o", "out.csv", "--local");
  expect(await read("out.csv")).toContain(`${char}rep_item${char}rep_kind${char}`);
});

test("a run names what it does not look up, in columns and inside cells", async () => {
  const { manifest, run } = await workspace({
    "t.csv": `ioc,SHA1\n192.0.2.1,${"c".repeat(40)}\nexample.com,\n`,
    "notes.txt": "We saw 192.0.2.1 and then example.com again\n192.0.2.3\n",
  });
  const { stderr } = await run("enrich", "t.csv", "-o", "out.csv", "--local");
  expect(stderr).toContain(
    'column "SHA1" has items too (1 of 2 rows): --item-column ioc --item-column SHA1',
  );
  expect(stderr).toMatch(/elsewhere +SHA1 1 \(not looked up\)$/m);
  expect((await manifest()).elsewhere).toEqual({ SHA1: 1 });
  const plan = await run("plan", "notes.txt");
  expect(plan.stderr.replaceAll(/\s+/g, " ")).toContain(
    "repute extract notes.txt | repute enrich -",
  );
});
