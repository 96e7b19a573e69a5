// mooring skills: lists the skills of a server, or shows one of them and prints one of its files.

import { nearest } from '../../app/text/nearest.ts';
import { forTerminal, lineForTerminal } from '../../app/untrusted-text.ts';
import { UsageError } from '../../app/usage-error.ts';
import { type Client, ClientError, type Skill, type SkillFileContents } from '../../client/index.ts';
import { connectionFlags, connectionHelp, targetHelp, withServer } from '../client/connection.ts';
import { requireQuotes } from '../client/positionals.ts';
import { showResource } from '../client/print-content.ts';
import { formatBytes, SavedFiles } from '../client/saved-files.ts';
import { command } from '../command.ts';
import type { Output } from '../ui/output.ts';
import { type Column, table } from '../ui/table.ts';
import { someOf } from './tools.ts';

const help = `Usage: mooring skills <server> [skill] [--file PATH] [options]

Lists the skills (Agent Skills) of a server, or shows one of them with its SKILL.md.
<skill> is the URI of a SKILL.md, or the name of a skill that is listed.

A file is printed only if it is what the server lists: its size, its digest and, for
SKILL.md, its YAML. That does not say that you can trust the server: read a skill before
you give it to a model.

Options:
  --file PATH        print this file of the skill, unchanged in a pipe
  --save DIR         folder for images and other files (default: a new temporary folder)

${targetHelp}
${connectionHelp}`;

const options = {
  ...connectionFlags,
  file: { type: 'string' },
  save: { type: 'string' },
} as const;

export const run = command({ name: 'skills', help, options }, async ({ values, positionals, out }) => {
  const [target, name, ...more] = positionals;
  await requireQuotes({ command: 'skills' }, positionals, values.config);
  if (target === undefined || more.length > 0 || (values.file !== undefined && name === undefined)) {
    throw new UsageError('Usage: mooring skills <server> [skill] [--file PATH]');
  }
  return withServer(target, values, out, async (client, signal) => {
    if (name === undefined) {
      const skills = await listOf(client, signal, out);
      if (values.json === true) out.json(skills);
      else list(skills, out);
      return 0;
    }
    const skill = await find(client, name, signal, out);
    const file = await client.skills.read(skill, values.file, { signal }).catch(withoutAdvice);
    if (values.json === true) out.json({ skill, file: forPrograms(file) });
    else if (values.file !== undefined) print(file, out, values.save);
    else {
      explain(skill, out);
      out.write('\n');
      print(file, out, values.save);
    }
    return 0;
  });
});

/** The skills that are listed. Those that cannot be used are reported on stderr. */
function listOf(client: Client, signal: AbortSignal, out: Output): Promise<Skill[]> {
  const warning = out.style.warn('warning:');
  return client.skills.list({
    signal,
    onInvalid: ({ uri = 'without a URI', why }) =>
      out.info(`${warning} the skill ${lineForTerminal(uri)} is left out: ${lineForTerminal(why)}\n`),
  });
}

async function find(client: Client, name: string, signal: AbortSignal, out: Output): Promise<Skill> {
  if (name.includes('://')) return client.skills.get(name, { signal });
  const skills = await listOf(client, signal, out);
  const [found, ...others] = skills.filter(({ frontmatter }) => frontmatter.name === name);
  if (found === undefined) {
    const names = skills.map(({ frontmatter }) => frontmatter.name);
    const meant = nearest(name, names);
    const hint = meant === undefined ? `the server ${someOf(names, 'skills')}` : `did you mean ${meant}?`;
    throw new UsageError(`There is no skill ${JSON.stringify(name)}; ${hint}`);
  }
  if (others.length === 0) return found;
  const uris = [found, ...others].map(({ uri }) => `  ${lineForTerminal(uri, 500)}`);
  throw new UsageError(`${uris.length} skills have the name ${JSON.stringify(name)}; use a URI:\n${uris.join('\n')}`);
}

