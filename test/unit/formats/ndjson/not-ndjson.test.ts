import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { openSource, piped, readSource } from "../../../contract/sources-reading.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

async function errorOf(content: string): Promise<unknown> {
  return readSource("ndjson", piped(content)).then(
    () => null,
    (error: unknown) => error,
  );
}

describe("ndjson input that is one JSON array", () => {
  it.each(['[{"item":"a"},{"item":"b"}]', '[\n  {"item":"a"}\n]\n', ' [ {"item":"a"}]', "[]"])(
    "is rejected with a hint: %j",
    async (content) => {
      expect(await errorOf(content)).toMatchObject({
        name: "UsageError",
        code: "input_json_array",
        hint: expect.stringContaining("jq -c '.[]'") as string,
      });
    },
  );
});

describe("a JSON document", () => {
  it.each([
    [
      '{\n  "data": [\n    {"ip": "192.0.2.1"}\n  ]\n}',
      "jq -c '.data[]' | repute enrich --from ndjson",
    ],
    ['{"a b": [\n"192.0.2.1"]}', `jq -r '.["a b"][]' | repute enrich --from text`],
    ['{\n  "ip": "192.0.2.1",\n  "tags": ["a"]\n}\n{\n}', "jq -c . | repute enrich --from ndjson"],
    ['{ "ip": "192.0.2.1",\n  "n": 1 }', "jq -c . | repute enrich --from ndjson"],
    ['["192.0.2.1"]', "jq -r '.[]' | repute enrich --from text"],
    ["[\n[{}]]", "jq -c '.[]' | repute enrich --from ndjson"],
  ])("is rejected with the command that converts it: %j", async (content, command) => {
    expect(await errorOf(content)).toMatchObject({
      name: "UsageError",
      hint: `convert it: … | ${command}`,
    });
  });

  it("in a file is named in the command", async () => {
    const path = join(await temporaryFolder(), "it's.json.gz");
    await writeFile(path, gzipSync('{\n"a": 1\n}'));
    const opening = openSource("ndjson", { path }, { gzip: true });
    const quoted = `'${path.replace("'", String.raw`'\''`)}'`;
    await expect(opening).rejects.toMatchObject({
      hint: `convert it: gzip -dc ${quoted} | jq -c . | repute enrich --from ndjson`,
    });
  });
});
