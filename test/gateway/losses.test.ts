// What cannot cross the gateway: a complete list. Each row names a pair of revisions and what the client gets instead. Every
// other pair asks the client, which `matrix.test.ts` and the tests here show.

import { afterEach, describe, expect, test } from 'vitest';
import type { InputHandlers } from '../../src/client/index.ts';
import { createGateway, type GatewayOptions, type UpstreamConfig } from '../../src/gateway/index.ts';
import { createServer, type Server } from '../../src/index.ts';
import { WireError } from '../../src/protocol/errors.ts';
import { useClosers } from '../support/closers.ts';
import { clientOf, gatewayConfig, gatewayOf, upstream } from './fixture.ts';
import { scriptedUpstream } from './scripted-upstream.ts';
import { listSkills, skillServer, verifySkill } from './skill-server.ts';

const closers = useClosers(afterEach);
const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const;
type Revision = (typeof revisions)[number];

/** What a client of a revision cannot be asked for, whatever the upstream is. */
const cannotBeAsked: Readonly<Record<'form' | 'several' | 'url', readonly Revision[]>> = {
  form: ['2024-11-05', '2025-03-26'],
  several: ['2024-11-05', '2025-03-26', '2025-06-18'],
  url: ['2024-11-05', '2025-03-26', '2025-06-18'],
};
/** What an upstream of a revision cannot ask for. */
const cannotAsk = cannotBeAsked;

function asking(): Server {
  const server = createServer({ name: 'asking', version: '1.0.0', logger: false });
  server.tool('form', {
    run: async (_args, ctx) => {
      const answer = await ctx.elicit('Name?', { type: 'object', properties: { name: { type: 'string' } } });
      return `form: ${answer.action}`;
    },
  });
  server.tool('several', {
    run: async (_args, ctx) => {
      const colours = { type: 'array', items: { type: 'string', enum: ['red', 'green'] } } as const;
      const answer = await ctx.elicit('Colours?', { type: 'object', properties: { colours } });
      return `several: ${JSON.stringify(answer)}`;
    },
  });
  server.tool('url', {
    run: async (_args, ctx) => `url: ${(await ctx.elicitUrl('Sign in', 'https://a.example/in')).action}`,
  });
  server.tool('sample', {
    run: async (_args, ctx) => {
      const messages = [{ role: 'user', content: { type: 'text', text: 'Hi' } }] as const;
      return `sample: ${(await ctx.sample({ messages, maxTokens: 5 })).model}`;
    },
  });
  server.tool('roots', { run: async (_args, ctx) => `roots: ${(await ctx.roots()).length}` });
  return server;
}

const handlers: InputHandlers = {
  elicit: ({ message }) => ({
    action: 'accept',
    content: message.endsWith('Colours?') ? { colours: ['red', 'green'] } : { name: 'Ada' },
  }),
  elicitUrl: () => ({ action: 'accept' }),
  sample: () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: 'Hi' } }),
  roots: [{ uri: 'file:///home/ada' }],
};

const answers = {
  form: 'form: accept',
  several: 'several: {"action":"accept","content":{"colours":["red","green"]}}',
  url: 'url: accept',
  sample: 'sample: m',
  roots: 'roots: 1',
} as const;

describe.each(revisions.flatMap((up) => revisions.map((down) => [up, down] as const)))(
  'an upstream at %s with a client at %s',
  (up, down) => {
    test.each(['form', 'several', 'url', 'sample', 'roots'] as const)('%s', async (kind) => {
      const gateway = gatewayOf(closers, { one: asking() }, { revision: up });
      const client = await clientOf(closers, gateway.server, { revision: down, handlers });
      const result = await client.callTool(`one__${kind}`);
      const text = result.content.map((each) => (each as { text: string }).text).join('\n');
      const isLost =
        kind !== 'sample' && kind !== 'roots' && (cannotBeAsked[kind].includes(down) || cannotAsk[kind].includes(up));
      if (!isLost) expect({ isError: result.isError ?? false, text }).toEqual({ isError: false, text: answers[kind] });
      else {
        expect(result.isError).toBe(true);
        // A server learns which field the client does not have.
        if (kind === 'several' && up > '2025-06-18' && down === '2025-06-18') expect(text).toContain('(colours)');
        // What it wanted is not lost where the upstream could ask for it during the call.
        if (kind === 'form' && !cannotAsk.form.includes(up) && up !== '2026-07-28') expect(text).toContain('Name?');
        if (kind === 'url' && up === '2025-11-25') expect(text).toContain('https://a.example/in');
      }
    });
  },
);

/** Revisions without extensions, which have no skills either. */
const withoutSkills: readonly Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18'];

test.each(revisions.flatMap((up) => revisions.map((down) => [up, down] as const)))(
  'skills of an upstream at %s with a client at %s',
  async (up, down) => {
    const gateway = gatewayOf(closers, { one: skillServer('one', 'skill://acme/refunds') }, { revision: up });
    await gateway.readLists();
    const client = await clientOf(closers, gateway.server, { revision: down });
    const isLost = withoutSkills.includes(up) || withoutSkills.includes(down);
    expect(JSON.stringify(client.capabilities).includes('skills')).toBe(!isLost);
    if (isLost) await expect(client.request('skills/list')).rejects.toMatchObject({ serverError: { code: -32601 } });
    else for (const skill of await listSkills(client)) await verifySkill(client, skill);
    // The files are resources for all of them.
    expect((await client.readResource('skill://acme/refunds/SKILL.md')).contents).toHaveLength(1);
  },
);

