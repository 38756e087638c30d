import { expect, it } from "vitest";
import { itemFinder } from "../../../src/jobs/extract/find-items.js";
import { MailReader } from "../../../src/jobs/extract/mail.js";

/** The items of a mail with their lines, and the parts that were not read. */
function itemsOf(mail: string, blocks: readonly string[] = [mail]) {
  const unread: string[] = [];
  const reader = new MailReader((part, line) => unread.push(`${line} ${part}`));
  const find = itemFinder();
  const items: string[] = [];
  let lines = 1;
  const read = (text: string): void => {
    lines += find(text, ({ item }, line) => items.push(`${lines + line} ${item.value}`));
  };
  for (const block of blocks) read(reader.read(block));
  read(reader.end());
  return { items, unread, lines };
}

const base64 = (text: string | Buffer, width = 76): string =>
  Buffer.from(text)
    .toString("base64")
    .replaceAll(new RegExp(`.{${width}}`, "g"), "$&\n");

function part(type: string, encoding: string, body: string): string {
  return `Content-Type: ${type}\nContent-Transfer-Encoding: ${encoding}\n\n${body}\n`;
}

const link = '<p>See <a\nhref="https://login.example.com/a?b=1&amp;c=2">here</a></p>';

it.each([
  ["base64", part("text/html; charset=utf-8", "base64", base64(link)), 4],
  ["base64 in one line", part("text/html", "BASE64", base64(link, 9999)), 4],
  [
    "quoted-printable",
    part("text/html", "quoted-printable", link.replaceAll("=", "=3D").replace("login", "lo=\ngin")),
    4,
  ],
  ["no encoding", part("text/html", "7bit", link), 4],
  ["a field in upper case", part("text/html", "base64", base64(link)).toUpperCase(), null],
])("reads an HTML part with %s", (_, mail, line) => {
  const { items } = itemsOf(mail);
  expect(items).toEqual(line === null ? [] : [`${line} https://login.example.com/a?b=1&c=2`]);
});

it.each([
  ["utf-8", "メールはann@example.comへ", Buffer.from("メールはann@example.comへ")],
  ["gb2312", "", Buffer.from([0xd3, 0xc3, ...Buffer.from("ann@example.com"), 0xd3, 0xc3])],
  ["shift_jis", "", Buffer.from([0x83, 0x41, ...Buffer.from("ann@example.com"), 0x82, 0xd6])],
  ["utf-16le", "", Buffer.from("to ann@example.com\n", "utf16le")],
  ["iso-8859-1", "", Buffer.from("f\xfcr ann@example.com", "latin1")],
])("decodes the character set %s", (charset, _, bytes) => {
  const { items } = itemsOf(part(`text/plain; charset="${charset}"`, "base64", base64(bytes)));
  expect(items).toEqual(["4 ann@example.com"]);
});

const nested = [
  "From: Ann <ann@example.com>",
  'Content-Type: multipart/mixed; boundary="outer=1"',
  "",
  "--outer=1",
  "Content-Type: multipart/alternative;",
  "\tboundary=inner",
  "",
  "--inner",
  part("text/plain", "base64", base64("first.example.com\nsecond.example.com\n")).trimEnd(),
  "--inner",
  part("text/html", "quoted-printable", "<b>third.ex=61mple.com</b>").trimEnd(),
  "--inner--",
  "--outer=1",
  "Content-Type: message/rfc822",
  "",
  "From: Bob <bob@example.net>",
  "Subject: =?utf-8?B?" + Buffer.from("on fourth.example.com").toString("base64") + "?=",
  part("text/plain", "quoted-printable", "fifth.example.com=").trimEnd(),
  "--outer=1--",
  "sixth.example.com",
  "",
].join("\n");
const nestedItems = [
  "1 ann@example.com",
  "12 first.example.com",
  "12 second.example.com",
  "17 third.example.com",
  "22 bob@example.net",
  "23 fourth.example.com",
  "27 fifth.example.com",
  "29 sixth.example.com",
];

it("reads nested parts and keeps the lines, in any blocks of whole lines", () => {
  expect(itemsOf(nested)).toEqual({ items: nestedItems, unread: [], lines: 30 });
  const lines = nested.split(/(?<=\n)/);
  for (const size of [1, 2, 3, 7]) {
    const blocks = Array.from({ length: Math.ceil(lines.length / size) }, (_, index) =>
      lines.slice(index * size, (index + 1) * size).join(""),
    );
    expect(itemsOf(nested, blocks).items).toEqual(nestedItems);
  }
});

it("reads a mail within a base64 part", () => {
  const mail = part("message/rfc822", "base64", base64(nested));
  const unplaced = (items: readonly string[]) => items.map((item) => item.replace(/^\d+ /, ""));
  expect(unplaced(itemsOf(mail).items)).toEqual(unplaced(nestedItems));
});

it("reads the next mail of a mailbox, and what follows a part", () => {
  const first = part("text/plain", "base64", base64("a.example.com"));
  const mail = `From a@example.com Thu Jan  1 00:00:00 2026\n${first}\nFrom b@example.com Thu Jan  1 00:00:00 2026\n${first}A footer: b.example.com`;
  expect(itemsOf(mail).items.filter((item) => !item.includes("@"))).toEqual([
    "5 a.example.com",
    "11 a.example.com",
    "12 b.example.com",
  ]);
});

it.each([
  [
    "a.png not read: a PNG image",
    part("image/png; name=a.png", "base64", base64(Buffer.from("\x89PNG\r\n\x1a\n", "latin1"))),
  ],
  ["application/pdf not read: a PDF", part("application/pdf", "base64", base64("%PDF-1.7\n"))],
  ["text/plain not read: binary data", part("", "base64", base64(Buffer.alloc(300, "\0\x01\n")))],
  ["text/plain not read: unknown encoding", part("text/plain", "x-uuencode", "begin")],
  ["text/plain read as Latin-1: unk", part("text/plain; charset=x-1", "base64", "YQ==")],
  ["text/plain not read: not base64", part("text/plain", "base64", "*b.example.com*")],
])("says of a part: %s", (reason, mail) => {
  expect(itemsOf(mail).unread).toEqual([expect.stringContaining(`4 part ${reason}`)]);
});

it("says where a later part begins, in any blocks of whole lines", () => {
  const head = 'Content-Type: multipart/mixed; boundary="b"\n\n';
  const parts = [
    part("text/plain", "base64", base64("a.example.com\n".repeat(9))),
    part("", "x", ""),
  ];
  const mail = `${head}--b\n${parts.join("--b\n")}`;
  const cuts = [/(?<=\n)/, /(?<=\n\n)/, /(?<=\n(?=--b))/, /(?<=\n(?=Content-Type))/];
  for (const blocks of [[mail], ...cuts.map((cut) => mail.split(cut))]) {
    const { unread } = itemsOf(mail, blocks);
    expect(unread).toEqual([expect.stringMatching(/^14 part text\/plain not read/)]);
  }
});

it("leaves other text as it is", () => {
  const text = "Content: a\n\n=3D a=\nb.example.com\n--x\nAAAA\n";
  const reader = new MailReader(() => {});
  expect(reader.read(text) + reader.end()).toBe(text);
});
