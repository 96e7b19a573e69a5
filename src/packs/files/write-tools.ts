// The tools that change files: their names, arguments and results. write-handlers.ts does the work and is loaded with
// the first call.

import type { Server } from '../../engine/server.ts';
import type { WithFiles } from './contract.ts';

const changes = { readOnlyHint: false, openWorldHint: false } as const;
const path = { type: 'string', minLength: 1, description: 'A path in one of the writable directories' } as const;
const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const handlers = () => import('./write-handlers.ts');

export function installWriteTools(server: Server, withFiles: WithFiles): void {
  server.tool('write_file', {
    title: 'Write file',
    description: 'Create a file, or replace all of its content. To change a part of a file, use edit_file.',
    annotations: { ...changes, destructiveHint: true, idempotentHint: true },
    input: { type: 'object', properties: { path, content: text }, required: ['path', 'content'] },
    output: {
      type: 'object',
      properties: { path: text, created: flag, bytes: { type: 'integer' } },
      required: ['path', 'created', 'bytes'],
    },
    run: withFiles(async () => (await handlers()).writeFile),
  });
  server.tool('edit_file', {
    title: 'Edit file',
    description:
      'Replace exact pieces of text in a file, and get the change as a diff. Each oldText must occur exactly once in the file, with the same white space; the edits are applied in order. Nothing is changed if one of them fails.',
    annotations: { ...changes, destructiveHint: true, idempotentHint: false },
    input: {
      type: 'object',
      properties: {
        path,
        edits: {
          type: 'array',
          minItems: 1,
          maxItems: 100,
          items: {
            type: 'object',
            properties: {
              oldText: { type: 'string', minLength: 1, description: 'The text to replace' },
              newText: { type: 'string', description: 'What replaces it' },
              replaceAll: { type: 'boolean', description: 'Replace all occurrences. Default: false' },
            },
            required: ['oldText', 'newText'],
          },
        },
        dryRun: { type: 'boolean', description: 'Only show the diff. Default: false' },
      },
      required: ['path', 'edits'],
    },
    output: {
      type: 'object',
      properties: { path: text, diff: text, changed: { ...flag, description: 'False after a dry run' } },
      required: ['path', 'diff', 'changed'],
    },
    run: withFiles(async () => (await handlers()).editFile),
  });
  server.tool('create_directory', {
    title: 'Create directory',
    description: 'Create a directory, and those above it that are missing. It may already exist.',
    annotations: { ...changes, destructiveHint: false, idempotentHint: true },
    input: { type: 'object', properties: { path }, required: ['path'] },
    output: { type: 'object', properties: { path: text, created: flag }, required: ['path', 'created'] },
    run: withFiles(async () => (await handlers()).createDirectory),
  });
  server.tool('move_file', {
    title: 'Move file',
    description: 'Move or rename a file or directory. The destination is its new path and must not exist.',
    annotations: { ...changes, destructiveHint: true, idempotentHint: false },
    input: { type: 'object', properties: { source: path, destination: path }, required: ['source', 'destination'] },
    output: {
      type: 'object',
      properties: { source: text, destination: text },
      required: ['source', 'destination'],
    },
    run: withFiles(async () => (await handlers()).moveFile),
  });
  server.tool('delete_file', {
    title: 'Delete file',
    description: 'Delete a file or an empty directory. It cannot be restored.',
    annotations: { ...changes, destructiveHint: true, idempotentHint: false },
    input: { type: 'object', properties: { path }, required: ['path'] },
    output: {
      type: 'object',
      properties: { path: text, type: { type: 'string', enum: ['file', 'directory'] } },
      required: ['path', 'type'],
    },
    run: withFiles(async () => (await handlers()).deleteFile),
  });
}
