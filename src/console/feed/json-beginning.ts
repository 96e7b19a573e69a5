// The beginning of a JSON text that is too long to parse, completed so that it can be parsed.

/** The rest of a text that may not end here, brackets, what is between values, or a number, `true`, `false` and `null`. */
const token = /\s*(?:"[^"\\]*(?:\\.[^"\\]*)*("?)|([{[])|([}\]])|([,:])|[^\s"{}[\],:]+)/sy;

export interface JsonBeginning {
  /** JSON, if the whole text is. A value that ends later is not in it, a text without its last word. */
  readonly json: string;
  /** How much of the whole text it has. */
  readonly end: number;
}

/** At most the first `maxChars` characters. */
export function beginningOf(whole: string, maxChars: number): JsonBeginning {
  const text = whole.slice(0, maxChars);
  /** What closes each open bracket. */
  const open: string[] = [];
  let isName = false;
  let end = 0;
  token.lastIndex = 0;
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    const [, endOfText, opening, closing, between] = found;
    const at = token.lastIndex;
    if (between !== undefined) {
      isName = between === ',' && open.at(-1) === '}';
      continue;
    }
    if (endOfText === '') {
      if (isName) break;
      end = endOfWords(text, at);
      return { json: `${text.slice(0, end)}"${open.reverse().join('')}`, end };
    }
    if (opening !== undefined) open.push(opening === '{' ? '}' : ']');
    else if (closing !== undefined) open.pop();
    else if (isName) continue;
    // Whether a number ends here is not known at the end of the text.
    else if (endOfText === undefined && at === text.length) break;
    isName = opening === '{';
    end = at;
  }
  return { json: text.slice(0, end) + open.reverse().join(''), end };
}

/** The position before a word that ends at `at` and may continue, and before an escape sequence that may. */
function endOfWords(text: string, at: number): number {
  let end = at;
  while (end > 0 && /[\w+/=.~-]/.test(text[end - 1] as string)) end--;
  while (text[end - 1] === '\\') end--;
  return end;
}
