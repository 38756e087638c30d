import { describe, expect, it } from "vitest";
import { openError } from "../../../src/io/input/stored-input.js";

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: it failed`), { code });
}

describe("openError", () => {
  it.each([
    ["ENOENT", "input_not_found", "UsageError"],
    ["EISDIR", "input_is_directory", "UsageError"],
    ["EACCES", "input_unreadable", "FatalError"],
    ["EMFILE", "input_unreadable", "FatalError"],
  ])("turns %s into %s, a %s", async (system, code, name) => {
    expect(await openError("dump.csv", systemError(system))).toMatchObject({ code, name });
  });

  it("says what to check if permission is missing", async () => {
    expect((await openError("dump.csv", systemError("EACCES"))).hint).toContain("permissions");
  });
});
