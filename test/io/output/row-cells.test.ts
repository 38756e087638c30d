import { expect, it } from "vitest";
import { plainEscapes } from "../../../src/io/output/stage.js";

it.each([
  ['"\\u0000"', '"\0"'],
  ['"\\\\u0000"', '"\\\\u0000"'],
  ['"\\ud83d\\ude00"', '"\\ud83d\\ude00"'],
  ['"\\ud83d"', '"\ud83d"'],
  ['"\\ude00\\ud83d"', '"\ude00\ud83d"'],
  ['"\\u00e9\\n"', '"\\u00e9\\n"'],
])("turns the escapes of %j into characters where a database refuses them", (json, plain) => {
  expect(plainEscapes(json)).toBe(plain);
});
