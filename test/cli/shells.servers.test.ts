import { execFile } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const dist = fileURLToPath(new URL("../../dist", import.meta.url));
const run = promisify(execFile);

/** Runs a script in a shell that has the built program on its path; returns the lines it prints. */
async function lines(shell: string, ...args: readonly string[]): Promise<readonly string[]> {
  const folder = await temporaryFolder();
  const program = join(folder, "repute");
  await writeFile(
    program,
    `#!/bin/sh\nexec '${process.execPath}' '${dist}/program/repute.js' "$@"\n`,
  );
  await chmod(program, 0o755);
  const PATH = `${folder}${delimiter}${process.env["PATH"]}`;
  const env = { ...process.env, PATH, HOME: folder, XDG_CONFIG_HOME: folder };
  const { stdout, stderr } = await run(shell, args, { env, cwd: folder });
  expect(stderr).toBe("");
  return stdout.split("\n").slice(0, -1);
}

/** Typed lines with the cursor at their end, and candidates that have to be among those offered. */
const typed = [
  ["repute en", "enrich"],
  ["repute tags ", "list show ips export"],
  ["repute enrich --bog", "--bogons"],
  ["repute enrich --bogons ", "ask local"],
  ["repute completion ", "bash zsh fish"],
] as const;

const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(" ");

/** Candidates that a shell does not offer. `complete` prints those for the words of a line. */
async function missing(
  [shell = "", ...args]: readonly string[],
  setUp: string,
  complete: (words: readonly string[]) => string,
): Promise<readonly string[]> {
  const steps = typed.map(([line]) => `${complete(line.split(" "))}\necho ---`);
  const printed = await lines(shell, ...args, "-c", [setUp, ...steps].join("\n"));
  // A description may follow a candidate after a colon or tab.
  const offered = printed
    .map((line) => line.split(/[:\t]/)[0] ?? "")
    .join("\n")
    .split("---\n");
  return typed.flatMap(([line, candidates], index) => {
    const found = new Set(offered[index]?.split("\n"));
    const lacking = candidates.split(" ").filter((word) => !found.has(word));
    return lacking.map((word) => `${line}: ${word}`);
  });
}

test("bash completes commands, flags and values", async () => {
  const complete = (words: readonly string[]): string =>
    `COMP_WORDS=(${quoted(words)}); COMP_CWORD=${words.length - 1}; _repute; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const setUp = "source <(repute completion bash)";
  expect(await missing(["bash", "--norc"], setUp, complete)).toEqual([]);
});

test("zsh completes commands, flags and values", async () => {
  // Outside the line editor, these stand for the functions of its completion system.
  const setUp = `compdef() { :; }; _describe() { print -l -- "\${(@P)2}"; }; _files() { :; }
    source <(repute completion zsh)`;
  const complete = (words: readonly string[]): string =>
    `words=(${quoted(words)}); CURRENT=${words.length}; _repute`;
  expect(await missing(["zsh", "-f"], setUp, complete)).toEqual([]);
});

test("fish completes commands, flags and values", async () => {
  const complete = (words: readonly string[]): string => `complete -C '${words.join(" ")}'`;
  const setUp = "repute completion fish | source";
  expect(await missing(["fish", "--no-config"], setUp, complete)).toEqual([]);
});

test("bash leaves file names to the shell", async () => {
  const script = `source <(repute completion bash); COMP_WORDS=(repute enrich ''); COMP_CWORD=2
    _repute; echo "\${#COMPREPLY[@]}"; complete -p repute`;
  const [count, rule] = await lines("bash", "--norc", "-c", script);
  expect(count).toBe("0");
  expect(rule).toContain("-o default");
});
