// mooring tools: lists the tools of a server, or describes one in full.

import { nearest } from '../../app/text/nearest.ts';
import { forTerminal, lineForTerminal } from '../../app/untrusted-text.ts';
import { UsageError } from '../../app/usage-error.ts';
import { connectionFlags, connectionHelp, targetHelp, withServer } from '../client/connection.ts';
import { requireQuotes } from '../client/positionals.ts';
import { signature, typeText } from '../client/schema-summary.ts';
import type { FormSchema, Tool } from '../client/types.ts';
import { command } from '../command.ts';
import type { Output } from '../ui/output.ts';
import { table } from '../ui/table.ts';

const help = `Usage: mooring tools <server> [tool] [options]

Lists the tools of a server, or describes one of them.

${targetHelp}
${connectionHelp}`;

export const run = command({ name: 'tools', help, options: connectionFlags }, async ({ values, positionals, out }) => {
  const [target, name, ...more] = positionals;
  await requireQuotes({ command: 'tools' }, positionals, values.config);
  if (target === undefined || more.length > 0) throw new UsageError('Usage: mooring tools <server> [tool]');
  return withServer(target, values, out, async (client, signal) => {
    const tools = await client.listTools({ signal });
    if (name !== undefined) explain(pick(tools, name), values.json === true, out);
    else if (values.json === true) out.json(tools);
    else list(tools, out);
    return 0;
  });
});

/** The tool of that name. */
export function pick(tools: readonly Tool[], name: string): Tool {
  const found = tools.find((tool) => tool.name === name);
  if (found !== undefined) return found;
  const names = tools.map((tool) => tool.name);
  const meant = nearest(name, names);
  const hint = meant === undefined ? `the server ${someOf(names, 'tools')}` : `did you mean ${meant}?`;
  throw new UsageError(`There is no tool ${JSON.stringify(name)}; ${hint}`);
}

/** What the server has: the first names. `kind`: what they name, in the plural. */
export function someOf(names: readonly string[], kind: string): string {
  if (names.length === 0) return `has no ${kind}`;
  const some = names.slice(0, 8).map((name) => lineForTerminal(name, 64));
  return `has ${some.join(', ')}${names.length > some.length ? ` and ${names.length - some.length} more` : ''}`;
}

function list(tools: readonly Tool[], out: Output): void {
  const { style, width } = out;
  if (tools.length === 0) {
    out.info('This server has no tools.\n');
    return;
  }
  // The arguments go below the description: a third column would leave too little width for it.
  const about = (tool: Tool): string => lineForTerminal(firstSentence(tool.description ?? tool.title ?? ''), 300);
  const call = (tool: Tool): string => signature(tool.inputSchema as FormSchema);
  const rows = tools.flatMap((tool) => [
    { name: lineForTerminal(tool.name, 64), text: about(tool), faint: false },
    ...(call(tool) === '' ? [] : [{ name: '', text: call(tool), faint: true }]),
  ]);
  const columns = [
    { title: 'tool', text: (row: (typeof rows)[0]) => row.name, paint: (text: string) => style.name(text) },
    {
      title: 'description and arguments',
      text: (row: (typeof rows)[0]) => row.text,
      paint: (text: string, row: (typeof rows)[0]) => (row.faint ? style.faint(text) : text),
    },
  ];
  out.write(table(rows, columns, { style, width }));
}

/** The first sentence, for lists. `mooring tools <server> <tool>` shows the full text. */
function firstSentence(text: string): string {
  const line = text.trim().split(/\n\s*\n/)[0] as string;
  return /^.{20,}?[.!?](?=\s|$)/s.exec(line)?.[0] ?? line;
}

function explain(tool: Tool, json: boolean, out: Output): void {
  if (json) {
    out.json(tool);
    return;
  }
  const { style, width } = out;
  out.write(
    `${style.name(lineForTerminal(tool.name))}${tool.title === undefined ? '' : `  ${lineForTerminal(tool.title)}`}\n`,
  );
  if (tool.description !== undefined) out.write(`${forTerminal(tool.description).trim()}\n`);
  const hints = hintsOf(tool);
  if (hints.length > 0) out.write(`${style.faint(`The server says: ${hints.join(', ')}`)}\n`);
  fields('Arguments', tool.inputSchema as FormSchema, out, width);
  if (tool.outputSchema !== undefined) fields('Result', tool.outputSchema as FormSchema, out, width);
}

function hintsOf({ annotations = {} }: Tool): string[] {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  return [
    readOnlyHint === true ? 'read-only' : '',
    destructiveHint === true && readOnlyHint !== true ? 'may be destructive' : '',
    idempotentHint === true ? 'idempotent' : '',
    openWorldHint === true ? 'accesses external systems' : '',
  ].filter(Boolean);
}

function fields(title: string, schema: FormSchema, out: Output, width: number | undefined): void {
  const { style } = out;
  const required = new Set(schema.required);
  const rows = Object.entries(schema.properties ?? {}).map(([name, field]) => ({
    name: lineForTerminal(name, 64),
    type: `${typeText(field)}${required.has(name) ? '' : ', optional'}`,
    about: [
      lineForTerminal(field.description ?? field.title ?? '', 500),
      field.default === undefined ? '' : `(default ${lineForTerminal(JSON.stringify(field.default) ?? '', 100)})`,
    ]
      .filter(Boolean)
      .join(' '),
  }));
  out.write(
    `\n${style.strong(title)}${rows.length === 0 ? `: ${typeText(schema) === 'object' ? 'none' : typeText(schema)}` : ''}\n`,
  );
  type Row = (typeof rows)[0];
  const columns = [
    { title: '', text: (row: Row) => row.name, paint: (text: string) => style.name(text) },
    { title: '', text: (row: Row) => row.type, paint: (text: string) => style.faint(text) },
    { title: '', text: (row: Row) => row.about },
  ];
  out.write(table(rows, columns, { style, width, indent: 2, bare: true }));
}
