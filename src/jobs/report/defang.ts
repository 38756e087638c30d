/**
 * Makes an item unfit for clicking, as analysts write it: `192[.]0[.]2[.]1`,
 * `hxxp://example[.]com/`, `user[@]example[.]net`. No program makes a bare IPv6 address clickable, so
 * it stays as it is.
 */
export function defang(item: string, kind: string): string {
  switch (kind) {
    case "ip":
      return item.includes(":") ? item : defangDots(item);
    case "domain":
      return defangDots(item);
    case "email":
      return defangDots(item.replaceAll("@", "[@]"));
    case "url":
      return defangLinks(item).replace(/(?<=^\w+:\/\/)[^/?#]+/, defangDots);
    default:
      return item;
  }
}

/** Undoes the schemes of links within a text, so that no reader makes them clickable. */
export function defangLinks(text: string): string {
  return text
    .replaceAll(/\bhttp(?=s?:)/gi, "hxxp")
    .replaceAll(/\b(ftp|javascript|data|file|vbscript):/gi, "$1[:]");
}

function defangDots(text: string): string {
  return text.replaceAll(".", "[.]");
}
