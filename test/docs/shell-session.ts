import { execFileSync, spawn } from "node:child_process";
import { constants, openSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { gzipSync } from "node:zlib";
import { runRepute, type RunReputeOptions, type RunReputeResult } from "../helpers/run-repute.js";
import { serveHere, type Serving } from "../helpers/serve-here.js";
import { root } from "./pages.js";

/** Addresses that the pages use, and that stand for the embedded service while they are tested. */
const serviceAddress = /https:\/\/intel\.example|http:\/\/(?:127\.0\.0\.1|localhost):8080/g;

/**
 * Stands for `repute` and `curl` on the path: hands the call to the process of the test, which runs the
 * program itself, and prints what comes back. Starting Node.js for each command would take ten times as long.
 */
const client = `#!/bin/sh
call="$DOCS_CALLS/$$"
mkdir "$call"
mkfifo "$call/done"
cat > "$call/stdin"
env > "$call/env"
printf '%s\\0' "\${0##*/}" "$PWD" "$@" > "$call/words"
echo "$call" > "$DOCS_CALLS/queue"
read code < "$call/done"
cat "$call/stdout"
cat "$call/stderr" >&2
exit "$code"
`;

/** Runs commands as a reader types them, with the program in this process and one embedded service. */
export class ShellSession {
  readonly #home: string;
  readonly #queue: Socket;
  readonly #served: Serving[] = [];
  /** Origin of the embedded service. */
  readonly origin: string;

  private constructor(home: string, queue: Socket, serving: Serving) {
    this.#home = home;
    this.#queue = queue;
    this.#served.push(serving);
    this.origin = serving.origin;
    let text = "";
    queue.setEncoding("utf8").on("data", (chunk: string) => {
      const calls = (text + chunk).split("\n");
      text = calls.pop() ?? "";
      for (const call of calls) void this.#answer(call);
    });
  }

  static async open(): Promise<ShellSession> {
    const home = await mkdtemp(join(tmpdir(), "repute-docs-"));
    for (const name of ["bin", "calls"]) await mkdir(join(home, name));
    for (const name of ["repute", "curl"]) {
      await writeFile(join(home, "bin", name), client);
      await chmod(join(home, "bin", name), 0o755);
    }
    const path = join(home, "calls", "queue");
    execFileSync("mkfifo", [path]);
    const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    const queue = new Socket({ fd, readable: true, writable: false });
    return new ShellSession(home, queue, await serve([]));
  }

  async close(): Promise<void> {
    for (const { stop } of this.#served) await stop();
    this.#queue.destroy();
    await rm(this.#home, { recursive: true, force: true });
  }

  /** A folder as a reader may have it: some dumps, a key and the samples. */
  async folder(name: string): Promise<string> {
    const folder = join(this.#home, name);
    await mkdir(folder, { recursive: true });
    const samples = join(root, "samples");
    await symlink(samples, join(folder, "samples"));
    const rows = (await readFile(join(samples, "indicators.csv"), "utf8")).split("\n");
    // Partial answers are asked for again after a while, which takes real time.
    const dump = rows.filter((row) => !row.includes("answered in part"));
    await writeFile(join(folder, "dump.csv"), dump.join("\n"));
    await writeFile(join(folder, "key"), "sample-key\n", { mode: 0o600 });
    const events = await readFile(join(samples, "events.ndjson"));
    await writeFile(join(folder, "events.ndjson.gz"), gzipSync(events));
    return folder;
  }

  /** What a page's text says while it is tested: with the address of the service that runs. */
  placed(text: string): string {
    return text.replaceAll(serviceAddress, this.origin);
  }

  /**
   * Runs a script in a folder. Variables that it exports are there for the folder's next script.
   *
   * @param variables set before the folder's first script
   * @returns null, or what the shell printed when a command failed
   */
  run(
    script: string,
    folder: string,
    variables: Readonly<Record<string, string>> = {},
  ): Promise<string | null> {
    const before = "[ ! -f .exported ] || . ./.exported";
    const text = [before, "set -ex", this.placed(script), "{ set +x; } 2>/dev/null"].join("\n");
    const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("REPUTE_"));
    const own = Object.entries(variables).map(([name, value]) => [name, this.placed(value)]);
    const env = {
      ...Object.fromEntries([...kept, ...own]),
      HOME: folder,
      PATH: `${join(this.#home, "bin")}${delimiter}${process.env["PATH"]}`,
      DOCS_CALLS: join(this.#home, "calls"),
    };
    const child = spawn("sh", ["-c", `${text}\nexport -p | grep REPUTE_ > .exported || :`], {
      cwd: folder,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => (printed += chunk));
    }
    return new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => resolve(code === 0 ? null : `exit ${code}\n${printed}`));
    });
  }

  async #answer(call: string): Promise<void> {
    const [words, env, stdin] = await Promise.all(
      ["words", "env", "stdin"].map((name) => readFile(join(call, name), "utf8")),
    );
    const [name = "", cwd = "", ...args] = (words ?? "").slice(0, -1).split("\0");
    const given = { cwd, env: reputeVariables(env ?? ""), stdin: stdin ?? "" };
    const ended = await (name === "curl" ? curl(args) : this.#repute(args, given)).catch(
      (error: unknown) => ({ code: 70, stdout: "", stderr: `${String(error)}\n` }),
    );
    await writeFile(join(call, "stdout"), ended.stdout);
    await writeFile(join(call, "stderr"), ended.stderr);
    await writeFile(join(call, "done"), `${ended.code}\n`);
  }

  async #repute(args: readonly string[], given: RunReputeOptions): Promise<Ended> {
    if (args[0] !== "serve") return runRepute(args, given);
    const serving = await serve(args.slice(1));
    this.#served.push(serving);
    return { code: 0, stdout: serving.line, stderr: "" };
  }
}

/** The words of a command line without nested quotes. */
export function shellWords(line: string): readonly string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}

type Ended = Pick<RunReputeResult, "code" | "stdout" | "stderr">;

function reputeVariables(env: string): Readonly<Record<string, string>> {
  const lines = env.split("\n").filter((line) => /^(?:REPUTE_|XDG_|HOME=)/.test(line));
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
}

/** As much of curl as the pages use, since not every machine has it. */
async function curl(words: readonly string[]): Promise<Ended> {
  const valueOf = (flag: string): string | undefined => words[words.indexOf(flag) + 1];
  const [name = "", value = ""] = words.includes("-H") ? (valueOf("-H") ?? "").split(": ") : [];
  const response = await fetch(words.find((word) => word.startsWith("http")) ?? "", {
    method: words.includes("-X") ? (valueOf("-X") ?? "") : "GET",
    ...(words.includes("-d") ? { body: valueOf("-d") ?? "" } : {}),
    headers: name === "" ? {} : { [name]: value },
  });
  return { code: response.ok ? 0 : 22, stdout: await response.text(), stderr: "" };
}

/** `repute serve` on a free port. */
function serve(args: readonly string[]): Promise<Serving> {
  return serveHere(args.map((arg) => (/^\d{4}$/.test(arg) ? "0" : arg)));
}
