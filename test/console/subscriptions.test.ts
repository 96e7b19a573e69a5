// Resources that the console follows, on both eras.

import { afterEach, expect, test } from 'vitest';
import type { SubscriptionRow } from '../../src/console/api.ts';
import { createConsole } from '../../src/console/index.ts';
import { createServer } from '../../src/index.ts';
import { ConsoleClient } from './console-client.ts';

const closing: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of closing.splice(0).reverse()) await each.close();
});

test.each(['2025-06-18', '2026-07-28'])(
  '%s: changes of a resource are counted until it is let go',
  async (revision) => {
    const server = createServer({ name: 'notes', version: '1.0.0', logger: false });
    server.resource('note://one', { name: 'one', read: () => 'text' });
    const page = createConsole(server);
    closing.push(page);
    const client = new ConsoleClient((await page.listen()).link);
    const feed = await client.feed();
    const latest = (): readonly SubscriptionRow[] | undefined =>
      feed.batches.findLast(({ subscriptions }) => subscriptions !== undefined)?.subscriptions;
    expect(await client.post('subscriptions', { uri: 'note://one', revision })).toMatchObject({ changes: 0 });
    // A second page, or a second click, asks the server no second time.
    await client.post('subscriptions', { uri: 'note://one', revision });
    server.resourceUpdated('note://one');
    server.resourceUpdated('note://other');
    await feed.until(() => latest()?.[0]?.changes === 1);
    server.resourceUpdated('note://one');
    await feed.until(() => latest()?.[0]?.changes === 2);
    expect(latest()).toMatchObject([{ uri: 'note://one', changedAt: expect.any(String) }]);
    // A page that is opened later learns of it, too.
    const second = await client.feed();
    await second.until(({ batches }) => batches.some(({ subscriptions }) => subscriptions?.[0]?.changes === 2));
    await client.post('subscriptions/end', { uri: 'note://one' });
    await feed.until(() => latest()?.length === 0);
    await expect(client.post('subscriptions/end', { uri: 'note://one' })).rejects.toThrow('404');
    for (const each of [feed, second]) each.close();
  },
);

test('a resource that cannot be followed is said', async () => {
  const server = createServer({ name: 'tools', version: '1.0.0', logger: false });
  server.tool('echo', { run: () => 'x' });
  const page = createConsole(server);
  closing.push(page);
  const client = new ConsoleClient((await page.listen()).link);
  await expect(client.post('subscriptions', { uri: 'note://one' })).rejects.toThrow(
    'does not offer changes of note://one',
  );
});
