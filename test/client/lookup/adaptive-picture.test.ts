import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import {
  fixedWindow,
  type ScriptedServer,
  type Second,
  simulatePace,
  slidingWindow,
  slowingDown,
  tokenBucket,
} from "../../helpers/pace-simulation.js";

const path = fileURLToPath(new URL("../../../docs/pace.svg", import.meta.url));

const seconds = 80;

interface Curve {
  readonly title: string;
  readonly server: ScriptedServer;
  readonly limitAt: (second: number) => number;
  /** Whether to draw the number of open requests as well. */
  readonly open?: boolean;
}

const curves: readonly Curve[] = [
  { title: "token bucket", server: tokenBucket(() => 150), limitAt: () => 150 },
  { title: "fixed window", server: fixedWindow(150), limitAt: () => 150 },
  { title: "sliding window", server: slidingWindow(150), limitAt: () => 150 },
  {
    title: "limit halves after 40 s",
    server: tokenBucket((now) => (now < 40_000 ? 150 : 75)),
    limitAt: (second) => (second < 40 ? 150 : 75),
  },
  {
    title: "limit doubles after 40 s",
    server: tokenBucket((now) => (now < 40_000 ? 150 : 300)),
    limitAt: (second) => (second < 40 ? 150 : 300),
  },
  {
    title: "slows down, never throttles",
    server: slowingDown(150),
    limitAt: () => 150,
    open: true,
  },
];

test("the picture of simulated rates is up to date", async () => {
  const parts: string[] = [];
  for (const [index, curve] of curves.entries()) {
    const counts = await simulatePace(curve.server, seconds);
    parts.push(panel(curve, counts, (index % 2) * 440, Math.floor(index / 2) * 200));
  }
  const style =
    "text{font:12px sans-serif;fill:#333}polyline{fill:none;stroke-width:1.5}.a{stroke:#1668b8}.l{stroke:#999;stroke-dasharray:4}.t{stroke:#c33}.o{stroke:#2a8}";
  const drawn = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 880 610"><rect width="880" height="610" fill="#fff"/><style>${style}</style>\n${parts.join("\n")}\n</svg>\n`;
  if (process.env["UPDATE_PICTURES"] === "1") await writeFile(path, drawn);
  expect(await readFile(path, "utf8")).toBe(drawn);
});

function panel(
  { title, limitAt, open }: Curve,
  counts: readonly Second[],
  x: number,
  y: number,
): string {
  const line = (name: string, values: readonly number[]): string => {
    const points = values.map((value, at) => `${40 + at * 4.8},${(180 - value * 0.45).toFixed(1)}`);
    return `<polyline class="${name}" points="${points.join(" ")}"/>`;
  };
  return [
    `<g transform="translate(${x},${y})"><text x="40" y="24">${title}: accepted a second, limit (dashed), ${open ? "open (green)" : "throttled (red)"}</text>`,
    `<text x="8" y="184">0</text><text x="8" y="117">150</text><text x="400" y="196">${seconds} s</text>`,
    line(
      "l",
      counts.map((_, at) => limitAt(at)),
    ),
    line(
      "a",
      counts.map(({ accepted }) => accepted),
    ),
    line(
      open ? "o" : "t",
      counts.map((second) => (open ? second.open : second.throttled)),
    ),
    "</g>",
  ].join("\n");
}
