import { expect, it } from "vitest";
import { itemFinder } from "../../../src/jobs/extract/find-items.js";
import { markupReader } from "../../../src/jobs/extract/markup.js";

function textOf(html: string, size = html.length): string {
  const reader = markupReader("", "text/html")!;
  let text = "";
  for (let at = 0; at < html.length; at += size) text += reader.read(html.slice(at, at + size));
  return text + reader.end();
}

function itemsOf(html: string, size?: number): readonly string[] {
  const found: string[] = [];
  itemFinder()(textOf(html, size), ({ item }, line) => found.push(`${line} ${item.value}`));
  return found;
}

it.each([
  ['<a href="http://a.example.com/?b=1&amp;c=2">b</a>', "0 http://a.example.com/?b=1&c=2"],
  ["<a\nhref='http://a.example.com/b c'\n>d</a>", "0 http://a.example.com/b%20c"],
  ["<img src=//a.example.com/b.png alt='>'>", "0 http://a.example.com/b.png"],
  ["<p>a&#46;example&#x2E;com</p>", "0 a.example.com"],
  ["<p>a.exam<wbr>ple.<b>com</b></p>", "0 a.example.com"],
  ["<p>ann&commat;exa&shy;mple&period;com", "0 ann@example.com"],
  ["<!-- a.example.com -->", "0 a.example.com"],
  ["<script>\nif (a<b) location='http://a.example.com/x'</script>", "1 http://a.example.com/x"],
  ["<td>pay-now.zip</td><td>open</td>", "0 pay-now.zip"],
  ["&lt;ann@example.com&gt;", "0 ann@example.com"],
  ["<ann@example.com>", "0 ann@example.com"],
])("finds the item of %s, in any pieces", (html, item) => {
  expect(itemsOf(html)).toEqual([item]);
  expect(itemsOf(html, 1)).toEqual([item]);
  expect(itemsOf(html, 3)).toEqual([item]);
});

it.each([
  '<html xmlns="http://www.w3.org/1999/xhtml">',
  '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN" "http://www.w3.org/TR/xhtml1/DTD/x.dtd">',
  '<p class="a.example.com" id="b.example.com">',
  "<p>a</p><p>.example.com</p>",
])("finds nothing in %s", (html) => {
  expect(itemsOf(html)).toEqual([]);
});

it("keeps the lines and all text of an unfinished tag", () => {
  const html = "a\n<b\nc\n>\n&amp;\n<a href='x\n\na.example.com";
  expect(textOf(html).split("\n").length).toBe(html.split("\n").length);
  for (const text of ["1 < 2 a.co", "<a ".repeat(200_000)]) expect(textOf(text)).toBe(text);
});

it.each([
  ["<!doctype html>", true],
  ["\n<!-- x -->\n<HTML lang='en'>", true],
  ["<p>x", true],
  ["<ann@example.com>\n", false],
  ["<https://example.com/>", false],
  ["<stix:Package>", false],
  ["a <p>", false],
])("tells whether %j begins a page", (head, expected) => {
  const text = "<i>a</i>";
  const read = markupReader(head)?.read(text) ?? text;
  expect(!read.includes("<i>")).toBe(expected);
});
