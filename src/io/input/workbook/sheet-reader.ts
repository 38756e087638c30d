import type { SaxesParser } from "saxes";

export interface SheetFacts {
  readonly texts: readonly string[];
  readonly dates: readonly boolean[];
  readonly is1904: boolean;
}

/** Converts the XML of a sheet into CSV. A row that is missing is a blank line. */
export class SheetReader {
  readonly #parser: SaxesParser;
  readonly #facts: SheetFacts;
  #cells: string[] = [];
  #line = 0;
  #row = 0;
  #column = -1;
  #type = "n";
  #style = 0;
  #value = "";
  #isValue = false;
  #csv = "";

  constructor(parser: SaxesParser, facts: SheetFacts) {
    this.#parser = parser;
    this.#facts = facts;
    parser.on("opentag", ({ name, attributes }) =>
      this.#open(localName(name), attributes as Attributes),
    );
    parser.on("text", (text) => {
      if (this.#isValue) this.#value += text;
    });
    parser.on("closetag", ({ name }) => this.#close(localName(name)));
  }

  read(xml: string): string {
    this.#csv = "";
    this.#parser.write(xml);
    return this.#csv;
  }

  end(): void {
    this.#parser.close();
  }

  #open(name: string, attributes: Attributes): void {
    if (name === "v" || name === "t") {
      this.#isValue = true;
    } else if (name === "row") {
      this.#row = Number(attributes["r"] ?? this.#row + 1);
      this.#column = -1;
    } else if (name === "c") {
      const { r, t = "n", s = "0" } = attributes;
      this.#column = r === undefined ? this.#column + 1 : columnOf(r);
      this.#type = t;
      this.#style = Number(s);
      this.#value = "";
    }
  }

  #close(name: string): void {
    if (name === "v" || name === "t") {
      this.#isValue = false;
    } else if (name === "c") {
      if (this.#value === "") return;
      while (this.#cells.length < this.#column) this.#cells.push("");
      this.#cells[this.#column] = this.#text();
    } else if (name === "row") {
      while (this.#line < this.#row - 1) this.#endLine("");
      this.#endLine(this.#cells.map(quoted).join(","));
      this.#cells = [];
    }
  }

  #endLine(text: string): void {
    this.#csv += `${text}\n`;
    this.#line += 1;
  }

  #text(): string {
    const { texts, dates, is1904 } = this.#facts;
    const value = this.#value;
    if (this.#type === "s") return texts[Number(value)] ?? "";
    if (this.#type === "b") return value === "1" ? "true" : "false";
    if (this.#type !== "n") return value;
    const number = Number(value);
    if (dates[this.#style] === true) return dateText(number, is1904) ?? value;
    // 0.1 + 0.2 is stored with 17 digits and shown with 15.
    return /[.e]/i.test(value) && Number.isFinite(number)
      ? String(Number(number.toPrecision(15)))
      : value;
  }
}

type Attributes = Readonly<Record<string, string>>;

/** A name without its prefix: some programs write `x:row`. */
export function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

/** Index of the column in a reference such as `AB12`. */
function columnOf(reference: string): number {
  let column = 0;
  for (const letter of reference.replace(/\d+$/, ""))
    column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

function quoted(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The shared texts of a workbook, without phonetic readings. */
export function textsOf(parser: SaxesParser, xml: string): readonly string[] {
  const texts: string[] = [];
  let text = "";
  let isText = false;
  let isPhonetic = false;
  parser.on("opentag", (tag) => {
    const name = localName(tag.name);
    if (name === "si") text = "";
    if (name === "rPh") isPhonetic = true;
    if (name === "t") isText = !isPhonetic;
  });
  parser.on("text", (piece) => {
    if (isText) text += piece;
  });
  parser.on("closetag", (tag) => {
    const name = localName(tag.name);
    if (name === "t") isText = false;
    if (name === "rPh") isPhonetic = false;
    if (name === "si") texts.push(text);
  });
  if (xml !== "") parser.write(xml).close();
  return texts;
}

/** Built-in number formats that show dates and times (ECMA-376, part 1, section 18.8.30). */
const builtIn = (id: number): boolean =>
  (id >= 14 && id <= 22) ||
  (id >= 27 && id <= 36) ||
  (id >= 45 && id <= 47) ||
  (id >= 50 && id <= 58);

/** Which cell styles show their number as a date, by index. */
export function dateStyles(
  styles: readonly Attributes[],
  formats: readonly Attributes[],
): readonly boolean[] {
  const custom = new Set(
    formats.filter(({ formatCode = "" }) => showsDate(formatCode)).map(({ numFmtId }) => numFmtId),
  );
  return styles.map(({ numFmtId = "0" }) => custom.has(numFmtId) || builtIn(Number(numFmtId)));
}

/** Letters of a date outside quotes, colours and conditions; `[h]` counts hours. */
function showsDate(format: string): boolean {
  const bare = format.replaceAll(/"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, "");
  return /[ymdhs]/i.test(bare) && !/general/i.test(bare);
}

const dayMs = 86_400_000;

/** A day number as an ISO date, with the time if it has one; a time without a day as a time. */
function dateText(days: number, is1904: boolean): string | null {
  // Day 60 of Excel is 29 February 1900, which did not exist.
  const shift = is1904 ? 24_107 : days < 60 ? 25_568 : 25_569;
  const ms = Math.round(((days - shift) * dayMs) / 1000) * 1000;
  const date = new Date(ms);
  if (!Number.isFinite(days) || days < 0 || Number.isNaN(date.getTime())) return null;
  const [day = "", time = ""] = date.toISOString().slice(0, 19).split("T");
  if (days < 1 && !is1904) return time;
  return time === "00:00:00" ? day : `${day}T${time}`;
}
