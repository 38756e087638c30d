import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Gives the tests state and config folders of their own, so that a developer's are neither read nor
 * changed.
 */
export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "repute-home-"));
  process.env["XDG_STATE_HOME"] = join(folder, "state");
  process.env["XDG_CONFIG_HOME"] = join(folder, "config");
  return () => rmSync(folder, { recursive: true, force: true });
}
