// Input requests of a server: answered from --answer flags, or by prompting the user at the terminal.

import { createInterface, type Interface } from 'node:readline/promises';
import { forTerminal, lineForTerminal } from '../../app/untrusted-text.ts';
import { InputDeclined, type InputHandlers, openInBrowser } from '../../client/index.ts';
import type { ProgressBar } from '../ui/progress.ts';
import { styleFor } from '../ui/style.ts';
import { convertAnswer, exampleAnswer, promptForField, type ReadLine } from './fields.ts';
import type { FormSchema } from './types.ts';

type FormAnswer = Awaited<ReturnType<NonNullable<InputHandlers['elicit']>>>;

const style = styleFor(process.stderr);
const say = (text: string): void => void process.stderr.write(text);

/**
 * Handlers for a call. Answers from the command line are used if there are any; otherwise the user is prompted. Without
 * a terminal there are no handlers, so the server sees that this client does not support input requests. The names of
 * answers that were used are added to `used`.
 */
export function terminalInputHandlers(
  answers: Readonly<Record<string, string>> | undefined,
  bar: () => ProgressBar,
  used = new Set<string>(),
): InputHandlers {
  if (answers !== undefined) return { elicit: ({ schema }) => fromAnswers(schema as FormSchema, answers, used) };
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) return {};
  const ask = <T>(signal: AbortSignal, work: (ask: ReadLine) => Promise<T>): Promise<T> => {
    const resume = bar().pause();
    return withTerminal(signal, work).finally(resume);
  };
  return {
    elicit: ({ message, schema }, { signal }) => ask(signal, (put) => form(message, schema as FormSchema, put)),
    elicitUrl: ({ message, url }, { signal }) => ask(signal, (put) => visit(message, url, put)),
    sample: async ({ messages, systemPrompt }, { signal }) => {
      const text = await ask(signal, (put) => actAsModel(messages, systemPrompt, put));
      return { role: 'assistant', content: { type: 'text', text }, model: 'a person', stopReason: 'endTurn' };
    },
  };
}

/**
 * Handlers for a call that continues as a task. What the task asks for later is answered by "mooring task answer", also
 * without a terminal here, so forms are supported in any case.
 */
export function detachedInputHandlers(...args: Parameters<typeof terminalInputHandlers>): InputHandlers {
  const handlers = terminalInputHandlers(...args);
  if (handlers.elicit !== undefined) return handlers;
  return {
    elicit: () => {
      throw new InputDeclined(
        'the server asks before it starts a task; run the command in a terminal, or add --answer',
      );
    },
  };
}

/** One prompt at a time, even if the server sends several input requests at once. */
let turn: Promise<unknown> = Promise.resolve();

function withTerminal<T>(signal: AbortSignal, work: (ask: ReadLine) => Promise<T>): Promise<T> {
  const mine = turn.then(() => atTerminal(signal, work));
  turn = mine.catch(() => {});
  return mine;
}

/** End of input (Ctrl-D) declines. */
async function atTerminal<T>(signal: AbortSignal, work: (ask: ReadLine) => Promise<T>): Promise<T> {
  const lines: Interface = createInterface({ input: process.stdin, output: process.stderr });
  const gone = new AbortController();
  lines.once('close', () => gone.abort());
  lines.once('SIGINT', () => process.emit('SIGINT'));
  try {
    return await work((question) => lines.question(question, { signal: AbortSignal.any([signal, gone.signal]) }));
  } catch (error) {
    if (gone.signal.aborted && !signal.aborted) throw new InputDeclined('the terminal input was closed');
    throw error;
  } finally {
    lines.close();
  }
}

