// Characters that people do not see, made visible. Untrusted text may hide instructions in them.

export interface TextPart {
  readonly text: string;
  /** The text names characters instead of being them. */
  readonly isMark: boolean;
}

/** Ranges of characters that leave no visible trace, or change how their neighbours are shown. */
const ranges = [
  // Control characters except tab and line feed.
  String.raw`\u0000-\u0008\u000b-\u001f\u007f-\u009f`,
  // Direction marks, zero-width characters, invisible operators, line and paragraph separators.
  String.raw`\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff`,
  // Soft hyphen, joiners and fillers without a shape.
  String.raw`\u00ad\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0`,
  // Variation selectors except the one for emoji, tags, musical controls, annotations and noncharacters.
  String.raw`\u180b-\u180f\ufe00-\ufe0e\u{e0000}-\u{e0fff}\u{1d173}-\u{1d17a}\ufff0-\ufffb\ufffe\uffff`,
  // Halves of surrogate pairs.
  String.raw`\ud800-\udfff`,
].join('');
const hidden = new RegExp(`[${ranges}]`, 'u');
const run = new RegExp(`[${ranges}]+`, 'gu');

/** A character of emoji, or of a script that is written with joiners. */
const joining =
  /^(?:[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Kannada}\p{Script=Telugu}\p{Script=Tamil}\p{Script=Gujarati}]|\ufe0f)$/u;

/** The text in parts; one part if nothing is hidden in it. */
export function visibleParts(text: string): TextPart[] {
  if (!hidden.test(text)) return [{ text, isMark: false }];
  const parts: TextPart[] = [];
  let shown = '';
  let at = 0;
  for (const match of text.matchAll(run)) {
    const [found] = match;
    shown += text.slice(at, match.index);
    at = match.index + found.length;
    const isJoiner = found === '\u200c' || found === '\u200d';
    if (found === '\r' && text[at] === '\n') continue;
    if (isJoiner && joining.test([...shown.slice(-2)].at(-1) ?? '')) {
      shown += found;
      continue;
    }
    if (shown !== '') parts.push({ text: shown, isMark: false });
    shown = '';
    parts.push({ text: name(found), isMark: true });
  }
  shown += text.slice(at);
  if (shown !== '') parts.push({ text: shown, isMark: false });
  return parts;
}

function name(found: string): string {
  const characters = [...found];
  if (characters.length > 1) return `⟨hidden ×${characters.length}⟩`;
  const code = found.codePointAt(0) as number;
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}
