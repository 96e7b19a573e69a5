// Resources that a server has and does not list: they are read from it, if filters and policies allow that.

import { afterEach, expect, test } from 'vitest';
import { createServer, type Server } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';
import { clientOf, gatewayOf } from './fixture.ts';

const closers = useClosers(afterEach);
const notFound = { code: 'resource-not-found' };

function serverOf(name: string): Server {
  const server = createServer({ name, version: '1.0.0', logger: false });
  server.resource(`note:///listed-${name}`, { name, read: () => `listed of ${name}` });
  for (const id of ['1', 'secret']) {
    server.resource(`note:///${id}`, { name: id, listed: false, read: () => `${id} of ${name}` });
  }
  return server;
}

const textOf = (text: string) => ({ contents: [{ text }] });

test.each(['2025-11-25', '2026-07-28'])(
  'of the only server with resources, by their own URI (%s)',
  async (revision) => {
    const gateway = gatewayOf(closers, { one: serverOf('one') }, { revision });
    for (const server of [gateway.server, gateway.single('one') as Server]) {
      const client = await clientOf(closers, server);
      expect((await client.listResources()).map(({ uri }) => uri)).toEqual(['note:///listed-one']);
      expect(await client.listResourceTemplates()).toEqual([]);
      expect(await client.readResource('note:///1')).toMatchObject(textOf('1 of one'));
      await expect(client.readResource('note:///2')).rejects.toMatchObject(notFound);
    }
  },
);

test('of several servers, by the qualified URI', async () => {
  const gateway = gatewayOf(closers, { one: serverOf('one'), two: serverOf('two') });
  const client = await clientOf(closers, gateway.server);
  await expect(client.readResource('note:///1')).rejects.toMatchObject(notFound);
  expect(await client.readResource('one+note:///1')).toMatchObject(textOf('1 of one'));
  expect(await client.readResource('two+note:///1')).toMatchObject(textOf('1 of two'));
  // Where it is not needed, too.
  expect(await client.readResource('two+note:///listed-two')).toMatchObject(textOf('listed of two'));
  await expect(client.readResource('three+note:///1')).rejects.toMatchObject(notFound);
});

test('not what a filter hides', async () => {
  const gateway = gatewayOf(closers, { one: serverOf('one') }, { resources: { exclude: ['note:///secret'] } });
  const client = await clientOf(closers, gateway.server);
  expect(await client.readResource('note:///1')).toMatchObject(textOf('1 of one'));
  for (const uri of ['note:///secret', 'one+note:///secret']) {
    await expect(client.readResource(uri)).rejects.toMatchObject(notFound);
  }
});

test('not what a policy hides, in no form of its URI', async () => {
  const hidden = ['note:///secret', 'note:///listed-one'];
  const prepareServer = (server: Server): void => {
    server.restrict((kind, key) => kind !== 'resources' || !hidden.includes(key));
  };
  const gateway = gatewayOf(closers, { one: serverOf('one') }, {}, { prepareServer });
  const client = await clientOf(closers, gateway.server);
  expect(await client.readResource('one+note:///1')).toMatchObject(textOf('1 of one'));
  for (const uri of hidden.flatMap((each) => [each, `one+${each}`])) {
    await expect(client.readResource(uri)).rejects.toMatchObject(notFound);
  }
});
