// Asks for an input at the terminal, before the server starts. What is secret is not shown while it is typed.

import { lineForTerminal } from '../../untrusted-text.ts';
import type { AskForInput, InputDefinition } from './inputs.ts';

/** The function that asks at this terminal; undefined if there is none, for example if a client started us. */
export function terminalOf(process: Pick<NodeJS.Process, 'stdin' | 'stderr'>): AskForInput | undefined {
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) return undefined;
  return (input) => ask(input, process);
}

async function ask(
  input: InputDefinition,
  { stdin, stderr }: Pick<NodeJS.Process, 'stdin' | 'stderr'>,
): Promise<string | undefined> {
  const { id, description, options, type, password } = input;
  stderr.write(`${lineForTerminal(description ?? id)}\n`);
  const choices = type === 'pickString' ? options : [];
  for (const [i, { label }] of choices.entries()) stderr.write(`  ${i + 1}  ${lineForTerminal(label)}\n`);
  const fallback = input.default === undefined || password ? '' : ` [${lineForTerminal(input.default)}]`;
  for (;;) {
    const line = await readLine(`${lineForTerminal(id)}${fallback}: `, password, stdin, stderr);
    if (line === undefined) return undefined;
    if (line === '' && input.default !== undefined) return input.default;
    if (choices.length === 0) return line;
    const chosen = choices.find(({ value, label }, i) => line === String(i + 1) || line === value || line === label);
    if (chosen !== undefined) return chosen.value;
    stderr.write(`Enter a number from 1 to ${choices.length}.\n`);
  }
}

/** One line; undefined at the end of the input (Ctrl-D). */
async function readLine(
  prompt: string,
  isSecret: boolean,
  input: NodeJS.ReadStream,
  stderr: NodeJS.WriteStream,
): Promise<string | undefined> {
  // Loaded here, because most gateways ask for nothing.
  const [{ createInterface }, { Writable }] = await Promise.all([import('node:readline'), import('node:stream')]);
  // With `terminal`, the terminal does not echo what is typed; only what is written to the output is shown.
  const hidden = new Writable({ write: (_text, _encoding, done) => done() });
  if (isSecret) stderr.write(prompt);
  const lines = createInterface({ input, output: isSecret ? hidden : stderr, terminal: true, historySize: 0 });
  lines.once('SIGINT', () => {
    lines.close();
    process.kill(process.pid, 'SIGINT');
  });
  return new Promise((resolve) => {
    let answer: string | undefined;
    lines.once('close', () => {
      if (isSecret || answer === undefined) stderr.write('\n');
      resolve(answer);
    });
    lines.question(isSecret ? '' : prompt, (line) => {
      answer = line;
      lines.close();
    });
  });
}
