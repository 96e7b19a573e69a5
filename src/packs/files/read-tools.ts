// The tools that only read: their names, arguments and results. read-handlers.ts does the work and is loaded with the
// first call.

import type { Server } from '../../engine/server.ts';
import { inSearchTurn } from '../workspace/file-turns.ts';
import type { WithFiles } from './contract.ts';

const annotations = { readOnlyHint: true, openWorldHint: false } as const;

const path = {
  type: 'string',
  minLength: 1,
  description: 'A path in one of the allowed directories: absolute, or relative to the first of them',
} as const;
const exclude = {
  type: 'array',
  items: { type: 'string', minLength: 1 },
  description: 'Globs of what to leave out, relative to path. A name without wildcards is left out at any depth.',
} as const;
const text = { type: 'string' } as const;
const truncated = { type: 'boolean', description: 'A limit was reached: there is more than was returned' } as const;
const type = { type: 'string', enum: ['file', 'directory'] } as const;
const lines = (description: string) => ({ type: 'integer', minimum: 1, description }) as const;
const handlers = () => import('./read-handlers.ts');

export interface ReadToolsOptions {
  readonly maxReadBytes: number;
  readonly write: boolean | readonly string[];
}

export function installReadTools(server: Server, withFiles: WithFiles, options: ReadToolsOptions): void {
  installReading(server, withFiles, options);
  installListing(server, withFiles, options);
  installSearching(server, withFiles);
}

function installReading(server: Server, withFiles: WithFiles, { maxReadBytes }: ReadToolsOptions): void {
  server.tool('read_text_file', {
    title: 'Read text file',
    description:
      'Read a text file, or only some of its lines: the first ones with head, the last ones with tail, or head lines starting with line number from. Use it for large files, too.',
    annotations,
    input: {
      type: 'object',
      properties: {
        path,
        head: lines('How many lines, from the start of the file or from line number from'),
        tail: lines('How many lines, from the end of the file'),
        from: lines('The number of the first line'),
      },
      required: ['path'],
    },
    output: { type: 'object', properties: { content: text }, required: ['content'] },
    run: withFiles(async () => (await handlers()).readTextFile(maxReadBytes)),
  });
  // No output schema: the data would be sent twice.
  server.tool('read_media_file', {
    title: 'Read media file',
    description: 'Read an image, an audio file or another binary file. Images and audio are returned as such.',
    annotations,
    input: { type: 'object', properties: { path }, required: ['path'] },
    run: withFiles(async () => (await handlers()).readMediaFile),
  });
  server.tool('read_multiple_files', {
    title: 'Read multiple files',
    description: 'Read several text files at once. A file that cannot be read is reported; the others are returned.',
    annotations,
    input: {
      type: 'object',
      properties: { paths: { type: 'array', items: path, minItems: 1, maxItems: 100 } },
      required: ['paths'],
    },
    output: {
      type: 'object',
      properties: {
        files: {
          type: 'array',
          items: { type: 'object', properties: { path: text, content: text, error: text }, required: ['path'] },
        },
      },
      required: ['files'],
    },
    run: withFiles(async () => (await handlers()).readMultipleFiles(maxReadBytes)),
  });
}

