import { expect, test } from "vitest";
import { recogniseItem } from "../../../src/core/item/recognise.js";
import { defang, defangLinks } from "../../../src/jobs/report/phrases.js";

test.each([
  ["ip", "192.0.2.1", "192[.]0[.]2[.]1"],
  ["ip", "2001:db8::1", "2001:db8::1"],
  ["url", "http://[2606:4700::1]:8080/a", "hxxp://[2606:4700::1]:8080/a"],
  ["domain", "login.example.com", "login[.]example[.]com"],
  ["url", "http://example.com/a.b?c=d.e", "hxxp://example[.]com/a.b?c=d.e"],
  ["email", "ada.b@example.net", "ada[.]b[@]example[.]net"],
  ["sha1", "3395856ce81f2b7382dee72602f798b642f14140", "3395856ce81f2b7382dee72602f798b642f14140"],
])("defangs %s %s", (kind, item, shown) => {
  expect(defang(item, kind)).toBe(shown);
  expect(recogniseItem(shown).item).toEqual({ kind, value: item });
});

test("undoes every scheme of a link", () => {
  expect(defangLinks("see https://example.com, JAVASCRIPT:alert(1) and data:text/html,x")).toBe(
    "see hxxps://example.com, JAVASCRIPT[:]alert(1) and data[:]text/html,x",
  );
});
