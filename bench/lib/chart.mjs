// Bars as SVG, for the docs: one per server, drawn to one scale, legible on light and dark pages.

const rowHeight = 26;
const labelWidth = 230;
const barWidth = 420;

/** @param {string} text */
const escapeText = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** @param {{ title: string, unit: string, bars: { name: string, value: number, ours: boolean }[] }} chart */
export function barChart({ title, unit, bars }) {
  const longest = Math.max(...bars.map(({ value }) => value));
  const height = 40 + bars.length * rowHeight;
  const width = labelWidth + barWidth + 90;
  const rows = bars.map(({ name, value, ours }, n) => {
    const y = 34 + n * rowHeight;
    const length = Math.max(2, (value / longest) * barWidth).toFixed(1);
    return [
      `<text x="${labelWidth - 10}" y="${y + 15}" text-anchor="end"${ours ? ' class="strong"' : ''}>${escapeText(name)}</text>`,
      `<rect x="${labelWidth}" y="${y + 2}" width="${length}" height="${rowHeight - 8}" rx="2"${ours ? ' class="ours"' : ''}/>`,
      `<text x="${labelWidth + Number(length) + 8}" y="${y + 15}"${ours ? ' class="strong"' : ''}>${value.toFixed(1)} ${unit}</text>`,
    ].join('\n');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeText(title)}">
<style>
text { font: 13px system-ui, sans-serif; fill: #24292f }
rect { fill: #8c959f }
.ours { fill: #0969da }
.strong { font-weight: 600 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } rect { fill: #6e7681 } .ours { fill: #4493f8 } }
</style>
<text x="10" y="20" class="strong">${escapeText(title)}</text>
${rows.join('\n')}
</svg>
`;
}
