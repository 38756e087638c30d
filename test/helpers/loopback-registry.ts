import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";

/** An npm registry of packages of one module, on the loopback interface. Returns its address. */
export async function loopbackRegistry(
  folder: string,
  packages: readonly Readonly<Record<"name" | "version" | "code", string>>[],
): Promise<string> {
  const files = new Map<string, Buffer>();
  const server = createServer((request, response) => {
    const body = files.get(request.url ?? "");
    response.writeHead(body ? 200 : 404).end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const { name, version, code } of packages) {
    const manifest = { name, version, type: "module", exports: "./index.js" };
    const path = `/${name}/-/${name}-${version}.tgz`;
    const versions = { [version]: { ...manifest, dist: { tarball: address + path } } };
    const document = { name, "dist-tags": { latest: version }, versions };
    files.set(`/${name}`, Buffer.from(JSON.stringify(document)));
    files.set(path, await packed(join(folder, name), manifest, code));
  }
  return address;
}

async function packed(folder: string, manifest: object, code: string): Promise<Buffer> {
  await mkdir(join(folder, "package"), { recursive: true });
  await writeFile(join(folder, "package", "package.json"), JSON.stringify(manifest));
  await writeFile(join(folder, "package", "index.js"), code);
  await promisify(execFile)("tar", ["-czf", "package.tgz", "package"], { cwd: folder });
  return readFile(join(folder, "package.tgz"));
}
