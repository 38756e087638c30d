import { expect, test } from "vitest";
import { UsageError } from "../../../src/core/errors.js";
import { readLine } from "../../../src/cli/command-line/parse-arguments.js";

/** @param line words separated by spaces; `~` stands for a space in a word */
const parse = (line: string) =>
  readLine(line === "" ? [] : line.split(" ").map((w) => w.replace("~", " ")));

async function run(line: string) {
  const { command, asks, fault, operands, ...parsed } = await parse(line);
  expect([asks, fault]).toEqual([null, null]);
  const flags = Object.fromEntries([...parsed.flags].map(([key, { value }]) => [key, value]));
  return { command: command?.name, flags, operands };
}

test.each([
  ["|--help|-h|help", null],
  ["enrich --help|enrich -h|help enrich|enrich a.csv --help", "enrich"],
  ["tags|tags --help|tags -h|tags help|help tags", "tags"],
  ["tags list --help|help tags list", "tags list"],
])("%j ask for help", async (lines, name) => {
  const helpOn = name === null ? null : { name };
  for (const line of lines.split("|")) {
    expect(await parse(line), line).toMatchObject({ asks: { helpOn } });
  }
});

test.each("--version|-V|-v|version|enrich --version|enrich -v|enrich -V".split("|"))(
  "%s asks for the version",
  async (line) => {
    expect(await parse(line)).toMatchObject({ asks: "version" });
  },
);

test.each([
  ["--rate 5/s", { rate: "5/s" }, []],
  ["--rate=5/s", { rate: "5/s" }, []],
  ["--rate 5/s --rate 100/d", { rate: "5/s,100/d" }, []],
  ["--item-column a~b", { itemColumn: "a b" }, []],
  ["--no-header", { header: false }, []],
  ["--header=false", { header: false }, []],
  ["-oout.csv", { output: "out.csv" }, []],
  ["-o=out.csv", { output: "out.csv" }, []],
  ["-o -", { output: "-" }, []],
  ["--output=-", { output: "-" }, []],
  ["-qo out.csv", { quiet: true, output: "out.csv" }, []],
  ["--comment=--", { comment: "--" }, []],
  ["--retries 007", { retries: "007" }, []],
  ["--quiet --quiet a.csv", { quiet: true }, ["a.csv"]],
  ["- b.csv 007 1e5", {}, ["-", "b.csv", "007", "1e5"]],
  ["-- -a.csv - --rate", {}, ["-a.csv", "-", "--rate"]],
  ["plan", {}, ["plan"]],
])("enrich %s", async (line, flags, operands) => {
  expect(await run(`enrich ${line}`)).toEqual({ command: "enrich", flags, operands });
});

test("words after a command of two words are its arguments", async () => {
  const { command, operands } = await run("tags show tags --json list");
  expect([command, operands]).toEqual(["tags show", ["tags", "list"]]);
});

test.each([
  ["enrihc a.csv", 'there is no command "enrihc"', "did you mean enrich?"],
  ["ls", 'there is no command "ls"', "use one of enrich, plan,"],
  ["tags lst", 'there is no command "tags lst"', "did you mean tags list?"],
  ["tags LIST", 'there is no command "tags LIST"', "did you mean tags list?"],
  ["tags frobnicate", 'there is no command "tags frobnicate"', "use one of tags list, tags show,"],
  ["tag list", 'there is no command "tag"', "did you mean tags?"],
  ["help webhok", 'there is no command "webhok"', "did you mean webhook?"],
  ["tags --json list", 'there is no command "tags --json"', "use one of tags list,"],
  ["--quiet enrich", "there is no flag --quiet without a command", "use one of enrich,"],
  ["--versoin", "there is no flag --versoin without a command", "did you mean --version?"],
  ["--hepl", "there is no flag --hepl without a command", "did you mean --help?"],
  ["enrich --verson", "enrich has no flag --verson", "did you mean --version?"],
  ["enrich --item-colum x", "enrich has no flag --item-colum", "did you mean --item-column?"],
  ["enrich --itemColumn x", "enrich has no flag --itemColumn", "did you mean --item-column?"],
  ["enrich --no-headr", "enrich has no flag --no-headr", "did you mean --no-header?"],
  ["enrich --latency 5ms", "enrich has no flag --latency", ""],
  ["enrich --rate", "--rate needs a value", "write --rate N/s"],
  ["enrich -o", "--output needs a value", "write --output OUT"],
  ["enrich --rate --quiet", "--rate needs a value", "write --rate N/s"],
  ["enrich --retries 1 --retries 2", "--retries is given 2 times: 1, 2", "give it once"],
  ["enrich -o x --output -", "--output is given 2 times: x, -", "give it once"],
  ["enrich --no-output", "--no-output does not exist", "--output takes a value"],
  ["enrich --quiet=maybe", '--quiet takes no value; got "maybe"', "write --quiet or --no-quiet"],
  ["enrich --api-key k-1", "enrich has no flag --api-key", "REPUTE_API_KEY"],
  ["enrich --api-key=k-1", "enrich has no flag --api-key", "REPUTE_API_KEY"],
  ["enrich --constructor", "enrich has no flag --constructor", ""],
  ["enrich --no-toString", "enrich has no flag --no-toString", ""],
  ["enrich --__proto__=1", "enrich has no flag", ""],
])("is explained: %s", async (line, message, hint) => {
  const { asks, fault } = await parse(line);
  expect([asks, fault]).toEqual([null, expect.any(UsageError)]);
  const { message: told, hint: advice } = fault!;
  expect([told, advice ?? ""]).toEqual([
    expect.stringContaining(message),
    expect.stringContaining(hint),
  ]);
});
