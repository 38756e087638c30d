import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** Opens a DuckDB file in another process, and returns a function that ends it. */
export async function holdDuckdb(file: string): Promise<() => Promise<void>> {
  const api = import.meta.resolve("@duckdb/node-api");
  const script = `const { DuckDBInstance } = await import(${JSON.stringify(api)});
    const held = await DuckDBInstance.create(${JSON.stringify(file)});
    console.log("open"); setInterval(() => held, 1e6);`;
  const other = spawn(process.execPath, ["--input-type=module", "-e", script], {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const closed = once(other, "close");
  const release = async (): Promise<void> => {
    other.kill("SIGKILL");
    await closed;
  };
  onTestFinished(release);
  await once(other.stdout, "data");
  return release;
}
