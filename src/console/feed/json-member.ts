// Finds the text of a member in a JSON object without parsing it, so that large integers stay as they were sent.

/** The text of a member of the outermost object; undefined if there is none. `json` must be valid JSON. */
export function memberText(json: string, name: string): string | undefined {
  let at = skipSpace(json, 0);
  if (json[at] !== '{') return undefined;
  at = skipSpace(json, at + 1);
  while (json[at] === '"') {
    const keyEnd = endOfText(json, at);
    const key: unknown = JSON.parse(json.slice(at, keyEnd));
    const start = skipSpace(json, skipSpace(json, keyEnd) + 1);
    const end = endOfValue(json, start);
    if (key === name) return json.slice(start, end).trimEnd();
    at = skipSpace(json, end);
    if (json[at] !== ',') return undefined;
    at = skipSpace(json, at + 1);
  }
  return undefined;
}

function skipSpace(json: string, from: number): number {
  let at = from;
  while (at < json.length && json.charCodeAt(at) <= 0x20) at++;
  return at;
}

/** The position after a text that begins at `from`. */
function endOfText(json: string, from: number): number {
  let at = from + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** The position of the comma or bracket after a value. */
function endOfValue(json: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < json.length) {
    const char = json[at];
    if (char === '"') {
      at = endOfText(json, at);
      continue;
    }
    if (depth === 0 && (char === ',' || char === '}' || char === ']')) return at;
    if (char === '{' || char === '[') depth++;
    else if (char === '}' || char === ']') depth--;
    at++;
  }
  return at;
}