async function form(message: string, schema: FormSchema, ask: ReadLine): Promise<FormAnswer> {
  say(`\n${style.strong('The server asks:')} ${forTerminal(message)}\n`);
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length > 0) say(style.faint('Press Enter for the value in brackets; type "!" to decline.\n'));
  const required = new Set(schema.required);
  const content: Record<string, unknown> = {};
  for (const [name, field] of fields) {
    const answer = await promptForField(name, field, required.has(name), ask, say);
    if (answer === undefined) return { action: 'decline' };
    if (answer.value !== undefined) content[name] = answer.value;
  }
  const sure = (await ask(`${style.strong('Send this?')} ${style.faint('[Y]es, no, cancel')} `)).trim().toLowerCase();
  if (sure.startsWith('n') || sure === '!') return { action: 'decline' };
  if (sure.startsWith('c')) return { action: 'cancel' };
  return { action: 'accept', content: content as NonNullable<FormAnswer['content']> };
}

async function visit(message: string, url: string, ask: ReadLine): Promise<FormAnswer> {
  const { host } = new URL(url);
  say(`\n${style.strong('The server wants you to visit a page:')} ${forTerminal(message)}\n`);
  say(`  ${style.name(lineForTerminal(url, 4000))}\n  on ${style.strong(lineForTerminal(host))}\n`);
  const sure = (await ask(`${style.strong('Open it?')} ${style.faint('yes, [N]o')} `)).trim().toLowerCase();
  if (!sure.startsWith('y')) return { action: 'decline' };
  openInBrowser(new URL(url));
  return { action: 'accept' };
}

type Messages = Parameters<NonNullable<InputHandlers['sample']>>[0]['messages'];

async function actAsModel(messages: Messages, systemPrompt: string | undefined, ask: ReadLine): Promise<string> {
  say(`\n${style.strong('The server asks for a model response.')} No model is connected, so you can answer instead.\n`);
  if (systemPrompt !== undefined) say(`${style.faint('system:')} ${forTerminal(systemPrompt)}\n`);
  for (const { role, content } of messages) {
    for (const block of [content].flat()) {
      const text = block.type === 'text' ? block.text : `(${block.type})`;
      say(`${style.faint(`${role}:`)} ${forTerminal(text)}\n`);
    }
  }
  const answer = await ask(`${style.faint('assistant (leave empty to decline):')} `);
  if (answer.trim() === '') throw new InputDeclined('no answer was entered');
  return answer;
}

/** An --answer with which the form cannot be filled in. */
export class WrongAnswer extends InputDeclined {
  /** `message` is printed, and may contain names and choices from the server. */
  constructor(message: string) {
    super(lineForTerminal(message, maxMessageChars));
  }
}

const maxMessageChars = 1_000;

function wrongAnswer(name: string, text: string, problem: string, field: FormSchema): string {
  const shown = lineForTerminal(name);
  const example = exampleAnswer(field);
  const told = `--answer ${shown}: ${JSON.stringify(text)} is not valid; it ${problem}`;
  if (example === undefined) return told;
  const flag = `${shown}=${lineForTerminal(example)}`;
  // In single quotes where a shell would take it apart.
  return `${told}. Write, for example, --answer ${/^[\w.,:/@=+-]+$/.test(flag) ? flag : `'${flag.replaceAll("'", `'\\''`)}'`}`;
}

function fromAnswers(schema: FormSchema, answers: Readonly<Record<string, string>>, used: Set<string>): FormAnswer {
  const content: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const text = answers[name];
    if (text === undefined) continue;
    const { value, problem } = convertAnswer(field, text);
    if (problem !== undefined) throw new WrongAnswer(wrongAnswer(name, text, problem, field));
    content[name] = value;
  }
  const missing = schema.required?.filter(
    (name) => content[name] === undefined && schema.properties?.[name]?.default === undefined,
  );
  if (missing !== undefined && missing.length > 0) {
    const fields = Object.keys(schema.properties ?? {});
    // An answer may be for another form of the same call.
    const unknown = Object.keys(answers).filter((name) => !fields.includes(name) && !used.has(name));
    const mistyped =
      unknown.length === 0 ? '' : `. This form asks for ${fields.join(', ')}, not for ${unknown.join(', ')}`;
    throw new WrongAnswer(`--answer is missing for ${missing.join(', ')}${mistyped}`);
  }
  for (const name of Object.keys(content)) used.add(name);
  return { action: 'accept', content: content as NonNullable<FormAnswer['content']> };
}
