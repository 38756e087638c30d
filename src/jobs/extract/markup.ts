/** Reads text in pieces of whole lines; the last piece may lack its line end. */
export interface TextReader {
  read(piece: string): string;
  end(): string;
}

/** What reads the markup that a text begins with; null for other text. @param type its media type */
export function markupReader(head: string, type = ""): TextReader | null {
  if (type === "text/html" || pageStart.test(head)) return new MarkupReader();
  return xmlStart.test(head) ? { read: withoutEntities, end: () => "" } : null;
}

/** How an HTML page begins. */
const pageStart =
  /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^]{0,4096}?-->\s*)*<(?:!doctype\s+html|html|head|body|title|meta|link|div|p|a|table|ul|ol|span|h[1-6]|br|img|script|style|form|center|font)\b[^<@:]/i;

/** How another XML document begins, whose entities stand for characters, too. */
const xmlStart = /^\s*<(?:\?xml\s|[a-z][\w.-]*:[\w.-]+[\s>]|(?:rss|feed)[\s>])/i;

/** Longer tags are text. */
const longestTag = 256 * 1024;

/**
 * Reads HTML, in pieces: its text, scripts, and the attributes that hold addresses. Every line stays a line;
 * carriage returns end the others.
 */
class MarkupReader implements TextReader {
  /** A tag or an entity whose end has not been read yet. */
  #rest = "";
  /** The name of the element whose content is no markup. */
  #raw: string | null = null;

  read(piece: string): string {
    const html = this.#rest + piece;
    let text = "";
    let from = 0;
    for (;;) {
      const found = this.#nextTag(html, from);
      if (found === null) break;
      const open = found.index;
      const close = endOfTag(html, open);
      if (close < 0 && html.length - open < longestTag) {
        this.#rest = html.slice(open);
        return text + this.#text(html.slice(from, open));
      }
      text += this.#text(html.slice(from, open));
      from = close < 0 ? open + 1 : close;
      text += close < 0 ? "<" : this.#tag(html.slice(open, close), found[1]?.toLowerCase() ?? "");
    }
    const begun = unfinished.exec(html.slice(Math.max(from, html.length - 40)))?.[0] ?? "";
    this.#rest = begun;
    return text + this.#text(html.slice(from, html.length - begun.length));
  }

  end(): string {
    const text = this.#text(this.#rest);
    this.#rest = "";
    this.#raw = null;
    return text;
  }

  #nextTag(html: string, from: number): RegExpExecArray | null {
    tag.lastIndex = from;
    for (let found = tag.exec(html); found !== null; found = tag.exec(html)) {
      if (this.#raw === null || found[1]?.toLowerCase() === `/${this.#raw}`) return found;
    }
    return null;
  }

  #text(text: string): string {
    return this.#raw === null ? withoutEntities(text) : text;
  }

  #tag(markup: string, name: string): string {
    // The text of a comment is read, too.
    if (markup === "<!--") return " ";
    if (this.#raw !== null) this.#raw = null;
    else if (name === "script" || name === "style") this.#raw = name;
    const shown = markup.includes("=") ? attributesOf(markup) : "";
    const lines = markup.includes("\n") ? "\n".repeat(markup.split("\n").length - 1) : "";
    return shown + lines + (inline.has(name.replace("/", "")) ? "" : "\r");
  }
}

/** The values of attributes that hold addresses, in quotes. */
function attributesOf(markup: string): string {
  let shown = "";
  // matchAll would copy the expression for every tag.
  attribute.lastIndex = 0;
  for (let found = attribute.exec(markup); found !== null; found = attribute.exec(markup)) {
    const [, double, single, bare = ""] = found;
    const value = withoutEntities(double ?? single ?? bare).replaceAll(/[\r\n]/g, "");
    // What browsers do with a blank in an address.
    const isSplit = value.includes(" ") && oneAddress.test(value);
    shown += ` "${isSplit ? value.trim().replaceAll(" ", "%20") : value}" `;
  }
  return shown;
}

const unfinished = /(?:&[\w#]{0,12}|<(?:!-?|\/?[\w:]{0,32}))$/;
const tag = /<(?:!--|[!?]|(\/?[a-z][a-z\d]*)(?::[a-z\d]+)?(?=[\s/>]))/gi;
const attribute =
  /(?<=[\s"'/])(?:href|src|srcset|action|formaction|data|content|value|poster|background|cite|ping|alt|title|style|data-[\w-]+|on[a-z]+|url)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/gi;
const oneAddress = /^\s*h(?:tt|xx)ps?:\/\/[^\s,]+(?: [^\s,:]+)*\s*$/i;
/** Elements that words go on across. */
const inline: ReadonlySet<string> = new Set(
  "a abbr b bdi bdo code em font i ins kbd mark s small span strong sub sup tt u wbr".split(" "),
);

/** The index behind a tag; -1 if it has no end. Quotes may hold `>`. */
function endOfTag(html: string, open: number): number {
  if (html.startsWith("<!--", open)) return open + 4;
  for (let at = open + 1; at < html.length && at - open < longestTag; at++) {
    const char = html.charAt(at);
    if (char === ">") return at + 1;
    if ((char === '"' || char === "'") && /[=\s]/.test(html.charAt(at - 1))) {
      at = html.indexOf(char, at + 1);
      if (at < 0) return -1;
    }
  }
  return -1;
}

/** Names of entities, each with its character behind it; `shy` has none. */
const named: ReadonlyMap<string, string> = new Map(
  "amp& apos' colon: commat@ dot. gt> hyphen- lowbar_ lt< period. quot\" sol/ shy nbsp\u00a0"
    .split(" ")
    .map((entity) => [/^[a-z]+/.exec(entity)![0], entity.replace(/^[a-z]+/, "")]),
);

function withoutEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));?/gi,
    (entity, decimal, hex, name) => {
      if (name !== undefined) return named.get(name) ?? entity;
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      if (code < 0x20 || code > 0x10_ffff) return " ";
      return code === 0xad || (code >= 0x200b && code <= 0x200d) ? "" : String.fromCodePoint(code);
    },
  );
}
