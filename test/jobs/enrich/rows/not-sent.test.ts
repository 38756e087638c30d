import { beforeEach, expect, test } from "vitest";
import { runRepute } from "../../../helpers/run-repute.js";
import { reply, startScriptedServer } from "../../../helpers/scripted-server.js";
import { watchedService } from "../../../helpers/watched-service.js";
import { column, type Workspace, workspace } from "../../../helpers/workspace.js";

/** What the lists name, in all of their forms. */
const held = [
  "8.8.8.8",
  "::ffff:8.8.4.4",
  "http://8.8.1.1:8080/a",
  "2606:4700::1111",
  "corp.example.com",
  "HOST.Corp.Example[.]com.",
  "hxxps://wiki.corp.example.com/login?token=secret",
  "me@corp.example.com",
  "me@staff.example.org",
  "bücher.example.com",
  "http://user:secret@mycompany.example.net/",
  "3395856CE81F2B7382DEE72602F798B642F14140",
  "192.0.2.15",
];

/** What is near to it. */
const asked = [
  "9.8.8.8",
  "2606:4701::1111",
  "notcorp.example.com",
  "corp.example.com.example.net",
  "example.com",
  "me@mail.staff.example.org",
  "staff.example.org",
  "https://example.net/?q=corp.example.com",
  "192.0.2.1",
];

/** Never sent, list or not. */
const internal = ["http://10.1.2.3/login?token=secret", "http://intranet/", "http://nas.local/a"];

const secrets =
  /8\.8\.8\.8|8\.8\.4\.4|8\.8\.1\.1|4700::1111|\/(?:host\.)?corp\.example\.com$|wiki\.corp|me@corp|me@staff|xn--bcher|b.cher|mycompany|3395856c|192\.0\.2\.15|secret|user:|10\.1\.2\.3|intranet|nas\.local/i;

let place: Workspace;
let lists: readonly string[];

beforeEach(async () => {
  const misp = (type: string, ...list: string[]) =>
    JSON.stringify({ name: type, type, version: 1, list });
  const contents: Record<string, string> = {
    "lines.txt":
      "# ours\n8.8.0.0/16\nCORP.example.com # and below\n@staff.example.org\nbücher.example.com\n",
    "singles.txt": "3395856ce81f2b7382dee72602f798b642f14140\n192.0.2.15\n",
    "cidr.json": misp("cidr", "2606:4700::/32"),
    "substring.json": misp("substring", "MyCompany"),
  };
  place = await workspace({
    ...contents,
    "in.csv": column("item", [...held, ...asked, ...internal]),
  });
  lists = Object.keys(contents).map(place.at);
});

const excluding = (): string[] => lists.flatMap((path) => ["--exclude", path]);

/** What was asked for, as last part of the path. */
function itemsIn(seen: readonly string[]): string[] {
  return seen.flatMap((path) => /^\/beta\/(?:query|quick-check)\/(.*)$/s.exec(path)?.[1] ?? []);
}

function expectNeighboursOnly(seen: readonly string[], of = asked): void {
  expect(seen.filter((path) => secrets.test(path))).toEqual([]);
  expect([...new Set(itemsIn(seen))].sort()).toEqual([...of].sort());
}

test("what a list names doesn't arrive, its neighbours do: enrich, and retry of what failed", async () => {
  const { seen, intelUrl } = await watchedService();
  const flags = ["--intel-url", intelUrl, ...excluding(), "--quiet"];
  const run = await place.run("enrich", "in.csv", "-o", "out.csv", ...flags);
  expect([run.code, run.stderr]).toEqual([0, ""]);
  expectNeighboursOnly(seen);
  const text = await place.read("out.csv");
  expect(text.match(/,excluded,/g)).toHaveLength(held.length);
  expect(text.match(/,internal_host,/g)).toHaveLength(internal.length);
  const told = await place.run("enrich", "in.csv", "-o", "o.csv", "--local", ...excluding());
  expect(told.stderr).toMatch(/ not sent .*singles\.txt 2/s);
  const { exclusions } = await place.manifest();
  expect(exclusions).toMatchObject([9, 2, 1, 1].map((rows, at) => ({ path: lists[at], rows })));
  expect(exclusions?.[0]).toMatchObject({
    entries: 4,
    sha256: expect.stringMatching(/^[\da-f]{64}$/),
  });
  seen.length = 0;
  const unsafe = ",http://user:secret@intranet/,url,";
  const failed = text.replaceAll(",complete,", ",failed,").replace(",9.8.8.8,ip,", unsafe);
  await place.write("failed.csv", failed);
  const retried = await place.run("retry", "failed.csv", "-o", "again.csv", ...flags);
  expect([retried.code, retried.stderr]).toEqual([0, ""]);
  expect(seen.length).toBeGreaterThan(0);
  const others = asked.filter((item) => item !== "9.8.8.8");
  expectNeighboursOnly(seen, others);
  const filled = await place.manifest("again.csv");
  expect(filled.exclusions?.map(({ rows }) => rows)).toEqual([9, 2, 1, 1]);
  expect(await place.read("again.csv")).not.toContain("secret@intranet");
});

test("a webhook's payload", async () => {
  const { seen, origin } = await watchedService();
  const payload = { ip: "{{ ip }}", note: "about {{ ip }}" };
  await place.write(
    "hook.json",
    JSON.stringify({ name: "n", endpoint: origin, method: "POST", payload }),
  );
  const cases = await startScriptedServer(({ path }) => reply(200, { ip: path.split("/").at(-2) }));
  const send = async (ip: string) => {
    const args = ["hook.json", "--case", ip, "--case-url", cases.url, "--retries", "0"];
    return place.run("webhook", "send", ...args, ...excluding());
  };
  const { code, stderr } = await send("8.8.8.8");
  expect([code, seen]).toEqual([2, []]);
  for (const member of ["ip", "note"]) {
    expect(stderr).toContain(
      `/payload/${member}: contains an item on the exclusion list ${lists[0]}`,
    );
  }
  await send("9.9.9.9");
  expect(seen).toHaveLength(1);
});

test("by default, addresses in reserved ranges don't arrive, and queries of URLs needn't", async () => {
  const { seen, intelUrl } = await watchedService();
  // Other tests set it.
  const env = { REPUTE_BOGONS: "" };
  const items = ["10.0.0.1", "192.0.2.1", "::ffff:192.168.1.1", "fd00::1", "9.9.9.9"];
  const { stdout } = await runRepute(["query", ...items, "--intel-url", intelUrl], { env });
  expectNeighboursOnly(seen, ["9.9.9.9"]);
  expect(stdout.match(/"type":"IP_BOGON"/g)).toHaveLength(4);
  seen.length = 0;
  const urls = ["https://example.com/a?token=secret", "https://example.com/b#secret"];
  await runRepute(["query", ...urls, "--intel-url", intelUrl, "--url-query", "strip"]);
  expectNeighboursOnly(seen, ["https://example.com/a", "https://example.com/b"]);
});

test("plan counts what lists hold back", async () => {
  const { stdout } = await place.run("plan", "in.csv", "--json", ...excluding());
  const plan = JSON.parse(stdout);
  expect(Object.values(plan.excluded)).toEqual([9, 2, 1, 1]);
  expect(plan.unsupported).toMatchObject({ excluded: held.length, internal_host: 3 });
  expect(plan.requests.query).toMatchObject({ query: asked.length });
});
