import { createHash } from "node:crypto";

/** A Lua script, with the digest under which a server caches it. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

export function script(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}

export type ScriptValue = string | number;

/** Runs scripts on a server. `RedisLink` is the real one; tests have others. */
export interface ScriptServer {
  /** Runs a script. Rejects if the server doesn't answer now. */
  run(what: Script, keys: readonly string[], args: readonly ScriptValue[]): Promise<unknown>;
}
