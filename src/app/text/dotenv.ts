// Files of environment variables, one `NAME=value` per line, as most programs write them: `.env`.

export interface Dotenv {
  readonly variables: Readonly<Record<string, string>>;
  /** The numbers of lines that have no variable. */
  readonly unread: readonly number[];
}

/** `export NAME=`, and the first character of a quoted value. */
const start = /^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=[ \t]*/;
const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\' };

/**
 * Reads the variables of a file. Values may be quoted with `"` (where `\n`, `\"` and the like are escapes), `'` or `` ` ``, and
 * quoted values may have several lines. `#` begins a comment at the beginning of a line, after a quoted value, and after a
 * space. Nothing is expanded.
 */
export function parseDotenv(text: string): Dotenv {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  const variables: [string, string][] = [];
  const unread: number[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string;
    const [head, name] = start.exec(line) ?? [];
    if (head === undefined || name === undefined) {
      if (!/^\s*(#|$)/.test(line)) unread.push(at + 1);
      continue;
    }
    const rest = line.slice(head.length);
    const isQuoted = /^["'`]/.test(rest);
    // Most quoted values end in their line.
    const whole = (): string => [rest, ...lines.slice(at + 1)].join('\n');
    const quoted = isQuoted ? (readQuoted(rest) ?? readQuoted(whole())) : undefined;
    variables.push([name, quoted?.value ?? rest.replace(/(^|\s)#.*$/, '').trim()]);
    at += quoted?.lines ?? 0;
  }
  // Own properties, so a variable named __proto__ is a variable.
  return { variables: Object.fromEntries(variables), unread };
}

/** A quoted value at the beginning of a text, and how many line breaks it has; undefined if it does not end, or not its line. */
function readQuoted(text: string): { readonly value: string; readonly lines: number } | undefined {
  const found = /^"((?:[^"\\]|\\[\s\S])*)"|^'([^']*)'|^`([^`]*)`/.exec(text);
  if (found === null || !/^[ \t]*(#|\n|$)/.test(text.slice(found[0].length))) return undefined;
  const [all, double, single, back] = found;
  const value =
    double?.replace(/\\([\s\S])/g, (each, character: string) => escapes[character] ?? each) ?? single ?? back ?? '';
  return { value, lines: all.split('\n').length - 1 };
}
