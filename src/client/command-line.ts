// Splits a command line into arguments, as a shell would, and rejects what only a shell could do. Nothing is ever expanded
// or run by one.

import { clientErrors } from './errors.ts';

/** What only a shell interprets: an error is better than passing it on as an argument. */
const shellOnly = /[|&;<>()`$\n]/;

/**
 * The arguments of a command line. Quotes and backslashes work as in a POSIX shell, except that on Windows a backslash is a
 * part of a path unless it is before a double quotation mark.
 */
export function splitCommandLine(text: string, platform = process.platform): string[] {
  const isPathSeparator = (at: number): boolean => platform === 'win32' && text[at] === '\\' && text[at + 1] !== '"';
  const args: string[] = [];
  let argument: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string;
    if (character === ' ' || character === '\t') {
      if (argument !== undefined) args.push(argument);
      argument = undefined;
    } else if (character === "'") {
      const end = text.indexOf("'", at + 1);
      if (end === -1) throw unfinished(text);
      argument = (argument ?? '') + text.slice(at + 1, end);
      at = end;
    } else if (character === '"') {
      const quoted = readQuoted(text, at + 1, isPathSeparator);
      argument = (argument ?? '') + quoted.text;
      at = quoted.end;
    } else if (character === '\\' && !isPathSeparator(at)) {
      if (at + 1 === text.length) throw unfinished(text);
      argument = (argument ?? '') + text[++at];
    } else {
      if (shellOnly.test(character)) throw needsShell(character);
      argument = (argument ?? '') + character;
    }
  }
  if (argument !== undefined) args.push(argument);
  if (args.length === 0) throw clientErrors.configuration('The command line is empty');
  return args;
}

function readQuoted(
  text: string,
  start: number,
  isPathSeparator: (at: number) => boolean,
): { readonly text: string; readonly end: number } {
  let inner = '';
  for (let at = start; at < text.length; at++) {
    const character = text[at] as string;
    if (character === '"') return { text: inner, end: at };
    if (character === '`' || character === '$') throw needsShell(character);
    // Inside double quotes a backslash only escapes what would be special there.
    if (character === '\\' && !isPathSeparator(at) && '"\\$`'.includes(text[at + 1] ?? ' ')) inner += text[++at];
    else inner += character;
  }
  throw unfinished(text);
}

const unfinished = (text: string) =>
  clientErrors.configuration(`The command line has a quotation mark without its end: ${JSON.stringify(text)}`);

const needsShell = (character: string) =>
  clientErrors.configuration(
    `${JSON.stringify(character)} needs a shell, and none is used; if you mean the character itself, put it in single quotes, or pass the arguments as a list`,
  );
