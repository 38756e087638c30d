import fc from "fast-check";
import { expect, test } from "vitest";
import { parseYaml } from "../../../src/core/wording/yaml-text.js";

test("reads whatever JSON.stringify writes", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 2, "\t"), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(parseYaml(text)).toMatchObject({ value: JSON.parse(text) as unknown, fault: null });
    }),
  );
});

test("reports nesting that is too deep as a fault", () => {
  expect(parseYaml("[".repeat(10_000)).fault).not.toBeNull();
});
