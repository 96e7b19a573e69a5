// The text beside a structured result of a tool with `textCopy: 'short'`: its JSON if that is short, otherwise one line about
// what it contains, for models that only see text.

import { isObject } from '../../protocol/json-rpc.ts';
import { summaryKey } from '../../protocol/meta.ts';
import type { Content } from '../../protocol/model.ts';

/** The length of the text, in characters. */
export const maxShortCopy = 250;
/** A longer string, or name of a member, is left out as a whole: what redacts secrets would not recognize a part of one. */
const maxString = 60;
const opening = 'The result is in structuredContent: ';

/** `json`: the value on one line. */
export function shortCopy(value: unknown, json: string): Content {
  if (json.length <= maxShortCopy) return { type: 'text', text: json };
  return { type: 'text', text: `${opening}${summarize(asJson(value))}`, _meta: { [summaryKey]: true } };
}

function summarize(value: unknown): string {
  if (Array.isArray(value)) {
    const first = asJson(value[0]);
    const start = `list of ${value.length}`;
    if (!isObject(first)) return start;
    const names = membersOf(first).map(([name]) => nameText(name));
    return listUpTo(`${start}, the first with `, names) ?? start;
  }
  if (!isObject(value)) return brief(value);
  const members = membersOf(value);
  const texts = members.map(([name, member]) => {
    const text = nameText(name);
    return text && `${text}: ${brief(asJson(member))}`;
  });
  return listUpTo('', texts) ?? `object with ${members.length} members`;
}

/** As many of the texts as the limit allows, and how many are missing; undefined if it allows none. */
function listUpTo(start: string, texts: readonly (string | undefined)[]): string | undefined {
  const maxLength = maxShortCopy - opening.length - start.length - `, and ${texts.length} more`.length;
  const shown: string[] = [];
  let length = 0;
  for (const text of texts) {
    if (text === undefined) continue;
    length += text.length + 2;
    if (length - 2 > maxLength) break;
    shown.push(text);
  }
  if (shown.length === 0) return undefined;
  const left = texts.length - shown.length;
  return `${start}${shown.join(', ')}${left === 0 ? '' : `, and ${left} more`}`;
}

function nameText(name: string): string | undefined {
  if (name.length > maxString) return undefined;
  return /^[\w$-]+$/.test(name) ? name : JSON.stringify(name);
}

function brief(value: unknown): string {
  if (typeof value === 'string') {
    return value.length > maxString ? `text of ${value.length} characters` : JSON.stringify(value);
  }
  if (Array.isArray(value)) return `list of ${value.length}`;
  if (isObject(value)) return `object with ${membersOf(value).length} members`;
  return JSON.stringify(value) ?? 'null';
}

/** The members that JSON has. */
function membersOf(value: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(value).filter(([, member]) => !['undefined', 'function', 'symbol'].includes(typeof member));
}

/** Dates and classes may have a JSON value of their own. */
function asJson(value: unknown): unknown {
  return isObject(value) && typeof value['toJSON'] === 'function' ? value['toJSON']('') : value;
}
