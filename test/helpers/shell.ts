import { execFile, type ExecFileOptions } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The built program. */
export const program = fileURLToPath(new URL("../../dist/program/repute.js", import.meta.url));

export interface Shell {
  readonly cwd: string;
  /** Variables in addition to the process's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** Options of a file system in memory that is mounted at `disk`, such as `size=64k`. */
  readonly disk?: string;
  /**
   * In a namespace of its own: without root's right to ignore file modes, or with the right to
   * mount.
   */
  readonly as?: "user" | "root";
}

export interface Ended {
  /** -1 if the program could not be started, or was killed. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs lines of bash, in which `repute` is the built program. */
export function shell(lines: string, { cwd, env, disk, as }: Shell): Promise<Ended> {
  const mount = disk === undefined ? "" : `mount -t tmpfs -o ${disk} tmpfs disk || exit 99\n`;
  const script = `${mount}repute() { "${process.execPath}" "${program}" "$@"; }\n${lines}`;
  const root = as === "root" || disk !== undefined;
  const apart = root ? ["unshare", "--user", "--map-root-user", "--mount"] : ["unshare", "--user"];
  const command = [...(root || as === "user" ? apart : []), "bash", "-c", script];
  return ended(command[0]!, command.slice(1), { cwd, env: { ...process.env, ...env } });
}

/** Runs a program to its end, with this text on stdin. */
export function ended(
  file: string,
  args: readonly string[],
  options: Pick<ExecFileOptions, "cwd" | "env" | "gid" | "uid">,
  stdin = "",
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(file, args, options, (error, stdout, stderr) => {
      const code: unknown = error?.code ?? 0;
      resolve({ code: typeof code === "number" ? code : -1, stdout, stderr });
    });
    child.stdin?.end(stdin);
  });
}
