import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { startAnsweringServer, type AnsweringServer } from "../../../helpers/answering-server.js";
import { enrichUntilKilled as enrich } from "../../../helpers/killed-run.js";
import { runRepute } from "../../../helpers/run-repute.js";
import { seeded } from "../../../helpers/seeded.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const rows = 3_000;
const kills = 2;

describe.each([
  ["ecs", "ndjson.gz"],
  ["stix", "json.gz"],
])("a run to %s that is killed repeatedly", (to, extension) => {
  it(
    `ends with the bytes of an undisturbed run except for its times: ${extension}`,
    { timeout: 300_000 },
    async () => {
      const { server, folder, input } = await prepared();
      const calm = join(folder, `calm.${extension}`);
      expect(await enrich(server, input, calm, ["--to", to])).toBe(0);

      const random = seeded(to.length * 7919 + extension.length);
      const out = join(folder, `out.${extension}`);
      let killed = 0;
      for (let code: number | null = null; code === null;) {
        // Twice that are still fewer requests than there are distinct names.
        const after = 500 + Math.floor(random() * 350);
        const flags = ["--to", to, "--resume"];
        code = await enrich(server, input, out, flags, killed < kills ? after : null);
        if (code === null) killed++;
      }

      expect(killed).toBe(kills);
      const text = await textOf(out);
      expect(timeless(text)).toBe(timeless(await textOf(calm)));
      expect(existsSync(`${out}.part`)).toBe(false);
      const documents = to === "stix" ? [text] : text.trimEnd().split("\n");
      expect(() => documents.map((document) => JSON.parse(document) as unknown)).not.toThrow();
      expect(await runRepute(["verify", out, "--quiet"])).toMatchObject({ code: 0, stderr: "" });
    },
  );
});

interface Prepared {
  readonly server: AnsweringServer;
  readonly folder: string;
  readonly input: string;
}

/**
 * Names of which a third are malicious. Every tenth row repeats an earlier one, and some are not
 * names.
 */
async function prepared(): Promise<Prepared> {
  const server = await startAnsweringServer();
  const folder = await temporaryFolder();
  const input = join(folder, "in.csv");
  const name = (n: number): string =>
    n % 100 === 7 ? "setup.exe" : `host-${n % 10 === 9 ? n % 1_000 : n}.example.com`;
  const lines = Array.from({ length: rows }, (_, n) => `${n},${name(n)}\n`);
  await writeFile(input, `n,domain\n${lines.join("")}`);
  return { server, folder, input };
}

async function textOf(path: string): Promise<string> {
  const bytes = await readFile(path);
  return (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString();
}

/**
 * The output without values that may differ: time and source of the answer, the bundle's own name.
 */
function timeless(text: string): string {
  return text
    .replace(/"bundle--[^"]+"/, '"bundle"')
    .replace(/"source":"(?:live|duplicate)"/g, "")
    .replace(/"(?:@timestamp|looked_up_at|modified)":"[^"]*"/g, "")
    .replace(/"time":\d+/g, "");
}
