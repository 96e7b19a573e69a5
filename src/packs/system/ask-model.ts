// The tool `ask_model`: a question to the client's model, with files of the open folders as context. It shows how
// sampling and roots work together; the content of files is marked as data.

import { labelUntrusted } from '../../common/hygiene.ts';
import { UserError } from '../../common/user-error.ts';
import type { Context } from '../../engine/context.ts';
import type { Server } from '../../engine/server.ts';
import type { SamplingContent } from '../../protocol/model.ts';
import { FileError } from '../../security/files/tree.ts';
import { textOf } from '../workspace/mime.ts';
import type { Workspace } from '../workspace/workspace.ts';

const priority = { type: 'number', minimum: 0, maximum: 1 } as const;

/** The context of a model is limited; larger files are for tools that read. */
const maxFileBytes = 64 * 1024;

export function installAskModel(server: Server, workspace: Workspace): void {
  server.tool('ask_model', {
    description: "Ask the client's model a question, about files in the open folders if any are named",
    input: {
      type: 'object',
      properties: {
        question: { type: 'string', minLength: 1, description: 'What to ask' },
        files: {
          type: 'array',
          items: { type: 'string' },
          maxItems: 8,
          description: 'Paths or file:// URIs of text files to ask about',
        },
        max_tokens: {
          type: 'integer',
          minimum: 1,
          maximum: 100_000,
          description: 'Maximum number of tokens in the answer (default: 1000)',
        },
        model: { type: 'string', description: 'A model to prefer, or a part of its name' },
        cost_priority: { ...priority, description: 'How much a low price matters' },
        speed_priority: { ...priority, description: 'How much a quick answer matters' },
      },
      required: ['question'],
    },
    annotations: { readOnlyHint: true },
    needs: ['sampling'],
    run: async ({ question, files = [], max_tokens = 1000, model, cost_priority, speed_priority }, ctx) => {
      const material = files.length === 0 ? [] : await readFiles(workspace, files, ctx);
      const answer = await ctx.sample(
        {
          messages: [{ role: 'user', content: { type: 'text', text: [question, ...material].join('\n\n') } }],
          modelPreferences: {
            ...(model === undefined ? {} : { hints: [{ name: model }] }),
            ...(cost_priority === undefined ? {} : { costPriority: cost_priority }),
            ...(speed_priority === undefined ? {} : { speedPriority: speed_priority }),
          },
          maxTokens: max_tokens,
        },
        { key: 'answer' },
      );
      return { answer: wordsOf(answer.content), model: answer.model, stopReason: answer.stopReason ?? null };
    },
  });
}

async function readFiles(workspace: Workspace, files: readonly string[], ctx: Context): Promise<string[]> {
  const { tree } = await workspace.of(ctx);
  const read: string[] = [];
  for (const file of files) {
    try {
      const text = textOf((await tree?.readFile(file, { maxBytes: maxFileBytes, signal: ctx.signal })) ?? noFile(file));
      if (text === undefined) throw new UserError(`Not a text file: ${file}`);
      read.push(labelUntrusted(text, file));
    } catch (error) {
      throw error instanceof FileError ? new Error(error.message, { cause: error }) : error;
    }
  }
  return read;
}

function noFile(file: string): never {
  throw new UserError(`File not found: ${file}`);
}

function wordsOf(content: SamplingContent | readonly SamplingContent[]): string {
  const blocks = Array.isArray(content) ? (content as readonly SamplingContent[]) : [content as SamplingContent];
  return blocks.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n');
}
