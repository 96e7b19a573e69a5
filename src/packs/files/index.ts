// The pack `files`: tools that read, list, search and, where allowed, change the files in some folders. Names and
// arguments are those of the official filesystem server. Every path goes through the one resolver (security/files).

import { assertKnownOptions } from '../../common/known-options.ts';
import type { Pack } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { ToolResult } from '../../protocol/model.ts';
import { defaultFileLimits, FileError, type FileLimits, type OwnFiles } from '../../security/files/tree.ts';
import { inFileTurn } from '../workspace/file-turns.ts';
import { Workspace } from '../workspace/workspace.ts';
import type { WithFiles } from './contract.ts';
import { installReadTools } from './read-tools.ts';
import { installWriteTools } from './write-tools.ts';

export interface FilesOptions
  extends Partial<
    Pick<
      FileLimits,
      | 'maxFileBytes'
      | 'maxWriteBytes'
      | 'maxEntries'
      | 'maxSearchEntries'
      | 'maxSearchBytes'
      | 'maxMatches'
      | 'allowHardLinks'
    >
  > {
  /** Folders, or single files. */
  readonly roots: readonly string[];
  /** Adds the tools that change files: in all roots, or only in these folders. Default false. */
  readonly write?: boolean | readonly string[];
  /** Bytes of text in one response: stops a log file from filling the context of a model. Default 1 MiB. */
  readonly maxReadBytes?: number;
  /** `bound` (default): access stays inside the client's roots, if it has any. `ignore`: only `roots` decides. */
  readonly clientRoots?: 'bound' | 'ignore';
  /** The server's own files, which are never found. */
  readonly own?: OwnFiles | undefined;
}

const count = { type: 'integer', minimum: 1 } as const;

/** The options of this pack in a configuration file. */
export const filesSchema = {
  type: 'object',
  properties: {
    clientRoots: { type: 'string', enum: ['bound', 'ignore'] },
    maxReadBytes: { ...count, description: 'Bytes of text in one response' },
    maxFileBytes: {
      ...count,
      description: 'The largest file that is read as a whole, as media, for a search or an edit',
    },
    maxWriteBytes: { ...count, description: 'The largest file that is written' },
    maxEntries: { ...count, description: 'Entries of one list' },
    maxSearchEntries: { ...count, description: 'Files and folders that one search looks at' },
    maxSearchBytes: { ...count, description: 'Bytes that one search reads' },
    maxMatches: { ...count, description: 'Matching lines that one search returns' },
    allowHardLinks: { type: 'boolean', description: 'Allow files with a second name, as pnpm creates them' },
  },
  additionalProperties: false,
} as const;

const defaultReadBytes = 1024 * 1024;
const known: Record<keyof FilesOptions, true> = {
  roots: true,
  write: true,
  maxReadBytes: true,
  clientRoots: true,
  own: true,
  maxFileBytes: true,
  maxWriteBytes: true,
  maxEntries: true,
  maxSearchEntries: true,
  maxSearchBytes: true,
  maxMatches: true,
  allowHardLinks: true,
};

/** Adds the tools to a server. Throws `FILE_BAD_ROOT` for a folder that does not exist. */
export function files(options: FilesOptions): Pack<Server> {
  const folders: unknown = options?.roots;
  if (!Array.isArray(folders) || folders.length === 0) {
    throw new TypeError('files() needs "roots", a list of folders: files({ roots: [\'/srv/docs\'] })');
  }
  assertKnownOptions('files', options, known);
  const { roots, write = false, maxReadBytes = defaultReadBytes, clientRoots = 'bound', own, ...limits } = options;
  return {
    name: 'files',
    install(server) {
      const workspace = new Workspace({ roots, clientRoots, own, ...limits, writable: write });
      const withFiles: WithFiles =
        (load, inTurn = inFileTurn) =>
        async (args, ctx) => {
          const [{ tree }, handle] = await Promise.all([workspace.of(ctx), load()]);
          if (tree === undefined) return failure('No folder of this server is inside the roots of the client.');
          try {
            return await inTurn(ctx, () => handle(tree, args, ctx));
          } catch (error) {
            if (error instanceof FileError) return failure(explain(error));
            throw error;
          }
        };
      const { maxFileBytes = defaultFileLimits.maxFileBytes } = limits;
      installReadTools(server, withFiles, { maxReadBytes: Math.min(maxReadBytes, maxFileBytes), write });
      if (write === true || (write !== false && write.length > 0)) installWriteTools(server, withFiles);
    },
  };
}

const failure = (text: string): ToolResult => ({ content: [{ type: 'text', text }], isError: true });

/** What the caller can do about an error, where its message does not say so. */
const advice: Readonly<Record<string, string>> = {
  FILE_NOT_FOUND:
    '. Only paths in the allowed directories can be used: see list_allowed_directories and list_directory.',
  FILE_TOO_LARGE: '. Read a part of it: head, tail, or from and head.',
};

const explain = ({ code, message }: FileError): string => message + (advice[code] ?? '');
