import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  reply,
  reset,
  startScriptedServer,
  type Step,
  truncated,
} from "../helpers/scripted-server.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { runInProcess } from "./run-in-process.js";

const env = {
  REPUTE_API_KEY: "intel-secret-1",
  REPUTE_ACCESS_TOKEN: "ops-secret-2",
  REPUTE_CASE_API_KEY: "case-secret-3",
};

function envelope(result: unknown) {
  return { status: "success", statusCode: 200, result };
}

const snapshot = "0123456789abcdef01234567";
const tagIps = { tag: "a:b", entries: ["192.0.2.1"], lastUpdate: "now", total: 1, snapshot };

const subscriber = { CustomerEmail: "a@b.example", CustomerName: "Ada", ContractId: 1 };

/** A command that calls a service, the variable of its credential, and a valid answer. */
interface Asking {
  readonly line: string;
  readonly secret: keyof typeof env;
  readonly honest: object;
}

const askings: readonly Asking[] = [
  asking("REPUTE_API_KEY", "tags list", envelope([{ name: "a:b", intent: "none" }])),
  asking(
    "REPUTE_API_KEY",
    "tags show a:b",
    envelope({ name: "a:b", references: [{ url: "x", description: "y" }] }),
  ),
  asking("REPUTE_API_KEY", "tags ips a:b", envelope(tagIps)),
  asking("REPUTE_ACCESS_TOKEN", "customers", {
    items: [{ customer_id: "c", tenant_id: "t" }],
    next_cursor: "",
  }),
  asking("REPUTE_ACCESS_TOKEN", "case show c", { id: "c", event_ips: ["192.0.2.1"] }),
  asking("REPUTE_ACCESS_TOKEN", "case enrich c", { id: "c", event_ips: [] }),
  ...[
    "case context c",
    "webhook check samples/webhooks/notify-crm.json --case c",
    "webhook send samples/webhooks/chat-message.json --case c --dry-run",
  ].map((line) => asking("REPUTE_CASE_API_KEY", line, { s: { resolver_data: subscriber } })),
];

function asking(secret: Asking["secret"], line: string, honest: object): Asking {
  return { line, secret, honest };
}

/** Runs a command against a server that gives this answer, with all credentials configured. */
async function against(asking: Asking, step: Step, columns?: number) {
  const server = await startScriptedServer([step]);
  const addresses = {
    REPUTE_INTEL_URL: `${server.url}/beta`,
    REPUTE_OPS_URL: server.url,
    REPUTE_CASE_URL: server.url,
  };
  const options = { env: { ...env, ...addresses }, ...(columns && { columns }) };
  const result = await runInProcess(asking.line.split(" "), options);
  return { ...result, server };
}

/** Faults in how a command ended that should report an error; empty if none. */
function amiss({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) {
  return [
    ...(code === 1 ? [] : [`exit code ${code}`]),
    ...(stdout === "" ? [] : ["something was printed"]),
    ...(/^repute: \S/.test(stderr) ? [] : [`no message: ${stderr}`]),
    ...(stderr.includes("unexpected error") ? [stderr] : []),
    ...(/secret-\d/.test(stderr) ? ["a secret was given away"] : []),
  ];
}

const page = "<!doctype html><title>Sign in</title>";
const deep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;

function withMember(honest: unknown, member: string): string {
  return `{${member},${JSON.stringify(honest).slice(1)}`;
}

/** One command of each client: the others read their answers in the same way. */
const ofEachClient = askings.filter(({ line }) =>
  ["tags show a:b", "customers", "case context c"].includes(line),
);

describe.each(askings)("$line", (asking) => {
  const { honest } = asking;

  test("accepts a valid answer, whatever its content type", async () => {
    for (const type of ["application/json", "text/html"]) {
      const { code, stderr } = await against(asking, reply(200, honest, { "content-type": type }));
      expect([code, stderr.includes("error")]).toEqual([0, false]);
    }
  });

  test.each<[string, Step]>([
    ["a page with status 200", reply(200, page, { "content-type": "text/html" })],
    ["wrong types throughout", reply(200, wrongTypes(honest))],
    ["404", reply(404)],
  ])("ends with a clear error after %s", async (_, step) => {
    expect(amiss(await against(asking, step))).toEqual([]);
  });

  test("names the refused credential", async () => {
    const result = await against(asking, reply(401));
    expect(amiss(result)).toEqual([]);
    expect(result.stderr).toMatch(new RegExp(`was not accepted[^]*${asking.secret}`));
    expect(result.server.requests).toHaveLength(1);
  });

  test("follows no redirect, so that its credential stays with its origin", async () => {
    const elsewhere = await startScriptedServer([reply(200, honest)]);
    const result = await against(asking, reply(302, "", { location: `${elsewhere.url}/` }));
    expect(amiss(result)).toEqual([]);
    expect(elsewhere.requests).toEqual([]);
  });

  test("prints 7 MB of text with control characters without harming the terminal", async () => {
    const member = `"x":"${"x".repeat(7_000_000)}","y":"\\u001b[2J"`;
    const { code, stdout } = await against(asking, reply(200, withMember(honest, member)), 80);
    expect(code).toBe(0);
    expect(stdout).not.toContain("\u001B");
    expect(stdout.length).toBeLessThan(100_000);
  });
});

describe.each(ofEachClient)("$line, as every command of its client,", (asking) => {
  const { honest } = asking;

  test.each<[string, Step]>([
    ["nothing", reply(200)],
    ["a text of 10 MB", reply(200, withMember(honest, `"x":"${"x".repeat(10_000_000)}"`))],
    ["deep nesting", reply(200, withMember(honest, `"x":${deep}`))],
    ["deep nesting and nothing else", reply(200, deep)],
    ["a list", reply(200, "[]")],
    ["a number", reply(200, "7")],
    ["half of an answer", truncated(honest)],
    ["a reset connection", reset()],
    ["another success", reply(204)],
    ["403", reply(403)],
    ["500", reply(500, page)],
    ["503 without an envelope", reply(503)],
  ])("ends with a clear error after %s", async (_, step) => {
    expect(amiss(await against(asking, step))).toEqual([]);
  });

  test("waits as long as asked when throttled, and fails in the end", async () => {
    const result = await against(asking, reply(429, "", { "retry-after": "7" }));
    expect(amiss(result)).toEqual([]);
    expect(result.server.requests).toHaveLength(6);
    expect(result.pauses.filter((ms) => ms >= 6900).length).toBeGreaterThanOrEqual(5);
  });
});

test("tags show refuses a statusCode that contradicts the HTTP status", async () => {
  const [, show] = askings;
  const body = { ...show!.honest, statusCode: 503 };
  expect(amiss(await against(show!, reply(200, body)))).toEqual([]);
});

/** The same shape with a wrong type in every place. Subscriber data may have any type. */
function wrongTypes(value: unknown): string {
  if ("s" in (value as object)) return '{"s":7}';
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "string" ? 7 : typeof inner === "number" ? "seven" : inner,
  );
}

