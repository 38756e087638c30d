import { UsageError } from "../../../src/core/errors.js";
import { type ParseKind, serverBase } from "../../../src/io/output/output.js";

// A custom output: `-o https://HOST/PATH` posts the rows as NDJSON once the run is complete. It is
// this folder in `src/io/output`, and the line in `src/io/output/registry.ts` that
// docs/contributing.md shows.

/** A collector that takes NDJSON. */
export const httpOutput: ParseKind = (name) => {
  if (!/^https?:/i.test(name)) return null;
  if (!URL.canParse(name)) {
    throw new UsageError("bad_output", `${name} is not a valid URL`, {
      hint: "write https://HOST/PATH",
    });
  }
  const url = new URL(name);
  const shown = url.origin + url.pathname;
  return {
    name: shown,
    format: "http",
    file: null,
    parts: { before: "", file: "", after: name },
    base: (stateDir) => serverBase(url.host + url.pathname, stateDir),
    publisher: async (options) => (await import("./publish.js")).httpPublisher(url, shown, options),
  };
};
