// @ts-check

/**
 * A Markdown table with aligned columns, readable on a terminal. Columns with only numbers or
 * nothing, except the first, are right-aligned.
 *
 * @param {readonly string[]} head
 * @param {readonly (readonly string[])[]} rows
 * @returns {string} with a line feed after each line
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
 * Formats a number with three significant digits and thousands separators: 0.583, 7.61, 24,800.
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
