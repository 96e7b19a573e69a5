// Pack `clipboard`: get_clipboard and set_clipboard on the clipboard of this machine. Text is passed through and not
// stored: not in the log, not in memory, not on disk.

import { assertKnownOptions } from '../../common/known-options.ts';
import type { Logger } from '../../common/logger.ts';
import type { Context } from '../../engine/context.ts';
import type { Pack } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import { callerKey } from '../../protocol/callers/caller-budget.ts';
import { CallerTurns } from '../../protocol/callers/caller-turns.ts';
import type { Issue } from '../../schema/index.ts';
import { type BackendName, backendNames, type ClipboardBackend, ClipboardError } from './backend.ts';

export { type BackendName, type ClipboardBackend, ClipboardError } from './backend.ts';

export interface ClipboardOptions {
  /** A name, or your own clipboard. Default `auto`: that of this machine. */
  readonly backend?: BackendName | ClipboardBackend;
  /** The longest text, in Unicode code points; bounds memory in both directions. Default 1,048,576. */
  readonly maxCharacters?: number;
  /** How long one operation may take. Default 5 s. */
  readonly timeoutMs?: number;
}

/** The options of this pack in a configuration file. */
export const clipboardSchema = {
  type: 'object',
  properties: {
    backend: { type: 'string', enum: backendNames, description: 'Which clipboard to use' },
    maxCharacters: { type: 'integer', minimum: 1, maximum: 16_777_216, description: 'Maximum length of a text' },
    timeoutMs: { type: 'integer', minimum: 1, maximum: 600_000, description: 'How long one operation may take' },
  },
  additionalProperties: false,
} as const;

export interface ClipboardPack extends Pack<Server> {
  /** Whether a clipboard is available; reads nothing. */
  health(): Promise<{ readonly status: 'ok' | 'failed'; readonly detail: string }>;
}

const defaultMaxCharacters = 1_048_576;
const defaultTimeoutMs = 5_000;

/** The clipboard by name. Throws a `ClipboardError` that says what to do. */
export async function pickBackend(name: BackendName): Promise<ClipboardBackend> {
  return (await import('./detect.ts')).pickBackend(name);
}

const known: Record<keyof ClipboardOptions, true> = { backend: true, maxCharacters: true, timeoutMs: true };

export function clipboard(options: ClipboardOptions = {}): ClipboardPack {
  assertKnownOptions('clipboard', options, known);
  const { backend = 'auto', maxCharacters = defaultMaxCharacters, timeoutMs = defaultTimeoutMs } = options;
  let logger: Logger | undefined;
  let finding: Promise<ClipboardBackend> | undefined;
  // Detected when needed: start-up does not wait for it, and programs installed later are found.
  const find = (): Promise<ClipboardBackend> => {
    finding ??= (typeof backend === 'string' ? pickBackend(backend) : Promise.resolve(backend)).then(
      (found) => {
        logger?.debug('clipboard found', { backend: found.name });
        return found;
      },
      (error: unknown) => {
        finding = undefined;
        throw error;
      },
    );
    return finding;
  };
  const inTurn = createTurns();

  return {
    name: 'clipboard',
    install(server) {
      ({ logger } = server);
      server.tool('get_clipboard', {
        description: 'Get the current text content from the system clipboard',
        annotations: { readOnlyHint: true, openWorldHint: false },
        input: { type: 'object', properties: {}, required: [], additionalProperties: false } as const,
        timeoutMs,
        run: async (_args, ctx) => {
          // A character has at most four bytes in UTF-8.
          const text = await inTurn(ctx, async () => (await find()).read(ctx.signal, maxCharacters * 4));
          if (text.length > maxCharacters && [...text].length > maxCharacters) {
            throw new ClipboardError(`it contains more than ${maxCharacters} characters`);
          }
          return text;
        },
      });
      server.tool('set_clipboard', {
        description: 'Set the system clipboard to the provided text content',
        annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
        input: {
          type: 'object',
          properties: {
            text: {
              type: 'string',
              description: 'The text content to copy to the clipboard',
              maxLength: maxCharacters,
            },
          },
          required: ['text'],
          additionalProperties: false,
        } as const,
        timeoutMs,
        explain: (issues, args) => explain(issues, args, maxCharacters),
        run: async ({ text }, ctx) => {
          if (/[\ud800-\udfff]/u.test(text)) throw new RangeError('Text content is not valid Unicode');
          await inTurn(ctx, async () => (await find()).write(text, ctx.signal));
          return 'Text copied to clipboard';
        },
      });
    },
    async health() {
      try {
        return { status: 'ok', detail: (await find()).name };
      } catch (error) {
        return { status: 'failed', detail: (error as Error).message };
      }
    },
  };
}

/**
 * One operation at a time, and one of each caller in turn. Programs that own a clipboard return cut or empty texts if
 * several programs request a long one at the same time, and of two texts set at the same time one is missing when it is
 * read back. Also stops hundreds of calls from starting hundreds of programs.
 */
function createTurns() {
  const callers = new CallerTurns(Number.POSITIVE_INFINITY, 1);
  const operations = new CallerTurns(1, 1);
  return <T>({ principal, signal }: Context, work: () => Promise<T>): Promise<T> =>
    callers.run(callerKey({ principal }), signal, () => operations.run('', signal, work));
}

/** The two argument errors with fixed messages. */
function explain(issues: readonly Issue[], args: unknown, maxCharacters: number): string | undefined {
  const { text } = args as { readonly text?: unknown };
  if (text === undefined) return "set_clipboard requires 'text' parameter";
  const tooLong = typeof text === 'string' && issues.some((issue) => issue.path[0] === 'text');
  return tooLong ? `Text content exceeds maximum size of ${maxCharacters} characters` : undefined;
}
