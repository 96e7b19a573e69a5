// The prompts: a greeting, and a summary of the notes.

import type { Server } from '../../engine/server.ts';
import { listNotes, type NotesOptions } from './notes.ts';
import type { Note } from './store.ts';

const styles = ['formal', 'casual'];
/** As much as a model can be expected to read at once. */
const maxSummarized = 100;
const maxSummaryCharacters = 100_000;

export function installGreeting(server: Server): void {
  server.prompt('greeting', {
    description: 'Generate a personalized greeting',
    args: {
      name: { description: 'Name of the person to greet', required: true },
      style: {
        description: 'Greeting style (formal/casual)',
        required: false,
        complete: (value) => styles.filter((style) => style.startsWith(value.toLowerCase())),
      },
    },
    get: ({ name, style }) => ({
      description: undefined,
      messages: [
        { role: 'user', content: { type: 'text', text: `Please greet ${name} in a ${style ?? 'casual'} style.` } },
      ],
    }),
  });
}

export function installSummary(server: Server, { open }: NotesOptions): void {
  server.prompt('summarize_notes', {
    description: 'Summarize the stored notes',
    args: { tag: { description: 'Only notes with this tag', required: false } },
    get: async ({ tag }, ctx) => {
      const { json, count, total } = await listNotes(open, ctx, {
        limit: maxSummarized,
        maxCharacters: maxSummaryCharacters,
        ...(tag === undefined ? {} : { tags: [tag] }),
      });
      if (total === 0) return 'There are no notes to summarize.';
      if (count === 0)
        return `The newest note has more than ${maxSummaryCharacters} characters, which is too long to summarize.`;
      const notes = (JSON.parse(json) as Note[]).map(({ id, content, tags }) => {
        const labels = tags.length === 0 ? '' : ` [${tags.join(', ')}]`;
        return `${id}.${labels} ${content}`;
      });
      const left = total > count ? ` (the newest ${count} of ${total})` : '';
      return `Please summarize the following notes${left}, newest first:\n\n${notes.join('\n')}`;
    },
  });
}
