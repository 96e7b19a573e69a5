// What the reading tools do. Results have the text that a model reads, and the same as structured content.

import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { audio, image } from '../../engine/content.ts';
import type { Content, JsonObject, ToolResult } from '../../protocol/model.ts';
import { type FileEntry, FileError, type FileTree } from '../../security/files/tree.ts';
import { mimeTypeOf } from '../workspace/mime.ts';
import type { FileHandler } from './contract.ts';

/** A result with text for the model, and the same as data. */
export const result = (text: string, structuredContent: JsonObject): ToolResult => ({
  content: [{ type: 'text', text }],
  structuredContent,
});

/** `~/notes` as people write it; whether it may be used is for the tree to say. */
export const expandHome = (path: string): string => (/^~(?=$|[/\\])/.test(path) ? homedir() + path.slice(1) : path);

interface ReadArguments {
  readonly path: string;
  readonly head?: number | undefined;
  readonly tail?: number | undefined;
  readonly from?: number | undefined;
}

export const readTextFile =
  (maxBytes: number): FileHandler<ReadArguments> =>
  async (tree, { path, head, tail, from }, { signal }) => {
    if (tail !== undefined && (head !== undefined || from !== undefined)) {
      return { content: [{ type: 'text', text: 'Give either tail, or head and from.' }], isError: true };
    }
    const text = decode(await readPart(tree, expandHome(path), { head, tail, from }, { maxBytes, signal }));
    if (text !== undefined) return result(text, { content: text });
    return { content: [{ type: 'text', text: notText(path) }], isError: true };
  };

