// The official filesystem server (@modelcontextprotocol/server-filesystem) with Mooring: the same tools, arguments and
// results. Start it with folders: node examples/filesystem.mjs ~/projects. For a server with structured results, search by
// content and deletion, use the pack "mooring/packs/files".
import { homedir } from 'node:os';
import { extname } from 'node:path';
import { audio, createServer, image, serveStdio } from 'mooring';
import { openRoots } from 'mooring/security';
import { z } from 'zod';

const server = createServer({ name: 'secure-filesystem-server', version: '0.2.0' });
const limit = 64 * 1024 * 1024;
const options = { writable: true, allowHardLinks: true, maxFileBytes: limit, maxWriteBytes: limit };
const expandHome = (path) => path.replace(/^~(?=$|\/)/, homedir());
const folders = process.argv.slice(2).map(expandHome);
const trees = new Map();

/** The files of a call: in the roots of the client, if it has any, otherwise in the folders of the command line. */
async function treeOf(ctx) {
  const roots = ctx.can('roots') ? await ctx.roots() : [];
  const paths = roots.length > 0 ? roots.map(({ uri }) => decodeURI(uri.replace(/^file:\/\//, ''))) : folders;
  const key = paths.join('\n');
  if (!trees.has(key)) trees.set(key, openRoots(paths, options));
  return trees.get(key);
}

const reads = { readOnlyHint: true, openWorldHint: false };
const writes = (idempotentHint, destructiveHint) => ({
  readOnlyHint: false,
  idempotentHint,
  destructiveHint,
  openWorldHint: false,
});

/** A tool whose result is a text. */
function textTool(name, title, description, input, annotations, run) {
  server.tool(name, {
    title,
    description,
    input: z.object(input),
    output: z.object({ content: z.string() }),
    annotations,
    run: async (args, ctx) => {
      const content = await run(args, await treeOf(ctx), ctx);
      return { content: [{ type: 'text', text: content }], structuredContent: { content } };
    },
  });
}

const path = z.string();
const excludePatterns = z.array(z.string()).optional().default([]);
const lines = {
  path,
  tail: z.number().optional().describe('Only the last N lines'),
  head: z.number().optional().describe('Only the first N lines'),
};

async function readText({ path, head, tail }, tree) {
  if (head && tail) throw new Error('Give either head or tail, not both');
  const text = (await tree.readFile(expandHome(path))).toString();
  if (tail) return text.replaceAll('\r\n', '\n').split('\n').slice(-tail).join('\n');
  return head ? text.replace(/\n$/, '').split('\n').slice(0, head).join('\n') : text;
}

textTool('read_file', 'Read File (Deprecated)', 'Use read_text_file instead.', lines, reads, readText);
textTool(
  'read_text_file',
  'Read Text File',
  'Read a file as text, or its first or last lines.',
  lines,
  reads,
  readText,
);

const mediaTypes = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.bmp': 'image/bmp',
  '.svg': 'image/svg+xml',
  '.mp3': 'audio/mpeg',
  '.wav': 'audio/wav',
  '.ogg': 'audio/ogg',
  '.flac': 'audio/flac',
};

server.tool('read_media_file', {
  title: 'Read Media File',
  description: 'Read an image or audio file as such, or any other file as an embedded resource.',
  input: z.object({ path }),
  output: z.object({
    content: z.array(
      z.union([
        z.object({ type: z.enum(['image', 'audio']), data: z.string(), mimeType: z.string() }),
        z.object({
          type: z.literal('resource'),
          resource: z.object({ uri: z.string(), mimeType: z.string().optional(), blob: z.string() }),
        }),
      ]),
    ),
  }),
  annotations: reads,
  run: async ({ path }, ctx) => {
    const tree = await treeOf(ctx);
    const target = expandHome(path);
    const data = await tree.readFile(target);
    const mimeType = mediaTypes[extname(target).toLowerCase()] ?? 'application/octet-stream';
    const resource = { uri: tree.resolve(target).uri, mimeType, blob: data.toString('base64') };
    const block = mimeType.startsWith('image/')
      ? image(data, mimeType)
      : mimeType.startsWith('audio/')
        ? audio(data, mimeType)
        : { type: 'resource', resource };
    return { content: [block], structuredContent: { content: [block] } };
  },
});

// Mooring adds a copy of structured content as text, for clients that only read text. The official server has none here.
server.around(async ({ method, params }, next) => {
  const result = await next();
  if (method !== 'tools/call' || params.name !== 'read_media_file' || result.isError) return result;
  return { ...result, content: result.content.filter(({ type }) => type !== 'text') };
});

textTool(
  'read_multiple_files',
  'Read Multiple Files',
  'Read several files as text. One that cannot be read is reported, and the others are returned.',
  { paths: z.array(z.string()).min(1) },
  reads,
  async ({ paths }, tree) => {
    const texts = paths.map((path) =>
      readText({ path }, tree).then(
        (text) => `${path}:\n${text}\n`,
        (error) => `${path}: Error - ${error.message}`,
      ),
    );
    return (await Promise.all(texts)).join('\n---\n');
  },
);

textTool(
  'write_file',
  'Write File',
  'Create a file, or replace its content.',
  { path, content: z.string() },
  writes(true, true),
  async ({ path, content }, tree) => {
    await tree.writeFile(expandHome(path), content);
    return `Successfully wrote to ${path}`;
  },
);

const unix = (text) => text.replaceAll('\r\n', '\n');

/** Replaces the first occurrence; without an exact one, lines that differ in their indentation only. */
function replace(text, { oldText, newText }) {
  const [wanted, fresh] = [unix(oldText), unix(newText)];
  if (text.includes(wanted)) return text.replace(wanted, () => fresh);
  const [all, sought] = [text.split('\n'), wanted.split('\n')];
  const at = all.findIndex((_, start) => sought.every((line, n) => all[start + n]?.trim() === line.trim()));
  if (at === -1) throw new Error(`Could not find this text in the file:\n${oldText}`);
  const indent = (line) => /^\s*/.exec(line ?? '')[0];
  const added = fresh.split('\n').map((line, n) => {
    if (n === 0) return indent(all[at]) + line.trimStart();
    const [before, now] = [indent(sought[n]), indent(line)];
    if (before === '' || now === '') return line;
    return indent(all[at]) + ' '.repeat(Math.max(0, now.length - before.length)) + line.trimStart();
  });
  return [...all.slice(0, at), ...added, ...all.slice(at + sought.length)].join('\n');
}

textTool(
  'edit_file',
  'Edit File',
  'Replace pieces of text in a file, and get the change as a diff.',
  {
    path,
    edits: z.array(z.object({ oldText: z.string(), newText: z.string() })),
    dryRun: z.boolean().default(false).describe('Only show the diff'),
  },
  writes(false, true),
  async ({ path, edits, dryRun }, tree) => {
    const { diff } = await tree.editFile(expandHome(path), (text) => edits.reduce(replace, unix(text)), { dryRun });
    let fence = '```';
    while (diff.includes(fence)) fence += '`';
    return `${fence}diff\n${diff}${fence}\n\n`;
  },
);

textTool(
  'create_directory',
  'Create Directory',
  'Create a directory and those above it; it may exist already.',
  { path },
  writes(true, false),
  async ({ path }, tree) => {
    await tree.makeDirectory(expandHome(path));
    return `Successfully created directory ${path}`;
  },
);

const label = ({ kind }) => (kind === 'directory' ? '[DIR]' : '[FILE]');

textTool(
  'list_directory',
  'List Directory',
  'List the files and directories in a directory.',
  { path },
  reads,
  async ({ path }, tree) => {
    const { entries } = await tree.list(expandHome(path));
    return entries.map((entry) => `${label(entry)} ${entry.name}`).join('\n');
  },
);

function formatSize(bytes) {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  const unit = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), 4);
  return `${unit === 0 ? bytes : (bytes / 1024 ** unit).toFixed(2)} ${units[unit]}`;
}

