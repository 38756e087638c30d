import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatPath, parsePql, readField } from "../../../src/jobs/webhooks/render.js";
import { anyText } from "../../helpers/any-text.js";

describe("parsePql", () => {
  it.each(["{{s.x}}", "{{   s.x   }}", "{{\n\ts.x\n}}"])("allows white space: %j", (text) => {
    expect(parsePql(text).parts).toEqual([{ path: ["s", "x"] }]);
  });

  it.each([
    ["{{ s.x", "no closing"],
    ["{{ }}", "write the path"],
    ["{{ s..x }}", "write the path"],
    ["{{ s[x] }}", "write the path"],
    ["{{{ s.x }}}", "write the path"],
  ])("explains the fault in %j", (text, message) => {
    expect(parsePql(text).faults).toEqual([{ at: 0, message: expect.stringContaining(message) }]);
  });

  it("continues after an invalid field", () => {
    const { parts, faults } = parsePql("a {{ . }} b {{ s.x }} {{ }}");
    expect(parts).toEqual(["a ", " b ", { path: ["s", "x"] }, " "]);
    expect(faults.map((fault) => fault.at)).toEqual([2, 22]);
  });

  it("parses every path it formats", () => {
    const name = fc.oneof(fc.string(), anyText()).filter((text) => /^[^.[\]{}]+$/.test(text));
    const step = fc.oneof(name, fc.nat(999_999_999));
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        fc.pre(!/\s$/.test(String(steps.at(-1))));
        const path = ["s", ...steps];
        expect(parsePql(`{{ ${formatPath(path)} }}`)).toEqual({ parts: [{ path }], faults: [] });
      }),
    );
  });
});

describe("readField", () => {
  it.each([
    ["a member of a text", ["text", "length"]],
    ["a member of an array", ["list", "length"]],
    ["an index of an object", ["s", 0]],
    ["an index beyond the end", ["list", 9]],
    ["an inherited member", ["constructor"]],
    ["the prototype", ["__proto__"]],
    ["a member of __proto__ that the JSON has", ["__proto__", "admin"]],
  ])("does not reach %s", (_, path) => {
    const context: unknown = JSON.parse(
      '{"s":{"0":1},"text":"abc","list":[1],"nothing":null,"__proto__":{"admin":true}}',
    );
    expect(readField(context, path)).toBeNull();
  });
});
