// The id of a line that was rejected unread: searched at both ends of the line, within a fixed number of bytes. Not a
// parser; an id that is not certain is not reported.

/** How much of each end of a rejected line is searched. */
export const idSearchBytes = 1024;

/** What is known about a rejected line. */
export interface RejectedLineId {
  readonly id?: string | number;
  /** The line was a response to a request of this side: its id is not one the peer waits for. */
  readonly isResponse: boolean;
}

/**
 * Searches the first and the last bytes of a line (one character per byte).
 *
 * Most clients write the id before the large part, the official TypeScript client writes it last. At the end of
 * a valid line `,"id":1}` can only be a member of the outermost object, so both ends are safe to search.
 */
export function findRejectedLineId(head: string, tail: string): RejectedLineId {
  const members = scanMembers(head);
  const { isResponse } = members;
  const id = members.id ?? idAtEnd(tail);
  return id === undefined ? { isResponse } : { id, isResponse };
}

/** Finds the outermost members whose values are within `head`. */
function scanMembers(head: string): { id: string | number | undefined; isResponse: boolean } {
  const found: { id: string | number | undefined; isResponse: boolean } = { id: undefined, isResponse: false };
  const opening = /^(?:\u00ef\u00bb\u00bf)?\s*\{/.exec(head);
  if (opening === null) return found;
  memberPattern.lastIndex = opening[0].length;
  for (let member = memberPattern.exec(head); member !== null; member = memberPattern.exec(head)) {
    const key = member[1];
    if (key === 'result' || key === 'error') found.isResponse = true;
    const at = memberPattern.lastIndex;
    scalarPattern.lastIndex = at;
    const value = scalarPattern.exec(head)?.[1];
    if (key === 'id' && value !== undefined) found.id = readId(value);
    const next = value === undefined ? skipNested(head, at) : at + value.length;
    if (next === -1) return found;
    memberPattern.lastIndex = next;
  }
  return found;
}

const memberPattern = /[\s,]*"((?:[^"\\]|\\.)*)"\s*:\s*/y;
/** A string, number or keyword that is certainly complete: something follows it. */
const scalarPattern = /("(?:[^"\\]|\\.)*"|[-+.\w]+)(?=[\s,}])/y;

/** The index after an object or array, or -1 when it does not end in `text`. */
function skipNested(text: string, start: number): number {
  const opening = text[start];
  if (opening !== '{' && opening !== '[') return -1;
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (quoted) {
      if (character === '\\') at++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{' || character === '[') depth++;
    else if ((character === '}' || character === ']') && --depth === 0) return at + 1;
  }
  return -1;
}

function idAtEnd(tail: string): string | number | undefined {
  const value = /[,{]\s*"id"\s*:\s*("[^"\\]*"|-?\d+)\s*\}\s*$/.exec(tail)?.[1];
  return value === undefined ? undefined : readId(value);
}

function readId(text: string): string | number | undefined {
  try {
    const id: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'latin1')));
    return typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id)) ? id : undefined;
  } catch {
    return undefined; // Neither UTF-8 nor JSON: then it is not an id either.
  }
}
