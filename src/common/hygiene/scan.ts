// Finds characters that a reader does not see but a model or a terminal obeys. One pass over the text; characters that
// belong to the writing (context.ts) are not findings.

import { escapeLength } from './ansi.ts';
import { breakBelongs, flagLength, hasRightToLeft, joinerBelongs, variationBelongs } from './context.ts';

/** The kind of a hidden character. */
export type HiddenKind =
  | 'control'
  | 'ansi'
  | 'bidi'
  | 'zero-width'
  | 'tag'
  | 'variation'
  | 'invisible'
  | 'separator'
  | 'surrogate'
  | 'noncharacter';

/** One hidden character or sequence, and its position in UTF-16 units. */
export interface Finding {
  /** What it is. */
  readonly kind: HiddenKind;
  /** Where it begins in the text. */
  readonly index: number;
  /** How long it is. */
  readonly length: number;
  /** The first of its characters. */
  readonly codePoint: number;
}

/** Receives each finding; returns `false` to stop. */
export type FindingVisitor = (kind: HiddenKind, index: number, length: number, codePoint: number) => boolean | void;

/** Reports all hidden characters in order. A callback with plain numbers, because hostile text has a million of them. */
export function scan(text: string, visit: FindingVisitor): void {
  let index = nextSuspicious(text, 0);
  if (index < 0) return;
  let answer: boolean | undefined;
  const rightToLeft = () => (answer ??= hasRightToLeft(text));
  while (index >= 0) {
    const codePoint = text.codePointAt(index) as number;
    const size = codePoint > 0xffff ? 2 : 1;
    // Two things may be longer than one character: escape sequences, which hide, and flags, which are legitimate.
    const sequence = codePoint < 0xa0 ? escapeLength(text, index) : 0;
    const flag = isTag(codePoint) ? flagLength(text, index) : 0;
    const length = sequence || flag || size;
    const kind = sequence > 0 ? 'ansi' : flag > 0 ? undefined : classifyCodePoint(text, index, codePoint, rightToLeft);
    if (kind !== undefined && visit(kind, index, length, codePoint) === false) return;
    index = nextSuspicious(text, index + length);
  }
}

// Written out instead of a regular expression over Unicode properties: ten times as fast on text full of hidden
// characters, which is what an attacker sends. A test compares it with the properties.
function nextSuspicious(text: string, from: number): number {
  for (let index = from; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x7f ? unit < 0x20 && unit !== 0x09 && unit !== 0x0a : isSuspicious(unit)) return index;
    if (unit < 0xd800 || unit > 0xdfff) continue;
    const codePoint = text.codePointAt(index) as number;
    if (codePoint <= 0xffff || isSuspicious(codePoint)) return index;
    index += 1;
  }
  return -1;
}

/** Whether a code point from 0x7F up is invisible, a control, or not a character. Never called with surrogates. */
function isSuspicious(codePoint: number): boolean {
  if (codePoint < 0x2000) {
    if (codePoint <= 0xad) return codePoint < 0xa0 || codePoint === 0xad;
    if (codePoint < 0x115f) return codePoint === 0x034f || codePoint === 0x061c;
    return codePoint <= 0x1160 || codePoint === 0x17b4 || codePoint === 0x17b5 || between(codePoint, 0x180b, 0x180f);
  }
  if (codePoint < 0x3000) {
    return (
      between(codePoint, 0x200b, 0x200f) || between(codePoint, 0x2028, 0x202e) || between(codePoint, 0x2060, 0x206f)
    );
  }
  if (codePoint < 0xfdd0) return codePoint === 0x3164;
  if (codePoint <= 0xffff) {
    if (codePoint <= 0xfdef || between(codePoint, 0xfe00, 0xfe0f) || codePoint === 0xfeff) return true;
    return codePoint === 0xffa0 || between(codePoint, 0xfff0, 0xfffb) || codePoint >= 0xfffe;
  }
  if ((codePoint & 0xfffe) === 0xfffe || between(codePoint, 0xe0000, 0xe0fff)) return true;
  return between(codePoint, 0x1bca0, 0x1bca3) || between(codePoint, 0x1d173, 0x1d17a);
}

/** The kind of a hidden character; `undefined` if it is legitimate at this position. */
function classifyCodePoint(
  text: string,
  index: number,
  codePoint: number,
  rightToLeft: () => boolean,
): HiddenKind | undefined {
  if (codePoint === 0x0d) return text[index + 1] === '\n' ? undefined : 'separator';
  if (codePoint === 0x85 || codePoint === 0x2028 || codePoint === 0x2029) return 'separator';
  if (codePoint < 0xa0) return 'control';
  if (codePoint === 0x200c || codePoint === 0x200d) return joinerBelongs(text, index) ? undefined : 'zero-width';
  if (codePoint === 0x200b) return breakBelongs(text, index) ? undefined : 'zero-width';
  if (codePoint === 0x2060 || codePoint === 0xfeff) return 'zero-width';
  // Marks only affect their neighbours: in text with right-to-left letters a single one is legitimate, a sequence of them
  // carries data. Overrides and isolates never are.
  if (isMark(codePoint)) return !isMark(text.charCodeAt(index - 1)) && rightToLeft() ? undefined : 'bidi';
  if (between(codePoint, 0x202a, 0x202e) || between(codePoint, 0x2066, 0x2069)) return 'bidi';
  if (isVariation(codePoint)) return variationBelongs(text, index, codePoint) ? undefined : 'variation';
  if (isTag(codePoint)) return 'tag';
  if (between(codePoint, 0xd800, 0xdfff)) return 'surrogate';
  if (between(codePoint, 0xfdd0, 0xfdef) || (codePoint & 0xfffe) === 0xfffe) return 'noncharacter';
  return 'invisible';
}

const between = (value: number, low: number, high: number): boolean => value >= low && value <= high;

const isTag = (codePoint: number): boolean => between(codePoint, 0xe0000, 0xe007f);

const isMark = (codePoint: number): boolean => codePoint === 0x200e || codePoint === 0x200f || codePoint === 0x061c;

const isVariation = (codePoint: number): boolean =>
  between(codePoint, 0xfe00, 0xfe0f) || between(codePoint, 0xe0100, 0xe01ef) || between(codePoint, 0x180b, 0x180f);
