// A small tokenizer for untrusted markup: result pages, Atom feeds, D-Bus introspection. One pass, no RegExp over the
// whole text, never throws. It finds tags and attributes and decodes references; it builds no tree.

import { decodeHTML, decodeHTMLAttribute } from 'entities/decode';

/** Text with its character references (`&amp;`, `&#8212;`, `&eacute;`) decoded as HTML does; a superset of XML's. */
export const decodeText = (text: string): string => decodeHTML(text);

/** One token of a document. Names of tags and attributes are in lower case. */
export type Token =
  | {
      readonly kind: 'open';
      readonly name: string;
      readonly attributes: ReadonlyMap<string, string>;
      /** `<br/>`: it has no content and no closing tag. */
      readonly empty: boolean;
    }
  | { readonly kind: 'close'; readonly name: string }
  | { readonly kind: 'text'; readonly text: string };

/** Elements whose content is not markup: it is skipped up to the closing tag. */
const opaque = new Set(['script', 'style', 'textarea', 'noscript', 'template']);

/** Elements of HTML that have no content and no closing tag. */
const voids = new Set(['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'source', 'wbr']);

/** An element with more attributes than any real page has keeps only the first ones. */
const maxAttributes = 64;

/** The tokens of a document in order. `html` skips scripts and handles void elements; `xml` does neither. */
export function* tokenize(source: string, dialect: 'html' | 'xml' = 'html'): Generator<Token, void, undefined> {
  let at = 0;
  while (at < source.length) {
    const open = source.indexOf('<', at);
    if (open > at || open === -1) {
      const text = source.slice(at, open === -1 ? source.length : open);
      yield { kind: 'text', text: decodeText(text) };
      if (open === -1) return;
    }
    at = open + 1;
    const next = source[at] ?? '';
    if (next === '!' || next === '?') {
      const special = readSpecial(source, at);
      if (special.text !== undefined) yield { kind: 'text', text: special.text };
      at = special.end;
    } else if (next === '/') {
      const end = endOf(source, '>', at);
      yield { kind: 'close', name: readName(source, at + 1).toLowerCase() };
      at = end;
    } else if (isNameStart(next)) {
      const { token, end } = readOpen(source, at, dialect);
      yield token;
      at = end;
      if (dialect === 'html' && opaque.has(token.name) && !token.empty) at = skipTo(source, at, token.name);
    } else {
      // A single "<" is text, as in browsers.
      yield { kind: 'text', text: '<' };
    }
  }
}

/** The index after the next occurrence of `mark`, or the end of the document. */
function endOf(source: string, mark: string, from: number): number {
  const found = source.indexOf(mark, from);
  return found === -1 ? source.length : found + mark.length;
}

/** Comments, declarations and processing instructions are skipped; CDATA is text without decoding. */
function readSpecial(source: string, at: number): { text?: string; end: number } {
  if (source.startsWith('!--', at)) return { end: endOf(source, '-->', at + 3) };
  if (source.startsWith('![CDATA[', at)) {
    const end = endOf(source, ']]>', at);
    return { text: source.slice(at + 8, source.startsWith(']]>', end - 3) ? end - 3 : end), end };
  }
  return { end: endOf(source, '>', at) };
}

const isSpace = (char: string): boolean =>
  char === ' ' || char === '\n' || char === '\t' || char === '\r' || char === '\f';

const isNameStart = (char: string): boolean => (char >= 'a' && char <= 'z') || (char >= 'A' && char <= 'Z');

function readName(source: string, from: number): string {
  let end = from;
  for (; end < source.length; end++) {
    const char = source[end] as string;
    if (isSpace(char) || char === '>' || char === '/' || char === '=') break;
  }
  return source.slice(from, end);
}

type OpenToken = Extract<Token, { kind: 'open' }>;

function readOpen(source: string, from: number, dialect: 'html' | 'xml'): { token: OpenToken; end: number } {
  const raw = readName(source, from);
  const name = raw.toLowerCase();
  const attributes = new Map<string, string>();
  let at = from + raw.length;
  let closed = false;
  while (at < source.length) {
    const char = source[at] as string;
    if (char === '>') {
      at++;
      break;
    }
    closed = char === '/';
    if (isSpace(char) || char === '/') {
      at++;
      continue;
    }
    const read = readAttribute(source, at);
    if (read.name !== '' && attributes.size < maxAttributes && !attributes.has(read.name))
      attributes.set(read.name, read.value);
    at = read.end;
  }
  const empty = closed || (dialect === 'html' && voids.has(name));
  return { token: { kind: 'open', name, attributes, empty }, end: at };
}

function readAttribute(source: string, from: number): { name: string; value: string; end: number } {
  const raw = readName(source, from);
  const name = raw.toLowerCase();
  // Skip a stray "=" in place of a name; otherwise the loop would not end.
  let at = from + Math.max(raw.length, 1);
  while (at < source.length && isSpace(source[at] as string)) at++;
  if (source[at] !== '=' || raw === '') return { name, value: '', end: at };
  at++;
  while (at < source.length && isSpace(source[at] as string)) at++;
  const quote = source[at];
  if (quote === '"' || quote === "'") {
    const end = source.indexOf(quote, at + 1);
    const value = source.slice(at + 1, end === -1 ? source.length : end);
    return { name, value: decodeHTMLAttribute(value), end: end === -1 ? source.length : end + 1 };
  }
  const start = at;
  while (at < source.length && !isSpace(source[at] as string) && source[at] !== '>') at++;
  return { name, value: decodeHTMLAttribute(source.slice(start, at)), end: at };
}

/** The index of `</name`, in any case; the end of the document if there is none. */
function skipTo(source: string, from: number, name: string): number {
  for (let at = source.indexOf('</', from); at !== -1; at = source.indexOf('</', at + 2)) {
    if (source.slice(at + 2, at + 2 + name.length).toLowerCase() === name) return at;
  }
  return source.length;
}
