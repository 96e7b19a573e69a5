import { expect, test, vi } from 'vitest';
import type { RedisHost } from './address.ts';
import type { UnconnectedDriver } from './driver-contract.ts';
import { createSentinelDriver } from './sentinels.ts';

const [a, b, c] = ['a', 'b', 'c'].map((host) => ({ host, port: 26379 })) as [RedisHost, RedisHost, RedisHost];

/** Clients that log what happens to them, and Sentinels that respond or not. */
function create(silent: Set<RedisHost>) {
  const log: string[] = [];
  const clients: { fail(): void }[] = [];
  let isServerUp = true;
  let lateConnects: (() => void)[] | undefined;
  const driver = createSentinelDriver({
    hosts: [a, b, c],
    responds: async (host) => !silent.has(host),
    onError: (error) => void log.push(`error: ${error.message}`),
    create: (hosts, onError): UnconnectedDriver => {
      const order = hosts.map(({ host }) => host).join('');
      clients.push({ fail: () => onError(new Error(`${order} failed`)) });
      return {
        connect: async () => {
          log.push(`connect ${order}`);
          if (!isServerUp) throw new Error('no server');
          if (lateConnects !== undefined) await new Promise<void>((resolve) => lateConnects?.push(resolve));
        },
        send: async () => order,
        close: () => void log.push(`close ${order}`),
      };
    },
  });
  /** Clients that connect from now on do so when one of these is called; not delayed any more without a list. */
  const delay = (connects: (() => void)[] | undefined): void => void (lateConnects = connects);
  return { driver, log, clients, delay, setServer: (isUp: boolean) => void (isServerUp = isUp) };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('Sentinels that respond are asked first, the others in their order after them', async () => {
  const { driver, log } = create(new Set([a]));
  await driver.connect();
  expect(log).toEqual(['connect bca']);
  expect(await driver.send(['PING'], 'k')).toBe('bca');
});

test('when the first one becomes silent, another client is used once it is connected', async () => {
  const silent = new Set<RedisHost>();
  const { driver, log, clients } = create(silent);
  await driver.connect();
  silent.add(a);
  clients[0]?.fail();
  clients[0]?.fail();
  await settled();
  expect(log).toEqual(['connect abc', 'error: abc failed', 'error: abc failed', 'connect bca', 'close abc']);
  expect(await driver.send(['PING'], 'k')).toBe('bca');
  driver.close();
  expect(log.at(-1)).toBe('close bca');
});

test('a failure of another kind changes nothing, and one while the server is away keeps the client', async () => {
  const silent = new Set<RedisHost>([c]);
  const { driver, log, clients, setServer } = create(silent);
  await driver.connect();
  clients[0]?.fail();
  await settled();
  expect(log).toEqual(['connect abc', 'error: abc failed']);
  silent.add(a);
  setServer(false);
  clients[0]?.fail();
  await settled();
  expect(log.slice(2)).toEqual(['error: abc failed', 'connect bac', 'close bac', 'error: no server']);
  expect(await driver.send(['PING'], 'k')).toBe('abc');
  setServer(true);
  clients[0]?.fail();
  await settled();
  expect(await driver.send(['PING'], 'k')).toBe('bac');
});

test('a client that does not connect in time is replaced by a new one, and closed if it connects later', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'setTimeout'] });
  const { driver, log, delay } = create(new Set());
  const late: (() => void)[] = [];
  delay(late);
  const connected = driver.connect();
  await settled();
  delay(undefined);
  await vi.advanceTimersByTimeAsync(5_100);
  vi.useRealTimers();
  await connected;
  expect(log).toEqual(['connect abc', 'close abc', 'connect abc']);
  late[0]?.();
  await settled();
  expect(log.slice(3)).toEqual(['close abc']);
  expect(await driver.send(['PING'], 'k')).toBe('abc');
});