describe('an upstream that wants a page to be visited first', () => {
  function signing(): { readonly server: Server; readonly seen: { calls: number } } {
    const seen = { calls: 0 };
    const server = createServer({ name: 'signing', version: '1.0.0', logger: false });
    const link = { mode: 'url', message: 'Sign in', url: 'https://a.example/in', elicitationId: 'e1' };
    server.tool('work', {
      run: () => {
        if (++seen.calls === 1) {
          throw new WireError('urlElicitationRequired', 'Sign in first', { data: { elicitations: [link] } });
        }
        return 'done';
      },
    });
    return { server, seen };
  }

  test.each(revisions)('with a client at %s', async (revision) => {
    const { server, seen } = signing();
    const gateway = gatewayOf(closers, { one: server }, { revision: '2025-11-25' });
    const visited: string[] = [];
    const elicitUrl = ({ url }: { readonly url: string }) => {
      visited.push(url);
      return { action: 'accept' } as const;
    };
    const client = await clientOf(closers, gateway.server, { revision, handlers: { elicitUrl } });
    const result = await client.callTool('one__work');
    const text = (result.content[0] as { text: string }).text;
    if (revision === '2025-11-25' || revision === '2026-07-28') {
      expect(text).toBe('done');
      expect(visited).toEqual(['https://a.example/in']);
      expect(seen.calls).toBe(2);
    } else {
      expect(result.isError).toBe(true);
      expect(text).toContain('https://a.example/in');
      expect(seen.calls).toBe(1);
    }
  });

  test('a user who does not visit it ends the call, which is not repeated', async () => {
    const { server, seen } = signing();
    const gateway = gatewayOf(closers, { one: server }, { revision: '2025-11-25' });
    const client = await clientOf(closers, gateway.server, {
      revision: '2026-07-28',
      handlers: { elicitUrl: () => ({ action: 'decline' }) },
    });
    expect((await client.callTool('one__work')).isError).toBe(true);
    expect(seen.calls).toBe(1);
  });
});

test('an upstream is not asked for more than the configuration allows', async () => {
  const gateway = gatewayOf(closers, { one: asking() }, { revision: '2025-11-25', asks: ['sampling'] });
  const client = await clientOf(closers, gateway.server, { handlers });
  expect((await client.callTool('one__form')).isError).toBe(true);
  expect((await client.callTool('one__roots')).isError).toBe(true);
  expect(await client.callTool('one__sample')).toMatchObject({ content: [{ text: 'sample: m' }] });
});

describe('the result of a tool names what its server wanted', () => {
  const done = { content: [{ type: 'text', text: 'done without' }] };

  /** The server asks for two kinds of input whatever was declared, and returns a result that does not mention them. */
  async function callAsking(revision: string, given: Partial<UpstreamConfig>, options: GatewayOptions = {}) {
    const { target } = scriptedUpstream(async ({ id }, side) => {
      const requestedSchema = { type: 'object', properties: {} };
      await side.request('q1', 'elicitation/create', { message: 'Your name?', requestedSchema });
      await side.request('q2', 'sampling/createMessage', { messages: [], maxTokens: 1 });
      side.send({ id, result: done });
    });
    const config = gatewayConfig([upstream('one', { revision: '2025-11-25', ...given })]);
    const gateway = createGateway(config, { logger: false, target: () => target, ...options });
    closers.push(() => gateway.close());
    const client = await clientOf(closers, gateway.server, {
      revision,
      handlers: revision < '2025-06-18' ? {} : handlers,
    });
    return client.callTool('one__work');
  }
  const named = [
    { text: 'done without' },
    {
      text: expect.stringMatching(
        /the server one needs: input of the user: Your name\?; a response of the client.s model/,
      ),
    },
  ];

  test('to a client that is too old', async () => {
    expect((await callAsking('2025-03-26', {})).content).toMatchObject(named);
  });

  test('where the configuration does not allow it', async () => {
    expect((await callAsking('2026-07-28', { asks: [] })).content).toMatchObject(named);
  });

  test('where too many calls wait for input', async () => {
    const { content } = await callAsking('2026-07-28', {}, { heldCalls: { maxPerPrincipal: 0 } });
    expect(content).toMatchObject(named);
  });
});

test('a client without folders gets those of the configuration', async () => {
  const roots = [{ uri: 'file:///configured' }, { uri: 'file:///too' }];
  for (const revision of ['2025-11-25', '2026-07-28']) {
    const gateway = gatewayOf(closers, { one: asking() }, { revision, roots });
    const client = await clientOf(closers, gateway.server);
    expect(await client.callTool('one__roots')).toMatchObject({ content: [{ text: 'roots: 2' }] });
  }
});
