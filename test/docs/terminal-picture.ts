const [lineHeight, charWidth, margin] = [19, 8.1, 16];

/** Draws what a terminal shows: commands after `$ ` are bright, labels of the summary are coloured. */
export function terminalPicture(text: string): string {
  const lines = text.trimEnd().split("\n");
  const width = Math.ceil(Math.max(...lines.map(({ length }) => length)) * charWidth + 2 * margin);
  const height = lines.length * lineHeight + 2 * margin;
  const drawn = lines.map((line, index) => {
    const y = margin + (index + 1) * lineHeight - 5;
    return `<text x="${margin}" y="${y}" xml:space="preserve">${coloured(line)}</text>`;
  });
  const style =
    "text{font:13.5px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#c9d1d9;white-space:pre}.c{fill:#fff;font-weight:600}.l{fill:#79c0ff}";
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    `<style>${style}</style><rect width="${width}" height="${height}" rx="8" fill="#161b22"/>`,
    ...drawn,
    "</svg>\n",
  ].join("\n");
}

function coloured(line: string): string {
  if (line.startsWith("$ ")) return span("c", line);
  const [, space = "", label = "", rest = ""] = /^( {2})(\w+)( {2,}.*)$/.exec(line) ?? [];
  return label === "" ? escaped(line) : space + span("l", label) + escaped(rest);
}

function span(name: string, text: string): string {
  return `<tspan class="${name}">${escaped(text)}</tspan>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