textTool(
  'list_directory_with_sizes',
  'List Directory with Sizes',
  'List the files and directories in a directory with their sizes.',
  { path, sortBy: z.enum(['name', 'size']).optional().default('name') },
  reads,
  async ({ path, sortBy }, tree) => {
    const { entries } = await tree.list(expandHome(path));
    const sorted = entries.toSorted((a, b) => (sortBy === 'size' ? b.size - a.size : a.name.localeCompare(b.name)));
    const size = (entry) => (entry.kind === 'file' ? formatSize(entry.size).padStart(10) : '');
    const files = entries.filter(({ kind }) => kind === 'file').length;
    return [
      ...sorted.map((entry) => `${label(entry)} ${entry.name.padEnd(30)} ${size(entry)}`),
      '',
      `Total: ${files} files, ${entries.length - files} directories`,
      `Combined size: ${formatSize(entries.reduce((sum, entry) => sum + entry.size, 0))}`,
    ].join('\n');
  },
);

textTool(
  'directory_tree',
  'Directory Tree',
  'Everything below a directory, as JSON.',
  { path, excludePatterns },
  reads,
  async ({ path, excludePatterns }, tree) => {
    const target = expandHome(path);
    const { entries } = await tree.list(target, { recursive: true, exclude: excludePatterns });
    const children = new Map([[tree.resolve(target).path, []]]);
    for (const { path: at, name, kind } of entries) {
      if (kind === 'directory') children.set(at, []);
      const inside = kind === 'directory' ? { children: children.get(at) } : {};
      children.get(at.slice(0, -name.length - 1))?.push({ name, type: kind, ...inside });
    }
    return JSON.stringify(children.get(tree.resolve(target).path), null, 2);
  },
);

textTool(
  'move_file',
  'Move File',
  'Move or rename a file or directory. The destination must not exist.',
  { source: path, destination: path },
  writes(false, true),
  async ({ source, destination }, tree) => {
    await tree.move(expandHome(source), expandHome(destination));
    return `Successfully moved ${source} to ${destination}`;
  },
);

textTool(
  'search_files',
  'Search Files',
  'Find files and directories below a directory: *.md finds those in it, **/*.md all of them.',
  { path, pattern: z.string(), excludePatterns },
  reads,
  async ({ path, pattern, excludePatterns }, tree) => {
    const { entries } = await tree.findFiles(expandHome(path), pattern, { exclude: excludePatterns });
    return entries.map((entry) => entry.path).join('\n') || 'No matches found';
  },
);

textTool(
  'get_file_info',
  'Get File Info',
  'Size, times, type and permissions of a file or directory.',
  { path },
  reads,
  async ({ path }, tree) => {
    const { size, kind, createdMs, modifiedMs, accessedMs, mode } = await tree.stat(expandHome(path));
    return [
      `size: ${size}`,
      `created: ${new Date(createdMs)}`,
      `modified: ${new Date(modifiedMs)}`,
      `accessed: ${new Date(accessedMs)}`,
      `isDirectory: ${kind === 'directory'}`,
      `isFile: ${kind === 'file'}`,
      `permissions: ${mode.toString(8)}`,
    ].join('\n');
  },
);

textTool(
  'list_allowed_directories',
  'List Allowed Directories',
  'The directories that can be used.',
  {},
  reads,
  (_, tree) => `Allowed directories:\n${tree.roots.map((root) => root.path).join('\n')}`,
);

await serveStdio(server);
