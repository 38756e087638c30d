// @ts-check

/**
 * A Markdown table with its columns aligned: read on a terminal as it stands, pasted as it is.
 * Columns but the first that hold numbers alone, or nothing, are set to the right.
 *
 * @param {readonly string[]} head
 * @param {readonly (readonly string[])[]} rows
 * @returns {string} with a line end after each line
 */
export function textTable(head, rows) {
  const lines = [head, ...rows];
  const widths = head.map((_, at) =>
    Math.max(3, ...lines.map((cells) => (cells[at] ?? "").length)),
  );
  const right = head.map(
    (_, at) => at > 0 && rows.every((cells) => /^$|^[–\d]/.test(cells[at] ?? "")),
  );
  const line = (/** @type {readonly string[]} */ cells) =>
    `| ${widths.map((width, at) => pad(cells[at] ?? "", width, right[at] === true)).join(" | ")} |\n`;
  const rule = widths.map((width, at) => "-".repeat(width - 1) + (right[at] === true ? ":" : "-"));
  return line(head) + line(rule) + rows.map(line).join("");
}

/**
 * A number with three digits that count, thousands set apart: 0.583, 7.61, 24,800.
 *
 * @param {number} value
 */
export function figure(value) {
  if (!Number.isFinite(value)) return "–";
  if (value >= 1000) return Number(value.toPrecision(3)).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}

/**
 * @param {string} text
 * @param {number} width
 * @param {boolean} right
 */
function pad(text, width, right) {
  const gap = " ".repeat(width - text.length);
  return right ? gap + text : text + gap;
}