interface FileReadOptions {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

function readPart(
  tree: FileTree,
  target: string,
  { head, tail, from }: Omit<ReadArguments, 'path'>,
  options: FileReadOptions,
): Promise<Buffer> {
  if (tail !== undefined) return tree.readLines(target, { tail, ...options });
  if (head === undefined && from === undefined) return tree.readFile(target, options);
  const range = { ...(head === undefined ? {} : { head }), ...(from === undefined ? {} : { from }) };
  return tree.readLines(target, { ...range, ...options });
}

const notText = (path: string): string => `Not a text file: ${path}. Read it with read_media_file.`;

/** Text in UTF-8; bytes that are none are replaced. Undefined for binary data. */
const decode = (bytes: Buffer): string | undefined => (bytes.includes(0) ? undefined : bytes.toString());

export const readMediaFile: FileHandler<{ readonly path: string }> = async (tree, { path }, { signal }) => {
  const target = expandHome(path);
  const bytes = await tree.readFile(target, { signal });
  const type = mimeTypeOf(target);
  return { content: [mediaBlock(tree, target, type, bytes)] };
};

function mediaBlock(tree: FileTree, target: string, type: string, bytes: Buffer): Content {
  const data = bytes.toString('base64');
  if (type.startsWith('image/')) return image(data, type);
  if (type.startsWith('audio/')) return audio(data, type);
  const mimeType = type === 'text/plain' && bytes.includes(0) ? 'application/octet-stream' : type;
  return { type: 'resource', resource: { uri: tree.resolve(target).uri, mimeType, blob: data } };
}

export const readMultipleFiles =
  (maxBytes: number): FileHandler<{ readonly paths: readonly string[] }> =>
  async (tree, { paths }, { signal }) => {
    let space = maxBytes;
    const files: { path: string; content?: string; error?: string }[] = [];
    for (const path of paths) {
      const file = await readOne(tree, path, { maxBytes: space, signal });
      space -= Buffer.byteLength(file.content ?? '');
      files.push(file);
    }
    const text = files.map(({ path, content, error }) =>
      content === undefined ? `${path}: Error - ${error}` : `${path}:\n${content}\n`,
    );
    return result(text.join('\n---\n'), { files });
  };

async function readOne(tree: FileTree, path: string, options: FileReadOptions) {
  try {
    const content = decode(await tree.readFile(expandHome(path), options));
    return content === undefined ? { path, error: notText(path) } : { path, content };
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    const isTooLarge = error.code === 'FILE_TOO_LARGE';
    return { path, error: isTooLarge ? 'The response would be too large. Read this file separately.' : error.message };
  }
}

const typed = ({ name, kind }: FileEntry) => ({ name, type: kind });
const label = ({ kind }: FileEntry): string => (kind === 'directory' ? '[DIR]' : '[FILE]');
const more = (truncated: boolean): string[] => (truncated ? ['(more entries; the limit was reached)'] : []);

export const listDirectory: FileHandler<{ readonly path: string }> = async (tree, { path }, { signal }) => {
  const { entries, truncated } = await tree.list(expandHome(path), { signal });
  const lines = entries.map((entry) => `${label(entry)} ${entry.name}`);
  return result([...lines, ...more(truncated)].join('\n'), { entries: entries.map(typed), truncated });
};

interface SizesArguments {
  readonly path: string;
  readonly sortBy?: 'name' | 'size' | undefined;
}

export const listDirectoryWithSizes: FileHandler<SizesArguments> = async (tree, { path, sortBy }, { signal }) => {
  const { entries, truncated } = await tree.list(expandHome(path), { signal });
  const sorted = sortBy === 'size' ? [...entries].sort((a, b) => b.size - a.size) : entries;
  const lines = sorted.map((entry) =>
    `${label(entry)} ${entry.name.padEnd(30)} ${entry.kind === 'file' ? formatSize(entry.size).padStart(10) : ''}`.trimEnd(),
  );
  const totalSize = entries.reduce((sum, { size }) => sum + size, 0);
  const directories = entries.filter(({ kind }) => kind === 'directory').length;
  const summary = [
    ...more(truncated),
    '',
    `Total: ${entries.length - directories} files, ${directories} directories`,
    `Combined size: ${formatSize(totalSize)}`,
  ];
  return result([...lines, ...summary].join('\n'), {
    entries: sorted.map((entry) => ({ ...typed(entry), size: entry.size, modified: time(entry.modifiedMs) })),
    totalSize,
    truncated,
  });
};

const time = (ms: number): string => new Date(ms).toISOString();

/** `1.50 KB`, with units of 1024. */
function formatSize(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  const unit = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  return `${unit === 0 ? bytes : (bytes / 1024 ** unit).toFixed(2)} ${units[unit]}`;
}

interface TreeArguments {
  readonly path: string;
  readonly excludePatterns?: readonly string[] | undefined;
}

interface TreeNode {
  readonly name: string;
  readonly type: 'file' | 'directory';
  readonly children?: TreeNode[];
}

export const directoryTree: FileHandler<TreeArguments> = async (tree, { path, excludePatterns = [] }, { signal }) => {
  const target = expandHome(path);
  const { entries, truncated } = await tree.list(target, { recursive: true, exclude: excludePatterns, signal });
  const top: TreeNode[] = [];
  const children = new Map([[tree.resolve(target).path, top]]);
  for (const entry of entries) {
    const node: TreeNode = { ...typed(entry), ...(entry.kind === 'directory' ? { children: [] } : {}) };
    // Sorted by path: a directory comes before what is in it.
    children.get(dirname(entry.path))?.push(node);
    if (node.children !== undefined) children.set(entry.path, node.children);
  }
  return result(
    JSON.stringify(top, null, 2) +
      more(truncated)
        .map((line) => `\n${line}`)
        .join(''),
    {
      tree: top,
      truncated,
    },
  );
};

export const getFileInfo: FileHandler<{ readonly path: string }> = async (tree, { path }) => {
  const facts = await tree.stat(expandHome(path));
  const info = {
    size: facts.size,
    created: time(facts.createdMs),
    modified: time(facts.modifiedMs),
    accessed: time(facts.accessedMs),
    type: facts.kind,
    permissions: facts.mode.toString(8).padStart(3, '0'),
  };
  const lines = Object.entries(info).map(([key, value]) => `${key}: ${value}`);
  return result(lines.join('\n'), { path: facts.path, ...info });
};

export const listAllowedDirectories =
  (write: boolean | readonly string[]): FileHandler<object> =>
  async (tree) => {
    const directories = tree.roots.map(({ path }) => path);
    const writable = typeof write === 'boolean' ? (write ? directories : []) : write;
    return result(`Allowed directories:\n${directories.join('\n')}`, { directories, writable });
  };

interface SearchFilesArguments extends TreeArguments {
  readonly pattern: string;
}

export const searchFiles: FileHandler<SearchFilesArguments> = async (tree, args, { signal }) => {
  const { path, pattern, excludePatterns = [] } = args;
  const found = await tree.findFiles(expandHome(path), pattern, { exclude: excludePatterns, signal });
  const paths = found.entries.map((entry) => entry.path);
  const text = paths.length === 0 ? ['No matches found'] : paths;
  return result([...text, ...more(found.truncated)].join('\n'), { paths, truncated: found.truncated });
};

interface SearchTextArguments extends TreeArguments {
  readonly text: string;
  readonly pattern?: string | undefined;
  readonly ignoreCase?: boolean | undefined;
}

export const searchText: FileHandler<SearchTextArguments> = async (tree, args, { signal }) => {
  const { path, text, pattern, excludePatterns = [], ignoreCase = false } = args;
  const options = {
    exclude: excludePatterns,
    ignoreCase,
    signal,
    ...(pattern === undefined ? {} : { include: pattern }),
  };
  const found = await tree.searchText(expandHome(path), text, options);
  const matches = found.matches.map((match) => ({ path: match.path, line: match.line, text: match.text }));
  const lines = matches.map((match) => `${match.path}:${match.line}: ${match.text}`);
  if (lines.length === 0) lines.push('No matches found');
  if (found.truncated) lines.push('(more to search; the limit was reached: narrow the search with path or pattern)');
  const { filesRead, filesSkipped, truncated } = found;
  return result(lines.join('\n'), { matches, filesRead, filesSkipped, truncated });
};
