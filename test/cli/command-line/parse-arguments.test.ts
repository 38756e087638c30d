import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { parseArguments, readLine } from "../../../src/cli/command-line/parse-arguments.js";

const parse = async (...args: string[]) => parseArguments(await readLine(args));

async function run(...args: string[]) {
  const parsed = await parse("enrich", ...args);
  if (parsed.action !== "run") throw new Error(`action is ${parsed.action}`);
  const flags = Object.fromEntries([...parsed.flags].map(([key, { value }]) => [key, value]));
  return { flags, operands: parsed.operands };
}

describe("help and version", () => {
  test.each([[[]], [["--help"]], [["-h"]], [["help"]]])(
    "%j asks for the program's help",
    async (args) => {
      expect(await parse(...args)).toMatchObject({ action: "help", topic: null });
    },
  );

  test.each([
    [["enrich", "--help"]],
    [["enrich", "-h"]],
    [["help", "enrich"]],
    [["enrich", "help"]],
    [["enrich", "a.csv", "--help"]],
  ])("%j asks for the command's help", async (args) => {
    expect(await parse(...args)).toMatchObject({ action: "help", topic: { name: "enrich" } });
  });

  test.each([[["help", "other.csv"]], [["help", "--quiet"]]])(
    "enrich %j reads a file called help",
    async (args) => {
      expect((await run(...args)).operands).toContain("help");
    },
  );

  test("enrich help reads the file where it exists", async () => {
    const before = process.cwd();
    const folder = await temporaryFolder();
    await writeFile(join(folder, "help"), "192.0.2.1\n");
    process.chdir(folder);
    try {
      expect((await run("help")).operands).toEqual(["help"]);
    } finally {
      process.chdir(before);
    }
  });

  test.each([
    [["--version"]],
    [["-V"]],
    [["-v"]],
    [["version"]],
    [["enrich", "--version"]],
    [["enrich", "-v"]],
    [["enrich", "-V"]],
  ])("%j asks for the version", async (args) => {
    expect(await parse(...args)).toEqual({ action: "version" });
  });
});

describe("commands of a group", () => {
  test.each([
    [["tags"]],
    [["tags", "--help"]],
    [["tags", "-h"]],
    [["tags", "help"]],
    [["help", "tags"]],
  ])("%j asks for the group's help", async (args) => {
    expect(await parse(...args)).toMatchObject({ action: "help", topic: { name: "tags" } });
  });

  test.each([[["tags", "list", "--help"]], [["help", "tags", "list"]], [["tags", "list", "help"]]])(
    "%j asks for the command's help",
    async (args) => {
      expect(await parse(...args)).toMatchObject({ action: "help", topic: { name: "tags list" } });
    },
  );

  test("words after the command are its arguments", async () => {
    const parsed = await parse("tags", "show", "tags", "--json", "list");
    expect(parsed).toMatchObject({
      action: "run",
      command: { name: "tags show" },
      operands: ["tags", "list"],
    });
  });

  test.each([
    [["tags", "lst"], 'there is no command "tags lst"', "did you mean tags list?"],
    [
      ["tags", "frobnicate"],
      'there is no command "tags frobnicate"',
      "the commands of tags are list,",
    ],
    [["tag", "list"], 'there is no command "tag"', "did you mean tags?"],
    [
      ["tags", "--json", "list"],
      "--json stands where the command should be",
      "repute tags list --json",
    ],
    [["TAGS", "list"], 'there is no command "TAGS"', "did you mean tags?"],
    [["tags", "LIST"], 'there is no command "tags LIST"', "did you mean tags list?"],
    [["ls"], 'there is no command "ls"', "the commands are enrich,"],
    [["help", "webhok"], 'there is no command "webhok"', "did you mean webhook?"],
  ])("%j is refused", async (args, message, hint) => {
    await expect(parse(...args)).rejects.toMatchObject({
      message,
      hint: expect.stringContaining(hint) as string,
    });
  });
});

