import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Gives all tests of a run one state folder of their own, so that they leave the developer's alone. */
export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "repute-state-"));
  process.env["XDG_STATE_HOME"] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