function installListing(server: Server, withFiles: WithFiles, { write }: ReadToolsOptions): void {
  const name = { name: text, type } as const;
  server.tool('list_directory', {
    title: 'List directory',
    description: 'List the files and directories in a directory, marked with [FILE] and [DIR].',
    annotations,
    input: { type: 'object', properties: { path }, required: ['path'] },
    output: {
      type: 'object',
      properties: {
        entries: { type: 'array', items: { type: 'object', properties: name, required: ['name', 'type'] } },
        truncated,
      },
      required: ['entries', 'truncated'],
    },
    run: withFiles(async () => (await handlers()).listDirectory),
  });
  server.tool('list_directory_with_sizes', {
    title: 'List directory with sizes',
    description: 'List the files and directories in a directory with their sizes, and the sum of them.',
    annotations,
    input: {
      type: 'object',
      properties: {
        path,
        sortBy: { type: 'string', enum: ['name', 'size'], description: 'Default: name. size: the largest first' },
      },
      required: ['path'],
    },
    output: {
      type: 'object',
      properties: {
        entries: {
          type: 'array',
          items: {
            type: 'object',
            properties: { ...name, size: { type: 'integer' }, modified: text },
            required: ['name', 'type', 'size', 'modified'],
          },
        },
        totalSize: { type: 'integer' },
        truncated,
      },
      required: ['entries', 'totalSize', 'truncated'],
    },
    run: withFiles(async () => (await handlers()).listDirectoryWithSizes),
  });
  server.tool('directory_tree', {
    title: 'Directory tree',
    description: 'Everything below a directory as JSON: name and type of each entry, and the children of directories.',
    annotations,
    input: { type: 'object', properties: { path, excludePatterns: exclude }, required: ['path'] },
    output: {
      type: 'object',
      properties: {
        tree: {
          type: 'array',
          items: {
            type: 'object',
            properties: { ...name, children: { type: 'array', items: { type: 'object' } } },
            required: ['name', 'type'],
          },
        },
        truncated,
      },
      required: ['tree', 'truncated'],
    },
    run: withFiles(async () => (await handlers()).directoryTree, inSearchTurn),
  });
  server.tool('get_file_info', {
    title: 'Get file info',
    description: 'Type, size, times and permissions of a file or directory.',
    annotations,
    input: { type: 'object', properties: { path }, required: ['path'] },
    output: {
      type: 'object',
      properties: {
        path: text,
        type,
        size: { type: 'integer' },
        created: text,
        modified: text,
        accessed: text,
        permissions: { type: 'string', description: 'In octal digits, such as 644' },
      },
      required: ['path', 'type', 'size', 'created', 'modified', 'accessed', 'permissions'],
    },
    run: withFiles(async () => (await handlers()).getFileInfo),
  });
  server.tool('list_allowed_directories', {
    title: 'List allowed directories',
    description: 'The directories that these tools can use, with everything in them.',
    annotations,
    input: { type: 'object', properties: {} },
    output: {
      type: 'object',
      properties: {
        directories: { type: 'array', items: text },
        writable: { type: 'array', items: text, description: 'Those whose files can be changed' },
      },
      required: ['directories', 'writable'],
    },
    run: withFiles(async () => (await handlers()).listAllowedDirectories(write)),
  });
}

function installSearching(server: Server, withFiles: WithFiles): void {
  server.tool('search_files', {
    title: 'Search files',
    description:
      'Find files and directories by name, at any depth. The pattern is a glob on the path relative to path: *.md finds files in it, **/*.md also those below it; {ts,js} gives alternatives.',
    annotations,
    input: {
      type: 'object',
      properties: { path, pattern: { type: 'string', minLength: 1 }, excludePatterns: exclude },
      required: ['path', 'pattern'],
    },
    output: {
      type: 'object',
      properties: { paths: { type: 'array', items: text }, truncated },
      required: ['paths', 'truncated'],
    },
    run: withFiles(async () => (await handlers()).searchFiles, inSearchTurn),
  });
  server.tool('search_text', {
    title: 'Search text',
    description:
      'Find lines that contain a text, in one file or in all text files below a directory. The text is matched literally, without regular expressions.',
    annotations,
    input: {
      type: 'object',
      properties: {
        path,
        text: { type: 'string', minLength: 1, maxLength: 1000, description: 'A line, or a part of one' },
        pattern: { type: 'string', minLength: 1, description: 'Only files that match this glob, such as **/*.ts' },
        excludePatterns: exclude,
        ignoreCase: { type: 'boolean', description: 'Default: false' },
      },
      required: ['path', 'text'],
    },
    output: {
      type: 'object',
      properties: {
        matches: {
          type: 'array',
          items: {
            type: 'object',
            properties: { path: text, line: { type: 'integer' }, text },
            required: ['path', 'line', 'text'],
          },
        },
        filesRead: { type: 'integer' },
        filesSkipped: { type: 'integer', description: 'Files that are binary, too large or not readable' },
        truncated,
      },
      required: ['matches', 'filesRead', 'filesSkipped', 'truncated'],
    },
    run: withFiles(async () => (await handlers()).searchText, inSearchTurn),
  });
}