describe("flags", () => {
  test.each([
    [["--rate", "5/s"], { rate: "5/s" }],
    [["--rate=5/s"], { rate: "5/s" }],
    [["--rate", "5/s", "--rate", "100/d"], { rate: "5/s,100/d" }],
    [["--item-column", "a b"], { itemColumn: "a b" }],
    [["--restart"], { restart: true }],
    [["--no-header"], { header: false }],
    [["--header=false"], { header: false }],
    [["-o", "out.csv"], { output: "out.csv" }],
    [["-oout.csv"], { output: "out.csv" }],
    [["-o=out.csv"], { output: "out.csv" }],
    [["-o", "-"], { output: "-" }],
    [["--output=-"], { output: "-" }],
    [["-qo", "out.csv"], { quiet: true, output: "out.csv" }],
    [["--comment=--"], { comment: "--" }],
    [["--retries", "007"], { retries: "007" }],
    [["--quiet", "--quiet"], { quiet: true }],
  ])("%j", async (args, flags) => {
    expect((await run("a.csv", ...args)).flags).toEqual(flags);
  });
});

describe("operands", () => {
  test.each([
    [["a.csv"], ["a.csv"]],
    [["-"], ["-"]],
    [
      ["a.csv", "b.csv"],
      ["a.csv", "b.csv"],
    ],
    [["--quiet", "a.csv"], ["a.csv"]],
    [
      ["--", "-a.csv", "-", "--rate"],
      ["-a.csv", "-", "--rate"],
    ],
    [["007"], ["007"]],
    [["1e5"], ["1e5"]],
    [[], []],
  ])("%j", async (args, operands) => {
    expect((await run(...args)).operands).toEqual(operands);
  });
});

describe("mistakes", () => {
  test.each([
    [["enrihc", "a.csv"], 'there is no command "enrihc"', "did you mean enrich?"],
    [
      ["--quiet", "enrich"],
      "--quiet stands where the command should be",
      "the command comes first",
    ],
    [
      ["enrich", "--item-colum", "x"],
      "enrich has no flag --item-colum",
      "did you mean --item-column?",
    ],
    [
      ["enrich", "--itemColumn", "x"],
      "enrich has no flag --itemColumn",
      "did you mean --item-column?",
    ],
    [["enrich", "--no-headr"], "enrich has no flag --no-headr", "did you mean --no-header?"],
    [
      ["enrich", "--latency", "5ms"],
      "enrich has no flag --latency",
      "it is a flag of: repute serve",
    ],
    [["enrich", "--rate"], "--rate needs a value", "write --rate N/s"],
    [["enrich", "--rate", "--quiet"], "--rate needs a value", "write --rate N/s"],
    [
      ["enrich", "--retries", "1", "--retries", "2"],
      "--retries is given 2 times: 1, 2",
      "give it once",
    ],
    [["enrich", "-o", "x", "--output", "-"], "--output is given 2 times: x, -", "give it once"],
    [["enrich", "--no-output"], "--no-output does not exist", "--output takes a value"],
    [
      ["enrich", "--quiet=maybe"],
      '--quiet takes no value; got "maybe"',
      "write --quiet or --no-quiet",
    ],
    [
      ["enrich", "--api-key", "k-1"],
      "--api-key does not exist: a secret is never a flag",
      "set REPUTE_API_KEY",
    ],
    [
      ["enrich", "--api-key=k-1"],
      "--api-key does not exist: a secret is never a flag",
      "set REPUTE_API_KEY",
    ],
  ])("%j is explained", async (args, message, hint) => {
    await expect(parse(...args)).rejects.toMatchObject({
      message,
      hint: expect.stringContaining(hint) as string,
    });
  });

  test.each([
    ["enrich", "--constructor"],
    ["enrich", "--no-toString"],
    ["enrich", "--__proto__=1"],
  ])("%s %s is refused as a flag", async (...args) => {
    await expect(parse(...args)).rejects.toMatchObject({ code: "unknown_flag" });
  });
});
