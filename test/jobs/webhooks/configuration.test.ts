import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { UsageError } from "../../../src/core/errors.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { parseWebhook, readWebhook } from "../../../src/jobs/webhooks/configuration.js";

const good = {
  name: "Notify",
  endpoint: "https://crm.example.com/api",
  method: "POST",
  payload: { email: "{{ s.resolver_data.CustomerEmail }}" },
};

function faultOf(text: string): UsageError {
  try {
    parseWebhook(text, "hooks.json");
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("parseWebhook", () => {
  it.each([[null], ["text {{ s.x }}"], [[1, 2]], [false], [0]])(
    "accepts %j as payload",
    (payload) => {
      expect(parseWebhook(JSON.stringify({ ...good, payload }), "x").payload).toEqual(payload);
    },
  );

  it("reads YAML", () => {
    const text = `# CRM
name: Notify
endpoint: https://crm.example.com/api
method: POST
payload: { email: "{{ s.resolver_data.CustomerEmail }}" }
`;
    expect(parseWebhook(text, "hooks.yaml")).toEqual(good);
  });

  it.each([
    ['{\n  "name": "a",\n  "endpoint": "b"\n', 4, 1],
    ["name: a\nname: b\n", 2, 1],
    ["\uFEFFname: a\npayload:\n\t- b\n", 3, 1],
  ])("names file, line and column of the fault in %j", (text, line, column) => {
    const { code, message } = faultOf(text);
    expect(code).toBe("webhook_syntax");
    expect(message.split(": ")[0]).toBe(`hooks.json, line ${line}, column ${column}`);
  });

  it.each([
    [{ ...good, method: "post" }, "/method must be one of POST, PUT, PATCH, DELETE, GET"],
    [
      { ...good, endpoint: "ftp://example.com" },
      "/endpoint must be an http:// or https:// address",
    ],
    [{ ...good, name: " " }, "/name must not be empty"],
    [{ ...good, path: 1 }, "/path must be a string"],
    [{ ...good, Path: "/x" }, 'unknown member "Path"'],
    [[good], "a webhook must be an object with name, endpoint, method and payload"],
  ])("names the invalid member: %j", (webhook, message) => {
    expect(faultOf(JSON.stringify(webhook)).message).toBe(`hooks.json: ${message}`);
  });

  it("names each missing member", () => {
    for (const member of ["name", "endpoint", "method", "payload"]) {
      const { message } = faultOf(JSON.stringify({ ...good, [member]: undefined }));
      expect(message).toBe(`hooks.json: /${member} is missing`);
    }
  });

  it("names every fault", () => {
    const { message } = faultOf(JSON.stringify({ ...good, method: "X", name: "" }));
    expect(message).toContain("2 faults");
    expect(message).toContain("/name must not be empty");
    expect(message).toContain("/method must be one of");
  });
});

it("readWebhook reads a file, and names one that does not exist", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "hooks.json"), JSON.stringify(good));
  await expect(readWebhook(join(folder, "hooks.json"))).resolves.toEqual(good);
  const none = join(folder, "none.json");
  await expect(readWebhook(none)).rejects.toThrow(`${none}: the file does not exist`);
});
