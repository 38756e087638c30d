import { describe, expect, test } from "vitest";
import { parseArguments } from "../../../../src/cli/options/parse-arguments.js";
import { groups, loadCommands } from "../../../../src/cli/command-list.js";

const commands = await loadCommands();

const parse = async (...args: string[]) => parseArguments(args, commands, groups);

async function run(...args: string[]) {
  const parsed = await parse("enrich", ...args);
  if (parsed.wish !== "run") throw new Error(`wants ${parsed.wish}`);
  const flags = Object.fromEntries([...parsed.flags].map(([key, { value }]) => [key, value]));
  return { flags, operands: parsed.operands };
}

describe("what is wished for", () => {
  test.each([[[]], [["--help"]], [["-h"]], [["help"]]])(
    "%j is the help of the program",
    async (args) => {
      expect(await parse(...args)).toEqual({ wish: "help", command: null });
    },
  );

  test.each([
    [["enrich", "--help"]],
    [["enrich", "-h"]],
    [["help", "enrich"]],
    [["enrich", "a.csv", "--help"]],
  ])("%j is the help of the command", async (args) => {
    expect(await parse(...args)).toMatchObject({ wish: "help", command: { name: "enrich" } });
  });

  test.each([[["--version"]], [["-V"]], [["enrich", "--version"]]])(
    "%j is the version",
    async (args) => {
      expect(await parse(...args)).toEqual({ wish: "version" });
    },
  );
});

describe("commands of a group", () => {
  test.each([[["tags"]], [["tags", "--help"]], [["tags", "-h"]], [["help", "tags"]]])(
    "%j is the help of the group",
    async (args) => {
      expect(await parse(...args)).toMatchObject({ wish: "group help", group: { name: "tags" } });
    },
  );

  test.each([[["tags", "list", "--help"]], [["help", "tags", "list"]]])(
    "%j is the help of the command",
    async (args) => {
      expect(await parse(...args)).toMatchObject({ wish: "help", command: { name: "tags list" } });
    },
  );

  test("the words behind the two are its arguments", async () => {
    const parsed = await parse("tags", "show", "tags", "--json", "list");
    expect(parsed).toMatchObject({
      wish: "run",
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
    [["case-show"], 'there is no command "case-show"', "did you mean case show?"],
    [
      ["tags", "--json", "list"],
      "--json stands where the command should be",
      "repute tags list --json",
    ],
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
    [["--unordered"], { unordered: true }],
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

  test("keep the name that they are told by in errors", async () => {
    const parsed = await parse("enrich", "-o", "x");
    expect(parsed.wish === "run" && parsed.flags.get("output")?.name).toBe("--output");
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

describe("what is wrong", () => {
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
      "--api-key does not exist: a secret is no flag",
      "set REPUTE_API_KEY",
    ],
    [
      ["enrich", "--api-key=k-1"],
      "--api-key does not exist: a secret is no flag",
      "set REPUTE_API_KEY",
    ],
  ])("%j is explained", async (args, message, hint) => {
    await expect(parse(...args)).rejects.toMatchObject({
      message,
      hint: expect.stringContaining(hint) as string,
    });
  });

  test("a file where the command should be gets told how to read it", async () => {
    await expect(parse("dump.csv")).rejects.toMatchObject({
      hint: expect.stringContaining("repute enrich FILE") as string,
    });
  });

  test("a flag with one letter that nobody knows is named as written", async () => {
    await expect(parse("enrich", "-z")).rejects.toThrow("enrich has no flag -z");
  });
});
