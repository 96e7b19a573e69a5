// What clients replace in the texts of their files, each in a form of its own: variables of the environment, and the folder of
// the project. Our own form is `${NAME}`, which config/expand.ts replaces.

import { basename, dirname, resolve, sep } from 'node:path';
import { isObject } from '../../../protocol/json-rpc.ts';
import { thisPlatform } from '../../config/folders.ts';
import { absolutePath } from '../../config/values.ts';

/** Where a text is. */
export interface ClientPlace {
  /** The client whose file it is, if that is known. */
  readonly client: string | undefined;
  /** The path of the section with the servers. */
  readonly section: readonly string[];
}

/** VS Code writes `${env:NAME}`. */
const vscodeForm = /(?<!\$)\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g;
/** opencode writes `{env:NAME}`. */
const opencodeForm = /(?<!\$)\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g;
/** Gemini CLI also writes `$NAME`. */
const geminiForm = /(?<!\$)\$([A-Za-z_][A-Za-z0-9_]*)/g;

/** The text with variables in our form: `${NAME}`, or `${NAME:-}` where the client takes a variable that is not set as empty. */
export function withOwnVariables(
  text: string,
  { client, section }: ClientPlace,
  isReplaced: (name: string) => boolean = () => true,
): string {
  if (client === 'gemini')
    return text.replace(geminiForm, (all, name: string) => (isReplaced(name) ? `\${${name}}` : all));
  const withEmpty = section.at(-1) === 'servers' ? text.replace(vscodeForm, `\${$1:-}`) : text;
  return section[0] === 'mcp' ? withEmpty.replace(opencodeForm, `\${$1:-}`) : withEmpty;
}

/** The variables of a text that the client takes as empty if they are not set. */
export function optionalVariables(text: string, { section }: ClientPlace): string[] {
  const forms = [
    ...(section.at(-1) === 'servers' ? [vscodeForm] : []),
    ...(section[0] === 'mcp' ? [opencodeForm] : []),
  ];
  return forms.flatMap((form) => [...text.matchAll(form)].map(([, name]) => name as string));
}

/** The folder that a client calls the workspace: above .vscode, .cursor and the like. */
export function workspaceOf(file: string, client: string | undefined): string {
  const folder = dirname(file);
  // The user's file of VS Code is for every folder that is opened.
  if (client === 'vscode' && basename(folder) !== '.vscode') return process.cwd();
  return basename(folder).startsWith('.') ? dirname(folder) : folder;
}

/** What VS Code and Cursor replace besides variables of the environment. */
export function placeVariables(workspaceFolder: string): Record<string, string> {
  return {
    workspaceFolder,
    workspaceFolderBasename: basename(workspaceFolder),
    userHome: thisPlatform().home,
    pathSeparator: sep,
  };
}

/**
 * The entry with the full path of its working folder, which clients take relative to the workspace, and of a command in the home
 * folder: no shell replaces `~`. Without `home`, it is not replaced here either.
 */
export function withAbsolutePaths(written: unknown, workspace: string, home: string | undefined): unknown {
  if (!isObject(written)) return written;
  const fullPath = (path: string): string =>
    home === undefined ? resolve(workspace, path) : absolutePath(path, workspace, home);
  const absolute = (key: string): object => {
    const folder = written[key];
    // A variable that is not replaced yet has a full path, as in "${HOME}/project".
    return typeof folder !== 'string' || folder.startsWith('${') ? {} : { [key]: fullPath(folder) };
  };
  const inHome = (text: unknown): unknown =>
    home !== undefined && typeof text === 'string' && /^~[/\\]/.test(text) ? fullPath(text) : text;
  const { command } = written;
  const program = Array.isArray(command) ? [inHome(command[0]), ...command.slice(1)] : inHome(command);
  return {
    ...written,
    ...(command === undefined ? {} : { command: program }),
    ...absolute('cwd'),
    ...absolute('workingDirectory'),
  };
}

/** Changes all texts of a value, except for keys. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, mapTexts(each, change)]));
}
