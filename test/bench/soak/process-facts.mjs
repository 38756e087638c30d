import { readdir, readFile } from "node:fs/promises";

/** Bytes in a page and clock ticks in a second, as Linux has them on all common processors. */
const [pageBytes, ticks] = [4096, 100];

/** Memory, descriptors and processor time of a process; empty where the system does not tell. */
export async function resourcesOf(pid) {
  try {
    const [statm, stat, descriptors] = await Promise.all([
      readFile(`/proc/${pid}/statm`, "latin1"),
      readFile(`/proc/${pid}/stat`, "latin1"),
      readdir(`/proc/${pid}/fd`),
    ]);
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return {
      mib: (Number(statm.split(" ")[1]) * pageBytes) / 2 ** 20,
      descriptors: descriptors.length,
      cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticks,
      pid,
    };
  } catch {
    return { mib: null, descriptors: null, cpuSeconds: null, pid };
  }
}

/** The rows written so far, by a file of metrics; null if there is none yet. */
export async function rowsIn(path) {
  const text = await readFile(path, "utf8").catch(() => null);
  if (text === null) return null;
  const counts = text.matchAll(/^repute_rows\{.*\} (\d+)$/gm);
  return Array.from(counts, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0);
}
