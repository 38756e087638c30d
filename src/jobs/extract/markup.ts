/** Reads text in pieces of whole lines; the last piece may lack its line end. */
export interface TextReader {
  read(piece: string): string;
  end(): string;
}

/** What reads the markup that a text begins with; null for other text. @param type its media type */
export function markupReader(head: string, type = ""): TextReader | null {
  if (type === "text/html" || pageStart.test(head)) return heldReader(pageText);
  return xmlStart.test(head) ? { read: withoutEntities, end: () => "" } : null;
}

/** How an HTML page begins. */
const pageStart =
  /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^]{0,4096}?-->\s*)*<(?:!doctype\s+html|html|head|body|title|meta|link|div|p|a|table|ul|ol|span|h[1-6]|br|img|script|style|form|center|font)\b[^<@:]/i;

/** How another XML document begins, whose entities stand for characters, too. */
const xmlStart = /^\s*<(?:\?xml\s|[a-z][\w.-]*:[\w.-]+[\s>]|(?:rss|feed)[\s>])/i;

/** Holds text and reads it at once, so that nothing in it is cut. Only longer text is read in pieces. */
export function heldReader(readAll: (text: string) => string): TextReader {
  let held = "";
  const end = (): string => {
    const text = readAll(held);
    held = "";
    return text;
  };
  return {
    read(piece) {
      held += piece;
      return held.length < longestHeld ? "" : end();
    },
    end,
  };
}

const longestHeld = 16 * 1024 * 1024;

/**
 * The text of HTML, its scripts, and the attributes that hold addresses. Every line stays a line; carriage
 * returns end the others. A tag that ends nowhere is text.
 */
function pageText(html: string): string {
  let text = "";
  let from = 0;
  for (const found of html.matchAll(tag)) {
    const [markup, name, rawName = "", raw = ""] = found;
    text += withoutEntities(html.slice(from, found.index));
    from = found.index + markup.length;
    const own = markup.slice(0, markup.length - raw.length);
    // The text of a comment is read, too.
    text += own === "<!--" ? " " : tagText(own, name ?? rawName) + raw;
  }
  return text + withoutEntities(html.slice(from));
}

function tagText(markup: string, name: string): string {
  const shown = markup.includes("=") ? attributesOf(markup) : "";
  const lines = markup.includes("\n") ? "\n".repeat(markup.split("\n").length - 1) : "";
  return shown + lines + (inline.has(name.toLowerCase().replace("/", "")) ? "" : "\r");
}

/** The rest of a tag: quotes may hold `<` and `>`. Unlimited, they would exhaust the stack. */
const tagEnd = String.raw`[^<>"']*(?:(?:(?<=[=\s])(?:"[^"]*"|'[^']*')|(?<![=\s])["'])[^<>"']*){0,9999}>`;
/** Where a comment begins, a tag, or one with content that is no markup. */
const tag = new RegExp(
  String.raw`<(?:!--|(?:[!?]|((?!(?:script|style)[\s/>])\/?[a-z][a-z\d]*)(?::[a-z\d]+)?(?=[\s/>]))${tagEnd}|` +
    String.raw`(script|style)(?=[\s/>])${tagEnd}([^]*?)(?=<\/\2[\s/>]|$))`,
  "gi",
);

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

const attribute =
  /(?<=[\s"'/])(?:href|src|srcset|action|formaction|data|content|value|poster|background|cite|ping|alt|title|style|data-[\w-]+|on[a-z]+|url)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/gi;
const oneAddress = /^\s*h(?:tt|xx)ps?:\/\/[^\s,]+(?: [^\s,:]+)*\s*$/i;
/** Elements that words go on across. */
const inline: ReadonlySet<string> = new Set(
  "a abbr b bdi bdo code em font i ins kbd mark s small span strong sub sup tt u wbr".split(" "),
);

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
