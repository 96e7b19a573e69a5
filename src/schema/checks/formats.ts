// The formats we assert: the four that MCP elicitation forms use. Every other `format` is an annotation, as 2020-12
// has it by default: promising more would reject values that the author of a schema meant to accept.

import { spend } from './budget.ts';
import { lazyPattern } from './lazy-pattern.ts';
import { compilePattern, type Pattern } from './patterns.ts';

/** Name → test. Tests are linear in the length of the text, and spend as much from the budget of a validation. */
export const formats: ReadonlyMap<string, (text: string) => boolean> = new Map(
  Object.entries({ email: isEmail, uri: isUri, date: isDate, 'date-time': isDateTime }).map(([name, test]) => [
    name,
    (text: string) => {
      spend(text.length);
      return test(text);
    },
  ]),
);

const isLocalPart = lazyPattern("^[\\p{L}\\p{N}!#$%&'*+/=?^_`{|}~.-]+$");
const isLabel = lazyPattern('^[\\p{L}\\p{N}](?:[\\p{L}\\p{N}-]*[\\p{L}\\p{N}])?$');

/** Mailbox of RFC 5321 without quoted local parts, comments and address literals, which no form wants to accept. */
function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  if (at < 1 || at > 64 || text.length - at > 254) return false;
  const local = text.slice(0, at);
  if (!isLocalPart(local)) return false;
  if (local.startsWith('.') || local.endsWith('.') || local.includes('..')) return false;
  return text
    .slice(at + 1)
    .split('.')
    .every((label) => label.length <= 63 && isLabel(label));
}

const uriSource = "^[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9\\-._~:/?#[\\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*$";
/** Made when it is first needed; no text, however long, overflows its stack. */
let uriCharacters: Pattern | undefined;

/** Absolute URI of RFC 3986: a scheme, and only characters a URI may have. */
function isUri(text: string): boolean {
  uriCharacters ??= compilePattern(uriSource);
  if (!uriCharacters.test(text)) return false;
  // The platform's parser knows the rest (ports, brackets), for the schemes it gives structure to.
  return URL.canParse(text);
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

/** RFC 3339: full date, time and offset; a leap second only where one can be (23:59:60 UTC). */
function isDateTime(text: string): boolean {
  const match = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/.exec(text);
  if (match === null || !isDate(match[1] ?? '')) return false;
  const [hour, minute, second] = [Number(match[2]), Number(match[3]), Number(match[4])];
  const [offsetHours, offsetMinutes] = [Number(match[6] ?? 0), Number(match[7] ?? 0)];
  if (hour > 23 || minute > 59 || second > 60 || offsetHours > 23 || offsetMinutes > 59) return false;
  if (second < 60) return true;
  const offset = (offsetHours * 60 + offsetMinutes) * (match[5] === '-' ? -1 : 1);
  return (hour * 60 + minute - offset + 2880) % 1440 === 1439;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
