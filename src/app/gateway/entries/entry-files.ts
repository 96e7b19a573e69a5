// Files that the entry of a server names: `envFile` of VS Code and Cursor with variables, and `{file:…}` of opencode with one value.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { decodeText } from '../../../common/decode-text.ts';
import { reasonText } from '../../../common/errno-text.ts';
import type { ConfigNote } from '../../../gateway/config/decode-upstream.ts';
import { headerKeys, variableKeys } from '../../../gateway/config/entry-values.ts';
import { isObject } from '../../../protocol/json-rpc.ts';
import { thisPlatform } from '../../config/folders.ts';
import { ownershipProblem } from '../../config/ownership.ts';
import { absolutePath } from '../../config/values.ts';
import { parseDotenv } from '../../text/dotenv.ts';

/** A file of variables is short; stops one that is something else from being read. */
const maxBytes = 256 * 1024;

/** The key with the file of variables. */
export const envFileKey = 'envFile';

/** What is wrong with a file that an entry names. */
export interface FileProblem {
  readonly path: readonly (string | number)[];
  readonly why: string;
}

export interface EntryWithFiles {
  readonly value: unknown;
  readonly problems: readonly FileProblem[];
  readonly notes?: readonly ConfigNote[];
}

/**
 * The path of a file that an entry names: in the folder of the configuration file, or in the folder of the project that it
 * belongs to.
 */
export function findFile(path: string, folders: readonly string[]): string {
  const places = folders.map((folder) => absolutePath(path, folder, thisPlatform().home));
  return places.find((place) => existsSync(place)) ?? (places[0] as string);
}

/** The entry with the variables of its file. Those of `env` take precedence, also if they are null: not set. */
export function withEnvFile(name: string, written: unknown, folders: readonly string[]): EntryWithFiles {
  const path = isObject(written) ? written[envFileKey] : undefined;
  // Without a command there is no process that could have variables. What is not a text is reported with the other values.
  if (!isObject(written) || typeof path !== 'string' || written['command'] === undefined) {
    return { value: written, problems: [] };
  }
  const { [envFileKey]: _path, ...rest } = written;
  const file = findFile(path, folders);
  try {
    const read = readOwn(file);
    if (!read.ok) return { value: rest, problems: [{ path: [envFileKey], why: read.reason }] };
    const { variables, unread } = parseDotenv(read.text);
    const key = variableKeys.find((each) => isObject(written[each])) ?? variableKeys[0];
    const own = isObject(written[key]) ? written[key] : {};
    const notes: ConfigNote[] = unread.map((line) => ({
      level: 'warning',
      text: `${name}: line ${line} of ${file} is not NAME=value, and is left out`,
    }));
    return { value: { ...rest, [key]: { ...variables, ...own } }, problems: [], notes };
  } catch (error) {
    const why = `needs the variables of ${file} (envFile), which cannot be read: ${reasonText(error, 'file')}`;
    return { value: rest, problems: [{ path: [envFileKey], why }] };
  }
}

const fileForm = /\{file:([^}]*)\}/g;

/** Whether a text names a file in the form of opencode. */
export function namesFile(text: string): boolean {
  return /\{file:[^}]*\}/.test(text);
}

/**
 * The entry with the contents of files in its variables and headers, without space around them. Elsewhere they are not replaced:
 * all users of the machine can see command lines, and URLs are in logs.
 */
export function withFileValues(written: unknown, folders: readonly string[]): EntryWithFiles {
  const problems: FileProblem[] = [];
  const places: readonly string[] = [...variableKeys, ...headerKeys];
  const walk = (value: unknown, path: readonly (string | number)[]): unknown => {
    if (typeof value === 'string') return replaced(value, path);
    if (Array.isArray(value)) return value.map((each, i) => walk(each, [...path, i]));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, walk(each, [...path, key])]));
  };
  const replaced = (text: string, path: readonly (string | number)[]): string =>
    text.replace(fileForm, (form, named: string) => {
      if (!places.includes(String(path[0]))) {
        problems.push({ path, why: `${form} is replaced in variables and headers only; put it there` });
        return form;
      }
      const file = findFile(named, folders);
      try {
        const read = readOwn(file);
        if (read.ok) return read.text.trim();
        problems.push({ path, why: read.reason });
        return form;
      } catch (error) {
        problems.push({
          path,
          why: `needs the content of ${file}, which cannot be read: ${reasonText(error, 'file')}`,
        });
        return form;
      }
    });
  return { value: walk(written, []), problems };
}

type OwnFile = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string };

/** The text of a small file that only the user can change. Throws if it cannot be read. */
function readOwn(file: string): OwnFile {
  // Anyone who can write the file decides what is loaded into the process, or sent to a server.
  const problem = ownershipProblem(file);
  if (problem !== undefined) return { ok: false, reason: `${file}: ${problem}` };
  const stats = statSync(file);
  // A pipe or a device would be read endlessly.
  if (!stats.isFile()) throw new Error('it is not a file');
  if (stats.size > maxBytes) throw new Error(`it is larger than ${maxBytes / 1024} KiB`);
  return { ok: true, text: decodeText(readFileSync(file)) };
}

/** What only VS Code can find: its settings, and the results of its commands. */
const vscodeForm = /(?<!\$)\$\{(?:config|command):[^}]*\}/g;

/** The references of a text in a file of VS Code that have no value outside of it. */
export function unknownOutsideVscode(text: string, section: readonly string[]): string[] {
  return section.at(-1) === 'servers' ? [...text.matchAll(vscodeForm)].map(([form]) => form) : [];
}
