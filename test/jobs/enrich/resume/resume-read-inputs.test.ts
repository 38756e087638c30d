import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";
import { expect, test } from "vitest";
import { startAnsweringServer } from "../../../helpers/answering-server.js";
import { comparableRows } from "../../../helpers/comparable-rows.js";
import { runCopied } from "../../../helpers/crash-copies.js";
import { runRepute } from "../../../helpers/run-repute.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const records = Array.from({ length: 6 }, (_, n) => ({
  n,
  ip: `192.0.2.${n + 1}`,
  of: [n, "a,b"],
}));
const sample = join(import.meta.dirname, "../../../../samples/publishers/workbook.xlsx");

/** The sample, its URL made a domain: the server answers every item but addresses as a domain. */
async function workbookOfHosts(): Promise<Uint8Array> {
  const files = unzipSync(await readFile(sample));
  const path = "xl/worksheets/sheet1.xml";
  const xml = strFromU8(files[path] as Uint8Array);
  files[path] = strToU8(
    xml.replace(/<t>(?:hxxp|http)[^<]*</, "<t>example.com<").replaceAll("<t>url<", "<t>domain<"),
  );
  return zipSync(files);
}

/** A table whose records have two rows each. */
const pairs = "src,dst\n192.0.2.1,192.0.2.2\n192.0.2.3,192.0.2.4\n";

interface Case {
  readonly name: string;
  readonly content: () => string | Promise<Uint8Array>;
  /** Of so many moments, one is tried. */
  readonly every: number;
  readonly flags?: readonly string[];
}

const pair = ["--item-column", "src", "--item-column", "dst"];

test.each<Case>([
  { name: "in.json", content: () => JSON.stringify({ ok: true, data: records }), every: 5 },
  { name: "in.xlsx", content: workbookOfHosts, every: 5 },
  { name: "in.csv", content: () => pairs, every: 1, flags: pair },
])("a run of $name that is killed continues without asking again", async (given) => {
  const { name, content, every, flags = [] } = given;
  const cwd = join(await temporaryFolder(), "run");
  await mkdir(cwd);
  await writeFile(join(cwd, name), await content());
  const service = await startAnsweringServer();
  // One request at a time, so that the rows of a record are written apart.
  const pace = ["--concurrency", "1", "--lookups", "query", "--intel-url", service.url];
  const args = ["enrich", name, "-o", "out.csv", ...pace, "--quiet", ...flags];
  const { code, copies } = await runCopied(args, cwd);
  expect([code, [...service.asked.values()].every((times) => times === 1)]).toEqual([0, true]);
  const wanted = comparableRows(await readFile(join(cwd, "out.csv")), "out.csv");
  const found: unknown[] = [];
  const requests: number[] = [];
  // `test/jobs/enrich/killed/crash-points.long.test.ts` has every moment; the way into these inputs only needs some per row.
  const some = copies.filter((_, index) => index % every === 0 || index === copies.length - 1);
  for (const copy of some) {
    const before = service.total;
    await rm(cwd, { recursive: true });
    await rename(copy, cwd);
    const { code, stderr } = await runRepute([...args, "--resume"], { cwd });
    requests.push(service.total - before);
    const rows = comparableRows(await readFile(join(cwd, "out.csv")), "out.csv");
    if (code !== 0 || rows.join("\n") !== wanted.join("\n"))
      found.push({ copy: basename(copy), stderr });
  }
  expect([found, copies.length > 10]).toEqual([[], true]);
  // The later the kill, the fewer items are left to ask.
  expect(requests).toEqual(requests.toSorted((a, b) => b - a));
  expect([requests[0], requests.at(-1)]).toEqual([service.asked.size, 0]);
});
