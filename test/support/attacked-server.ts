// The built program with a small heap and two callers: one attacks, the other wants to be served meanwhile.

import { afterEach } from 'vitest';
import { peakMemory } from './attacker.ts';
import { HttpTestClient } from './http-client.ts';
import { useHome } from './program.ts';

const tokens = { mallory: 'mallory-0123456789abcdef0123456789abcdef', ada: 'ada-0123456789abcdef0123456789abcdef' };

/** The headers of the attacker, and of the other caller. */
export const mallory = { Authorization: `Bearer ${tokens.mallory}` };
export const ada = { Authorization: `Bearer ${tokens.ada}` };

/** Call it at the top of a test file. `variables`: of the environment. `open`: what is destroyed after each test. */
export function useAttackedServer(variables: Readonly<Record<string, string>> = {}) {
  const home = useHome();
  const open: { destroy(): void }[] = [];
  afterEach(() => {
    for (const each of open.splice(0)) each.destroy();
  });
  const start = async (...args: string[]) => {
    const env = {
      NODE_OPTIONS: '--max-old-space-size=512',
      MOORING_TOKEN: `${tokens.mallory},${tokens.ada}`,
      ...variables,
    };
    const { url, child } = await home.serve(args, { env });
    const port = Number(new URL(url).port);
    const client = new HttpTestClient(port);
    open.push({ destroy: () => client.close() });
    return { port, pid: child.pid as number, client, peak: () => peakMemory(child.pid) };
  };
  return { home, open, start };
}