const more = { ...tagIps, total: 3 };

test.each<[string, readonly object[], number, RegExp]>([
  [
    "changes while being read",
    [more, { ...more, snapshot: "f".repeat(24) }],
    1,
    /changed while it was read[\s\S]*run the command again/,
  ],
  ["is that of another tag", [{ ...more, tag: "c:d" }], 1, /answered for tag "c:d" when asked for/],
  [
    "has a page that repeats the one before it",
    [{ ...more, total: 1_000_000 }],
    1,
    /page at offset 1 .* repeats the one before[^]*the printed list is incomplete/,
  ],
  [
    "has fewer entries than its total",
    [more, { ...more, entries: [] }],
    1,
    /has 1 distinct address, but its reported total is 3[^]*the printed list is incomplete/,
  ],
  [
    "has an entry that is not an address",
    [more, { ...more, entries: ["192.0.2.2", "example.com"] }],
    1,
    /entry 3 of .* is "example\.com", which is not an IP address[^]*the printed list is incomplete/,
  ],
  [
    "has an address on two pages, in whatever form",
    [
      { ...more, entries: ["192.0.2.1", "2001:db8::1"] },
      { ...more, entries: ["2001:DB8:0:0::1"] },
    ],
    3,
    /has 2 distinct addresses, but its reported total is 3; it has 1 duplicate entry[^]*the printed list is incomplete/,
  ],
])("tags ips reports a list that %s", async (_, pages, printed, message) => {
  const { url } = await startScriptedServer(pages.map((page) => reply(200, envelope(page))));
  const { code, stdout, stderr } = await runInProcess(["tags", "ips", "a:b", "--intel-url", url]);
  expect([code, stdout.trimEnd().split("\n").length]).toEqual([1, printed]);
  expect(stderr).toMatch(message);
});

describe("customers", () => {
  test("fails after the pages so far when a cursor repeats", async () => {
    const pages = ["1", "2", "1"].map((next) =>
      reply(200, { items: [{ customer_id: `c-${next}` }], next_cursor: next }),
    );
    const server = await startScriptedServer(pages);
    const args = ["customers", "--ops-url", server.url];
    const { code, stdout, stderr } = await runInProcess(args);
    expect([code, stdout.split("\n").length, server.requests.length]).toEqual([1, 4, 3]);
    expect(stderr).toContain("repeated a cursor");
  });

  test.each([undefined, 80])(
    "prints the pages before a fault (terminal width %j)",
    async (columns) => {
      const first = { items: [{ customer_id: "c-1" }], next_cursor: "1" };
      const server = await startScriptedServer([reply(200, first), reply(500)]);
      const args = ["customers", "--ops-url", server.url, "--retries", "0"];
      const { code, stdout } = await runInProcess(args, columns === undefined ? {} : { columns });
      expect([code, stdout]).toEqual([1, expect.stringContaining("c-1")]);
    },
  );
});

test("a webhook gets no key of the case management instance, and its refusal is explained", async () => {
  const receiver = await startScriptedServer([reply(401)]);
  const instance = await startScriptedServer([reply(200, { s: { resolver_data: subscriber } })]);
  const file = join(await temporaryFolder(), "webhook.json");
  const payload = "{{ s.resolver_data.CustomerEmail }}";
  const webhook = { name: "W", endpoint: receiver.url, method: "POST", payload };
  await writeFile(file, JSON.stringify(webhook));
  const args = ["webhook", "send", file, "--case", "c", "--case-url", instance.url];
  const { code, stdout, stderr } = await runInProcess(args, { env });
  expect(instance.requests[0]?.headers["authorization"]).toBe("Bearer case-secret-3");
  expect(receiver.requests).toHaveLength(1);
  expect(receiver.requests[0]?.headers).not.toHaveProperty("authorization");
  expect([code, JSON.parse(stdout)]).toMatchObject([1, { outcome: "refused", status: 401 }]);
  expect(stderr).toMatch(/Authentication Failed.*Step 1: generate an API key.*Step 2: use Bearer/);
});
