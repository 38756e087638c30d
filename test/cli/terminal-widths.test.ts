import { cp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import stringWidth from "string-width";
import { expect, onTestFinished, test } from "vitest";
import { commandNames, commandNamed } from "../../src/cli/command-list.js";
import { runToEnd } from "../../src/cli/command-line/command-line.js";
import { Reporter } from "../../src/cli/terminal/reporter.js";
import { ManualClock } from "../helpers/manual-clock.js";
import { column, workspace } from "../helpers/workspace.js";
import { fakeContext, FakeStream } from "./fake-context.js";

const samples = fileURLToPath(new URL("../../samples", import.meta.url));
const local = ["--local", "--synthetic", "7"];

/** What a person types, in this order: later commands read what earlier ones wrote. */
const session: readonly (readonly string[])[] = [
  ["plan", "monday.csv", ...local],
  ["extract", "webhooks/static-subscriber.json"],
  ["enrich", "monday.csv", "-o", "monday.out.csv", ...local],
  ["enrich", "monday.csv", "-o", "spread.csv", "--workers", "2", ...local],
  ["enrich", "tuesday.csv", "-o", "tuesday.out.csv", "--cache", "cache", ...local],
  ["worker", "redis.example"],
  ["retry", "monday.out.csv", "-o", "again.csv", "--local", "--partial-retries", "0"],
  ["verify", "monday.out.csv"],
  ["report", "tuesday.out.csv"],
  ["diff", "monday.out.csv", "tuesday.out.csv"],
  ["query", "192.0.2.1", "--local"],
  ["query", "setup.exe", ...local],
  ["query", "192.0.2.1", "2001:db8::7", "hxxps://example.org/a/long/path/to/a/page", ...local],
  ["quick-check", "192.0.2.1", "198.51.100.7", "example.com", ...local],
  ["tags", "list", "--local"],
  ["tags", "list", "--descriptions", "--local"],
  ["tags", "show", "credentials:brute-force", "--local"],
  ["tags", "show", "no:such-tag", "--local"],
  ["tags", "ips", "spam:snowshoe", "--local"],
  ["tags", "export", "spam:snowshoe", "-o", "lists", "--local"],
  ["customers", "--local"],
  ["case", "show", "case-2001", "--local"],
  ["case", "show", "no-such-case", "--local"],
  ["case", "context", "case-2001", "--local"],
  ["case", "enrich", "case-2001", "-o", "case.csv", "--local"],
  "webhook check webhooks/static-subscriber.json --case case-2001 --local".split(" "),
  "webhook send webhooks/chat-message.json --case case-2001 --dry-run --local".split(" "),
  ["doctor", "--local", "--rate", "5/s"],
  ["doctor", "-o", "no-such-folder/out.csv"],
  [],
  ["--help"],
  ["tags", "--help"],
  ["serve", "--port", "0"],
];

test("covers every command", () => {
  const covered = new Set(session.map((args) => commandNamed(args, commandNames)));
  covered.delete(null);
  expect(covered.add("schema").add("completion").add("mcp")).toEqual(new Set(commandNames));
});

test.each([40, 80])(
  "at %i columns every command says something, in lines that fit",
  async (columns) => {
    const rows = Array.from({ length: 20 }, (_, at) => `198.51.100.${at},host-${at}.example.com`);
    const { cwd, at } = await workspace({
      "monday.csv": column("ioc,note", rows.slice(0, 15)),
      "tuesday.csv": column("ioc,note", [...rows.slice(3), "setup.exe,a file"]),
    });
    await cp(join(samples, "webhooks"), at("webhooks"), { recursive: true });
    const before = process.cwd();
    onTestFinished(() => process.chdir(before));
    process.chdir(cwd);
    for (const args of session) {
      const text = await typed(args, columns);
      expect(text, args.join(" ")).toMatch(/\S/);
      expect(tooWide(text, columns), args.join(" ")).toEqual([]);
    }
  },
);

/** Lines that are wider than the terminal, but could have been wrapped. A command to copy is one line. */
function tooWide(text: string, columns: number): readonly string[] {
  return text
    .split("\n")
    .filter((line) => stringWidth(line) > columns && / \S+ /.test(line))
    .filter((line) => !/^ {2,4}repute [a-z]/.test(line));
}

/** Runs a command at a terminal and returns what is on the screen afterwards. */
async function typed(args: readonly string[], columns: number): Promise<string> {
  const folder = process.cwd();
  // A longer path would be one word that does not fit.
  const env = { HOME: folder, XDG_STATE_HOME: folder };
  // doctor compares the clock with that of the service.
  const clock = new ManualClock(commandNamed(args) === "doctor" ? { startMs: Date.now() } : {});
  const screen = new FakeStream(columns);
  const reporter = new Reporter(screen);
  const fake = fakeContext({ env });
  // Stops once it has printed its addresses.
  if (commandNamed(args) === "serve") fake.controller.abort();
  const context = { ...fake, stdout: screen, stderr: screen, reporter, clock };
  await clock.run(runToEnd(args, context));
  // Without what is erased again.
  return screen.text.replaceAll(/[^\n]*\r\u001B\[K/g, "");
}
