import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { ReputeError } from "../../src/core/errors.js";
import type { ReputeOptions, EnrichFileOptions } from "../../src/library/options.js";
import { repute } from "../../src/library/repute.js";
import { inOptions } from "../../src/library/wording.js";
import { runningService } from "../service/running-service.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

/** Flags in messages of what the library has not: reports, columns of notes, other programs. */
const elsewhere = new Set(
  "--against --report --tag-ips --json --fail-on --text --format --strip-components --soft --include".split(
    " ",
  ),
);

/** The texts in a source file, without its comments. */
function texts(path: string): readonly string[] {
  const code = readFileSync(path, "utf8").replaceAll(/^\s*(?:\/?\*|\/\/).*$/gm, "");
  return [...code.matchAll(/"[^"\n]*"|`[^`]*`/g)].map(([text]) => text);
}

it.each(["client", "core", "io", "jobs"])("names no flag that src/%s names", (room) => {
  const folder = join(import.meta.dirname, "../../src", room);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const flags = files
    // The page of a report has variables of style sheets.
    .filter((name) => name.endsWith(".ts") && !/report.page/.test(name))
    .flatMap((name) => texts(join(folder, name)))
    .map((text) => inOptions(text).replaceAll(/repute [a-z][^;\n]*/g, ""))
    .flatMap((text) => text.match(/(?<![\w-])--[a-z][a-z-]+|REPUTE_[A-Z_]+/g) ?? []);
  expect(flags.filter((flag) => !elsewhere.has(flag))).toEqual([]);
});

it.each([
  ["choose one: --item-column src --item-column dst", "choose one: itemColumn src itemColumn dst"],
  [
    "continue it with --resume, or start over with --restart",
    "resume: true, or start over with restart: true",
  ],
  ["the first row has an item: --no-header", "header: false"],
  [
    "Check that REPUTE_API_KEY (or the file given with --api-key-file) holds",
    "Check that apiKey holds",
  ],
  ["give it to them: repute worker redis://h/0 --rate 5/s; omit --rate", "--rate 5/s; omit rate"],
  ["correct --intel-url, not --intel-urls or -other", "correct url, not --intel-urls or -other"],
])("says %s as the library spells it", (text, wanted) => {
  expect(inOptions(text)).toContain(wanted);
});

it.each<[string, ReputeOptions, EnrichFileOptions, string]>([
  ["in.csv", {}, {}, "itemColumn"],
  ["in.csv", {}, { itemColumn: "a", maxTlp: "green" }, "tlpColumn"],
  ["in.csv", {}, { itemColumn: "a", columns: "tags" }, "shape"],
  ["in.csv", { exclude: ["none.txt"] }, { itemColumn: "a" }, "exclude"],
  ["in.csv", { workers: "redis://127.0.0.1:1/0", rate: "5/s" }, {}, "omit rate here"],
  ["none.csv", { apiKey: "wrong" }, {}, ""],
])("explains in its own words why %s cannot be enriched with %o and %o", async (...row) => {
  const [input, options, file, wanted] = row;
  const folder = await temporaryFolder();
  await writeFile(join(folder, "in.csv"), "a,b\n192.0.2.1,192.0.2.2\n");
  const { intelUrl: url } = await runningService({ apiKey: "key" });
  const client = repute({ url, apiKey: "key", ...options });
  onTestFinished(() => client.close());
  const run = client.enrichFile(join(folder, input), join(folder, "out.ndjson"), file);
  const error = await run.then(
    () => null,
    (fault: unknown) => fault,
  );
  if (!(error instanceof ReputeError)) throw error;
  const said = `${error.message}\n${error.hint}\n`.replaceAll(/repute worker [^;\n]*/g, "");
  expect(said).toContain(wanted);
  for (const text of [said, error.stack]) expect(text).not.toMatch(/--[a-z]|REPUTE_/);
});
