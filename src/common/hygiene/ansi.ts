// Terminal escape sequences (ECMA-48): measures the sequence at a position. Linear: of an unterminated sequence only the
// introducer counts, and its content is scanned like any other text.

const inRange = (unit: number, low: number, high: number): boolean => unit >= low && unit <= high;
const ESC = 0x1b;

/** The UTF-16 length of the escape sequence at `index`, or 0 if there is none. */
export function escapeLength(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  if (unit !== ESC) return introducers[unit]?.(text, index + 1, 1) ?? 0;
  const second = text.charCodeAt(index + 1);
  // ESC with a letter of 0x40 to 0x5F is the seven-bit form of the control character 0x40 above it.
  const known = introducers[second + 0x40];
  if (known !== undefined && inRange(second, 0x40, 0x5f)) return known(text, index + 2, 2);
  let end = index + 1;
  while (inRange(text.charCodeAt(end), 0x20, 0x2f)) end += 1;
  return inRange(text.charCodeAt(end), 0x30, 0x7e) ? end + 1 - index : end - index;
}

type Measure = (text: string, start: number, introducer: number) => number;

/** Parameters, intermediates, one final letter. */
const controlSequence: Measure = (text, start, introducer) => {
  let end = start;
  while (inRange(text.charCodeAt(end), 0x30, 0x3f)) end += 1;
  while (inRange(text.charCodeAt(end), 0x20, 0x2f)) end += 1;
  if (inRange(text.charCodeAt(end), 0x40, 0x7e)) end += 1;
  return introducer + end - start;
};

/** Free text up to a terminator: window titles, hyperlinks, device strings. */
const controlString: Measure = (text, start, introducer) => {
  for (let end = start; end < text.length; end++) {
    const unit = text.charCodeAt(end);
    if (unit >= 0x20 && !inRange(unit, 0x7f, 0x9f)) continue;
    if (unit === 0x07 || unit === 0x9c) return introducer + end + 1 - start;
    if (unit === ESC && text[end + 1] === '\\') return introducer + end + 2 - start;
    if (unit !== 0x09) break; // Anything else interrupts the string.
  }
  return introducer;
};

/** By the eight-bit control character that starts them. */
const introducers: Readonly<Record<number, Measure>> = {
  144: controlString, // DCS
  152: controlString, // SOS
  155: controlSequence, // CSI
  157: controlString, // OSC
  158: controlString, // PM
  159: controlString, // APC
};
