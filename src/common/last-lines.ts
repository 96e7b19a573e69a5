// The lines of a log that say why a program has ended.

const ansi = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
/** A frame of a stack, and what Node.js prints below the last one. They would take the place of the message above them. */
const ofStack = /^\s+at\s|^Node\.js v\d/;
const namesError = /^\W*(\w*error|fatal)\b/i;

/**
 * The last lines of a log, without escape sequences, empty lines and stacks. Some programs print all of their usage after an error:
 * if none of these lines begins with one, the last line before them that does comes first.
 */
export function lastLines(log: string, maxLines: number): string[] {
  const lines = log
    .replace(ansi, '')
    .split(/\r?\n/)
    .map((line) => line.trimEnd())
    .filter((line) => line !== '' && !ofStack.test(line));
  const last = lines.slice(-maxLines);
  if (last.some((line) => namesError.test(line))) return last;
  const error = lines.findLast((line) => namesError.test(line));
  return error === undefined ? last : [error, '…', ...last.slice(2)];
}
