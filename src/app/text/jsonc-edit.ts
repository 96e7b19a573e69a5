// Changes one member of a JSON text and keeps every other byte: comments, indentation, line ends.

import { dataOf, type JsonMember, type JsonNode, parseJsonc, skipSpace } from './jsonc.ts';

type ObjectNode = Extract<JsonNode, { kind: 'object' }>;

/** A value on the path exists and is not an object. */
export class NotAnObject extends Error {
  readonly path: readonly string[];

  constructor(path: readonly string[]) {
    super(`${path.length === 0 ? 'the top level' : path.join('.')} is not an object`);
    this.path = path;
  }
}

/** Sets the member at a path and creates missing objects on the path. An equal value leaves the text unchanged. */
export function setMember(text: string, path: readonly string[], value: unknown): string {
  const body = text.trim() === '' ? '{}\n' : text;
  const found = walk(parseJsonc(body), path);
  if (found.member !== undefined) {
    if (equal(dataOf(found.member.value), value)) return body;
    const { start, end } = found.member.value;
    return splice(body, start, end, print(body, value, indentAt(body, found.member.keyStart)));
  }
  const nested = found.rest.slice(1).reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
  return insert(body, found.parent, found.rest[0] as string, nested);
}

/** Removes the member at a path; undefined if there is none. */
export function removeMember(text: string, path: readonly string[]): string | undefined {
  if (text.trim() === '') return undefined;
  const { member, parent } = walk(parseJsonc(text), path);
  return member === undefined ? undefined : remove(text, parent, member);
}

/** The data at a path. */
export function memberAt(text: string, path: readonly string[]): unknown {
  if (text.trim() === '') return undefined;
  const { member } = walk(parseJsonc(text), path);
  return member === undefined ? undefined : dataOf(member.value);
}

interface MemberPosition {
  readonly parent: ObjectNode;
  readonly member: JsonMember | undefined;
  /** The missing end of the path. */
  readonly rest: readonly string[];
}

function walk(root: JsonNode, path: readonly string[]): MemberPosition {
  if (root.kind !== 'object') throw new NotAnObject([]);
  let parent: ObjectNode = root;
  for (const [i, key] of path.entries()) {
    const member = parent.members.findLast((each) => each.key === key);
    if (member === undefined) return { parent, member, rest: path.slice(i) };
    if (i === path.length - 1) return { parent, member, rest: [] };
    if (member.value.kind !== 'object') throw new NotAnObject(path.slice(0, i + 1));
    parent = member.value;
  }
  return { parent, member: undefined, rest: [] };
}

function insert(text: string, parent: ObjectNode, key: string, value: unknown): string {
  const last = parent.members.at(-1);
  const eol = eolOf(text);
  const name = JSON.stringify(key);
  const oneLine =
    !text.slice(parent.start, parent.end).includes('\n') && (last !== undefined || !text.trim().includes('\n'));
  if (oneLine && text.trim() !== '{}') {
    const at = last === undefined ? parent.start + 1 : last.value.end;
    return splice(text, at, at, `${last === undefined ? '' : ', '}${name}: ${JSON.stringify(value)}`);
  }
  if (last === undefined) {
    const outer = indentAt(text, parent.start);
    const inner = outer + unitOf(text);
    const before = text.slice(parent.start + 1, parent.end - 1).trimEnd();
    const member = `${inner}${name}: ${print(text, value, inner)}`;
    return splice(text, parent.start, parent.end, `{${before}${eol}${member}${eol}${outer}}`);
  }
  const indent = indentAt(text, last.keyStart);
  const member = `${eol}${indent}${name}: ${print(text, value, indent)}`;
  const comma = skipSpace(text, last.value.end);
  const hasComma = text[comma] === ',';
  // A comment after the last member stays on its line.
  const at = endOfLine(text, hasComma ? comma + 1 : last.value.end, parent.end - 1);
  const after = splice(text, at, at, `${member}${hasComma ? ',' : ''}`);
  return hasComma ? after : splice(after, last.value.end, last.value.end, ',');
}

function remove(text: string, parent: ObjectNode, member: JsonMember): string {
  const index = parent.members.indexOf(member);
  const lineStart = text.lastIndexOf('\n', member.keyStart - 1) + 1;
  const ownLine = text.slice(lineStart, member.keyStart).trim() === '' && lineStart > parent.start;
  let start = ownLine ? lineStart : member.keyStart;
  let end = member.value.end;
  const comma = skipSpace(text, end);
  if (text[comma] === ',') end = comma + 1;
  else if (index > 0) {
    // Removing the last member removes the comma before it too.
    const previous = parent.members[index - 1] as JsonMember;
    const before = skipSpace(text, previous.value.end);
    text = splice(text, before, before + 1, '');
    start -= 1;
    end -= 1;
  }
  const line = /^[ \t]*(\r?\n)?/.exec(text.slice(end)) as RegExpExecArray;
  if (ownLine && line[1] !== undefined) end += line[0].length;
  else if (!ownLine) end += /^[ \t]*/.exec(text.slice(end))?.[0].length ?? 0;
  else start = Math.max(parent.start + 1, start - eolOf(text).length);
  return splice(text, start, end, '');
}

/** From `from` past spaces and a comment to the end of the line, unless the object closes on it. */
function endOfLine(text: string, from: number, close: number): number {
  const newline = text.indexOf('\n', from);
  const end = newline === -1 ? text.length : newline - (text[newline - 1] === '\r' ? 1 : 0);
  if (close <= end) return from;
  return /^\s*(\/\/.*|\/\*.*\*\/\s*)?$/.test(text.slice(from, end)) ? end : from;
}

function print(text: string, value: unknown, indent: string): string {
  const lines = JSON.stringify(value, null, unitOf(text)).split('\n');
  return lines.join(eolOf(text) + indent);
}

function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
}

/** One step of this file's indentation. */
function unitOf(text: string): string {
  return /\n([ \t]+)"/.exec(text)?.[1] ?? '  ';
}

function eolOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

function splice(text: string, start: number, end: number, by: string): string {
  return text.slice(0, start) + by + text.slice(end);
}

function equal(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
