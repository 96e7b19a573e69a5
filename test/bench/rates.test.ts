// What the tables of the bench show of servers that are too slow for the rate of a column.

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';

const load = (file: string) => import(pathToFileURL(resolve(import.meta.dirname, '../../bench/lib', file)).href);

const column = { label: 'at 1,000/s', metric: 'pacedUs', pick: 'min' };

test('a slice reaches a rate with nine tenths of it', async () => {
  const { reachesRate } = await load('stats.mjs');
  expect([1003, 986, 900, 899, 250].map((perSec) => reachesRate({ perSec }, 1000))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});

test.for(['min', 'max', 'median'])(
  'a figure without samples is a dash, also in relation to others (%s)',
  async (pick) => {
    const { markdown } = await load('table.mjs');
    const row = (id: string, pacedUs: number[]) => ({
      id,
      name: id,
      era: 'stateless',
      revision: '1',
      samples: { pacedUs },
    });
    const columns = [
      { ...column, pick },
      { ...column, pick, label: 'of fast', to: 'fast', as: 'share' },
    ];
    const table: string = markdown([row('fast', [20, 20]), row('slow', [])], columns);
    const cells = table.split('\n').map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    );
    expect(cells[2]).toEqual(['fast', '1', '20', '100 %']);
    expect(cells[3]).toEqual(['slow', '1', '–', '–']);
  },
);
