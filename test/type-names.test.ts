// Two types of the same name are confused by readers, and by editors that import one of them.

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../src');

/** Names that are declared twice, each with the reason. One that is not needed must go. */
const declaredTwice: Readonly<Record<string, string>> = {
  Authenticate: 'transports/ and security/ may not import each other; it is the same interface',
  Denied: 'the same',
  NoteList: 'packs/ and stores/ may not import each other; it is the same interface',
  NoteQuery: 'the same',
  NotesChange: 'the same',
  JsonObject: 'the page of the console imports only console/api.ts; it is the same type',
  Tasks: 'the same feature, of a client and of a server, like the files in both folders features/',
  Content: 'cli/ may not import protocol/; it is the same type',
  Prompt: 'the same',
  ReadResult: 'the same',
  ResourceContents: 'the same',
  Tool: 'the same',
  ToolResult: 'the same',
};

const declaration = /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class) (\w+)/gm;

test('a type has a name of its own', () => {
  const files = new Map<string, string[]>();
  for (const each of readdirSync(root, { withFileTypes: true, recursive: true })) {
    if (!each.isFile() || !/\.tsx?$/.test(each.name) || /\.(test|fixture)\.ts$/.test(each.name)) continue;
    const file = join(each.parentPath, each.name);
    if (/[\\/](testing|fixtures)[\\/]/.test(file)) continue;
    // An interface may be declared in several parts.
    for (const name of new Set([...readFileSync(file, 'utf8').matchAll(declaration)].map(([, name = '']) => name)))
      files.set(name, [...(files.get(name) ?? []), relative(root, file)]);
  }
  const repeated = [...files].filter(([, where]) => where.length > 1);
  const unexpected = repeated.filter(([name]) => !Object.hasOwn(declaredTwice, name));
  expect(unexpected.map(([name, where]) => `${name}: ${where.join(', ')}`)).toEqual([]);
  expect(Object.keys(declaredTwice).filter((name) => (files.get(name)?.length ?? 0) < 2)).toEqual([]);
});
