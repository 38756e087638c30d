import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { FatalError } from "../../../../src/core/errors.js";
import { checkSpace, journalFault } from "../../../../src/lookup/journal/journal-fault.js";

function errno(code: string): Error {
  return Object.assign(new Error(code), { code });
}

test("a full disk is named as such", () => {
  expect(journalFault("out.state/journal", "write", errno("ENOSPC"))).toMatchObject({
    code: "journal_disk_full",
    message: "cannot write the journal out.state/journal: the disk is full",
  });
});

test("what is unknown is told in its own words", () => {
  const fault = journalFault("out.state/journal", "open", new Error("MDB_INVALID"));
  expect(fault.message).toBe("cannot open the journal out.state/journal: MDB_INVALID");
});

test("what is explained already is left as it is", () => {
  const known = new FatalError("journal_format", "another version");
  expect(journalFault("out.state/journal", "open", known)).toBe(known);
});

test("there is room for a few records", () => {
  expect(() => checkSpace(tmpdir(), 1000)).not.toThrow();
});

test("more records than there is room for are refused before they are written", () => {
  expect(() => checkSpace(tmpdir(), 1e18)).toThrow(
    expect.objectContaining({ code: "journal_disk_full" }),
  );
});