function list(skills: readonly Skill[], out: Output): void {
  if (skills.length === 0) {
    out.info('This server lists no skills.\n');
    return;
  }
  const { style, width } = out;
  // The URI goes below the description: a column of its own would leave too little width for it.
  const rows = skills.flatMap((skill) => [
    { skill, text: lineForTerminal(skill.frontmatter.description, 300), isUri: false },
    { skill, text: lineForTerminal(skill.uri, 500), isUri: true },
  ]);
  const first = (text: (skill: Skill) => string) => (row: (typeof rows)[0]) => (row.isUri ? '' : text(row.skill));
  const columns: Column<(typeof rows)[0]>[] = [
    { title: 'skill', text: first(({ frontmatter }) => frontmatter.name), paint: (text) => style.name(text) },
    { title: 'files', text: first(fileCount), paint: (text) => style.faint(text) },
    { title: 'size', text: first(sizeOf), paint: (text) => style.faint(text) },
    {
      title: 'description and URI',
      text: (row) => row.text,
      paint: (text, row) => (row.isUri ? style.faint(text) : text),
    },
  ];
  out.write(table(rows, columns, { style, width }));
}

function fileCount({ resources }: Skill): string {
  return resources === 'dynamic' ? 'generated' : String(resources.length);
}

function sizeOf({ resources }: Skill): string {
  return resources === 'dynamic' ? '' : formatBytes(resources.reduce((sum, { size }) => sum + size, 0));
}

function explain({ uri, frontmatter, resources }: Skill, out: Output): void {
  const { style, width } = out;
  const { name, description, ...others } = frontmatter;
  out.write(`${style.name(name)}  ${style.faint(lineForTerminal(uri, 500))}\n${forTerminal(description).trim()}\n`);
  const fields = Object.entries(others).map(([key, value]) => ({
    key: lineForTerminal(key, 64),
    value: lineForTerminal(typeof value === 'string' ? value : JSON.stringify(value), 500),
  }));
  const pair = <Row>(key: (row: Row) => string, value: (row: Row) => string): Column<Row>[] => [
    { title: '', text: key, paint: (text) => style.faint(text) },
    { title: '', text: value },
  ];
  const asTable = { style, width, indent: 2, bare: true };
  if (fields.length > 0) {
    out.write(`\n${style.strong('Fields')}\n`);
    out.write(
      table(
        fields,
        pair<(typeof fields)[0]>(
          ({ key }) => key,
          ({ value }) => value,
        ),
        asTable,
      ),
    );
  }
  if (resources === 'dynamic') {
    out.write(`\n${style.faint('Its files are generated, so that they cannot be verified.')}\n`);
    return;
  }
  const folder = uri.length - 'SKILL.md'.length;
  const files = resources.map((each) => ({
    size: formatBytes(each.size),
    path: lineForTerminal(each.uri.slice(folder), 500),
  }));
  out.write(`\n${style.strong('Files')}\n`);
  out.write(
    table(
      files,
      pair<(typeof files)[0]>(
        ({ size }) => size,
        ({ path }) => path,
      ),
      asTable,
    ),
  );
}

function print({ uri, mimeType, bytes, text }: SkillFileContents, out: Output, save: string | undefined): void {
  if (out.width === undefined) {
    process.stdout.write(bytes);
    return;
  }
  const content = text === undefined ? { blob: Buffer.from(bytes).toString('base64') } : { text };
  showResource({ uri, ...(mimeType === undefined ? {} : { mimeType }), ...content }, out, new SavedFiles(save));
}

/** What to do about a file that does not match is meant for programs: a command has just fetched the entry. */
function withoutAdvice(error: unknown): never {
  if (!(error instanceof ClientError) || error.code !== 'skill-mismatch') throw error;
  throw new Error(error.message.replace(/\. If the skill has changed, .*$/s, ''), { cause: error });
}

/** Bytes are base64 in JSON, as in the protocol. */
function forPrograms({ bytes, text, ...file }: SkillFileContents): object {
  return { ...file, ...(text === undefined ? { blob: Buffer.from(bytes).toString('base64') } : { text }) };
}
