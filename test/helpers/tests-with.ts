import { readdirSync, readFileSync } from "node:fs";

/** Paths of the quick suite's tests that contain this text. */
export function testsWith(text: string): string[] {
  return readdirSync("test", { recursive: true, encoding: "utf8" })
    .filter((name) => /(?<!\.long|\.servers)\.test\.ts$/.test(name))
    .map((name) => `test/${name}`)
    .filter((path) => readFileSync(path, "utf8").includes(text));
}
