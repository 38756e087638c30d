import { expect, test } from "vitest";
import { FatalError } from "../../../../src/core/errors.js";
import { journalFault } from "../../../../src/store/journal/journal-fault.js";

function errno(code: string): Error {
  return Object.assign(new Error(code), { code });
}

test("explains a full disk", () => {
  expect(journalFault("out.state/journal", "write", errno("ENOSPC"))).toMatchObject({
    code: "journal_disk_full",
    message: "cannot write the journal out.state/journal: the disk is full",
  });
});

test("quotes an unknown error", () => {
  const fault = journalFault("out.state/journal", "open", new Error("EXDEV"));
  expect(fault.message).toBe("cannot open the journal out.state/journal: EXDEV");
});

test("passes an explained error unchanged", () => {
  const known = new FatalError("journal_format", "another version");
  expect(journalFault("out.state/journal", "open", known)).toBe(known);
});
