// What the tools do that change files.

import { FileError, type FileTree, type TextEdit } from '../../security/files/tree.ts';
import type { FileHandler } from './contract.ts';
import { expandHome, result } from './read-handlers.ts';

interface PathArguments {
  readonly path: string;
}

/** Characters of a diff that are returned: the rest of a rewritten file does not help a model. */
const maxDiffChars = 100_000;

const seen = (tree: FileTree, path: string): string => tree.resolve(path).path;

export const writeFile: FileHandler<PathArguments & { readonly content: string }> = async (tree, args, { signal }) => {
  const target = expandHome(args.path);
  const { created } = await inFolder(tree.writeFile(target, args.content, { signal }));
  const path = seen(tree, target);
  return result(`Successfully wrote to ${path}`, { path, created, bytes: Buffer.byteLength(args.content) });
};

interface EditArguments extends PathArguments {
  readonly edits: readonly {
    readonly oldText: string;
    readonly newText: string;
    readonly replaceAll?: boolean | undefined;
  }[];
  readonly dryRun?: boolean | undefined;
}

export const editFile: FileHandler<EditArguments> = async (tree, { path, edits, dryRun = false }, { signal }) => {
  const target = expandHome(path);
  const edited = await tree.editFile(target, edits as readonly TextEdit[], { dryRun, signal });
  const diff =
    edited.diff.length > maxDiffChars ? `${edited.diff.slice(0, maxDiffChars)}\n… (the diff continues)\n` : edited.diff;
  return result(edited.changed ? fenced(diff) : 'Nothing to change: the text is the same.', {
    path: seen(tree, target),
    diff,
    changed: edited.changed && !dryRun,
  });
};

/** As a block of Markdown, with more backticks than the text has in a row. */
function fenced(diff: string): string {
  const longest = Math.max(2, ...(diff.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}diff\n${diff}${fence}`;
}

export const createDirectory: FileHandler<PathArguments> = async (tree, args) => {
  const target = expandHome(args.path);
  const { created } = await tree.makeDirectory(target);
  const path = seen(tree, target);
  return result(created ? `Successfully created directory ${path}` : `The directory ${path} already exists`, {
    path,
    created,
  });
};

interface MoveArguments {
  readonly source: string;
  readonly destination: string;
}

export const moveFile: FileHandler<MoveArguments> = async (tree, args) => {
  const [source, destination] = [expandHome(args.source), expandHome(args.destination)];
  await inFolder(tree.move(source, destination));
  const moved = { source: seen(tree, source), destination: seen(tree, destination) };
  return result(`Successfully moved ${moved.source} to ${moved.destination}`, moved);
};

export const deleteFile: FileHandler<PathArguments> = async (tree, args) => {
  const target = expandHome(args.path);
  const { kind } = await tree.remove(target);
  const path = seen(tree, target);
  return result(`Successfully deleted ${path}`, { path, type: kind });
};

/** A new file needs an existing directory: the most likely reason why its path is not found. */
async function inFolder<T>(change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof FileError) || error.code !== 'FILE_NOT_FOUND') throw error;
    throw new FileError(error.code, `${error.message}. If its directory does not exist, use create_directory first`, {
      cause: error,
    });
  }
}
