const [width, height, left, top] = [900, 110, 70, 26];

/** The curves of a night, one below the other, with the phases as bands. */
export function curves(samples, rate) {
  const panels = [
    ["requests/s", samples.map(perSecond), rate * 1.1],
    ["memory, MiB", samples.map(({ mib }) => mib)],
    ["descriptors", samples.map(({ descriptors }) => descriptors)],
    ["rows written", samples.map(({ rows }) => rows)],
  ];
  const end = samples.at(-1).second;
  const x = (second) => left + (second / end) * (width - left - 10);
  const drawn = panels.map(([name, values, most], at) =>
    panel({ name, values, most, offset: top + at * (height + top), samples, x }),
  );
  const size = top + panels.length * (height + top);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${size}" font-family="sans-serif" font-size="11">
<rect width="${width}" height="${size}" fill="#fff"/>
${bands(samples, x, size)}
${drawn.join("\n")}
</svg>
`;
}

function perSecond({ arrived, seconds }, at, samples) {
  return (arrived - (samples[at - 1]?.arrived ?? 0)) / seconds;
}

/** A grey band for each phase with a fault. */
function bands(samples, x, size) {
  const phases = new Map();
  for (const { phase, second } of samples) {
    phases.set(phase, [phases.get(phase)?.[0] ?? second, second]);
  }
  return [...phases]
    .filter(([phase]) => !/calm|rest/.test(phase))
    .map(([phase, [from, to]]) => {
      const [start, wide] = [x(from), Math.max(1, x(to) - x(from))];
      const name = phase.replace(/^\d+ /, "");
      return `<rect x="${start}" y="14" width="${wide}" height="${size - 18}" fill="#e8e8e8"/><text x="${start}" y="11" font-size="9">${name}</text>`;
    })
    .join("\n");
}

function panel({ name, values, most = 0, offset, samples, x }) {
  const top = Math.max(most, ...values) * 1.05 || 1;
  const y = (value) => offset + height - (value / top) * height;
  const points = values.flatMap((value, at) =>
    value === null ? [] : [`${x(samples[at].second).toFixed(1)},${y(value).toFixed(1)}`],
  );
  return `<text x="4" y="${offset + 12}">${name}</text>
<text x="4" y="${offset + 26}" fill="#666">0 to ${Math.round(Math.max(...values))}</text>
<path d="M${left} ${offset + height}H${width - 10}" stroke="#999"/>
<polyline fill="none" stroke="#0a58a5" points="${points.join(" ")}"/>`;
}
