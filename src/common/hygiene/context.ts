// When an invisible character is legitimate: joiners between letters that need them, emoji sequences, variation
// selectors on characters with variants. Each function checks one position of a text; scan.ts calls them.

import { lazyPattern } from '../lazy-pattern.ts';

const joining = lazyPattern(
  '^(?=[\\p{L}\\p{M}])[\\p{scx=Arab}\\p{scx=Syrc}\\p{scx=Mong}\\p{scx=Nko}\\p{scx=Mand}\\p{scx=Mani}\\p{scx=Deva}\\p{scx=Beng}\\p{scx=Guru}\\p{scx=Gujr}\\p{scx=Orya}\\p{scx=Taml}\\p{scx=Telu}\\p{scx=Knda}\\p{scx=Mlym}\\p{scx=Sinh}\\p{scx=Tibt}\\p{scx=Mymr}\\p{scx=Khmr}\\p{scx=Bali}\\p{scx=Java}\\p{scx=Sund}\\p{scx=Mtei}\\p{scx=Cakm}\\p{scx=Gran}\\p{scx=Newa}\\p{scx=Tirh}\\p{scx=Modi}]',
);
const unspaced = lazyPattern('^[\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}\\p{scx=Lana}\\p{scx=Tibt}]');
const pictograph = lazyPattern('^\\p{Extended_Pictographic}');
const emoji = lazyPattern('^\\p{Emoji}');
const keycapBase = /^[0-9#*]/;
const mongolian = lazyPattern('^(?=\\p{L})\\p{scx=Mong}');
const han = lazyPattern('^\\p{scx=Han}');
const standardVariants = lazyPattern(
  '^[\\p{scx=Han}\\p{Sm}\\p{scx=Mymr}\\p{scx=Phag}\\p{scx=Mani}\\u3001\\u3002\\uFF01-\\uFF1F0]',
);
const rightToLeft = lazyPattern(
  '(?=\\p{L})[\\p{scx=Hebr}\\p{scx=Arab}\\p{scx=Syrc}\\p{scx=Thaa}\\p{scx=Nko}\\p{scx=Samr}\\p{scx=Mand}\\p{scx=Adlm}]',
);
// England, Scotland and Wales: the only tag sequences in general use, written in tag characters after a black flag.
const flagTags =
  /\u{E0067}\u{E0062}(?:\u{E0065}\u{E006E}\u{E0067}|\u{E0073}\u{E0063}\u{E0074}|\u{E0077}\u{E006C}\u{E0073})\u{E007F}/uy;

/** The code point that ends right before `index`, as a string; empty at the start. */
export function before(text: string, index: number): string {
  const unit = text.charCodeAt(index - 1);
  const isTail = unit >= 0xdc00 && unit <= 0xdfff && index >= 2;
  const pair = isTail ? text.slice(index - 2, index) : '';
  return isTail && pair.codePointAt(0)! > 0xffff ? pair : text.slice(Math.max(0, index - 1), index);
}

/** The code point at `index`, as a string; empty at the end. */
export const at = (text: string, index: number): string =>
  index < text.length ? String.fromCodePoint(text.codePointAt(index) as number) : '';

/** Whether the text contains right-to-left letters. */
export const hasRightToLeft = (text: string): boolean => rightToLeft().test(text);

const isJoiner = (part: string): boolean => part === '\u200B' || part === '\u200C' || part === '\u200D';

/** A zero-width joiner or non-joiner after a letter that has joining forms, or a joiner inside an emoji sequence. */
export function joinerBelongs(text: string, index: number): boolean {
  if (text.charCodeAt(index - 1) < 0xa9) return false; // ASCII has no joining forms, and is the most common case.
  const previous = before(text, index);
  if (isJoiner(previous)) return false;
  const isPicture = (previous.codePointAt(0) ?? 0) >= 0x1f000; // Pictures and letters are distinct from here on.
  if (!isPicture && joining().test(previous)) return true;
  if (text[index] !== '\u200D' || !pictograph().test(at(text, index + 1))) return false;
  let end = index;
  // 👩🏽‍💻 and ❤️‍🔥: a skin tone or a presentation selector may be between the picture and the joiner.
  for (let steps = 0; steps < 2; steps++) {
    const part = before(text, end);
    if (!/^[\uFE0F\u{1F3FB}-\u{1F3FF}]/u.test(part)) break;
    end -= part.length;
  }
  return pictograph().test(before(text, end));
}

/** A zero-width space between letters of a script without spaces. */
export const breakBelongs = (text: string, index: number): boolean =>
  text.charCodeAt(index - 1) >= 0x0e00 && unspaced().test(before(text, index)) && unspaced().test(at(text, index + 1));

/** A variation selector directly after a character that has the variant. */
export function variationBelongs(text: string, index: number, codePoint: number): boolean {
  const base = before(text, index);
  if (codePoint >= 0xe0100) return han().test(base);
  if (codePoint >= 0x180b && codePoint <= 0x180f) return mongolian().test(base);
  if (codePoint < 0xfe0e) return standardVariants().test(base);
  return keycapBase.test(base) ? text[index + 1] === '\u20E3' : emoji().test(base);
}

/** The length of a flag's tag sequence that starts at `index`, or 0. */
export function flagLength(text: string, index: number): number {
  if (before(text, index) !== '\u{1F3F4}') return 0;
  flagTags.lastIndex = index;
  return flagTags.test(text) ? flagTags.lastIndex - index : 0;
}
