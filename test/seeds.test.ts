// The 246 numbered requirements of the five documents: each is named by at least one test, by its id in the title.

import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');

/** How many requirements each document has. */
const documents = { S0: 58, S1: 55, S2: 37, S3: 36, S4: 60 } as const;

function testFiles(): string[] {
  return ['src', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((each) => (folder === 'test' ? /\.ts$/ : /\.test\.ts$/).test(each))
      .map((each) => join(root, folder, each)),
  );
}

/** Ids named in titles: `S0-27`, ranges `S0-1…S0-4` and `S0-1..4`, lists `S4-39/46/47` and `S4-39, 46`. */
function idsIn(text: string): Set<string> {
  const found = new Set<string>();
  for (const [, document, numbers] of text.matchAll(/\b(S[0-4])-(\d+(?:(?:\/|, ?|…|\.\.\.?|–)(?:S[0-4]-)?\d+)*)/g)) {
    const parts = (numbers as string).split(/(\/|, ?|…|\.\.\.?|–)/).map((each) => each.replace(/^S[0-4]-/, ''));
    let last = Number(parts[0]);
    found.add(`${document}-${last}`);
    for (let i = 1; i < parts.length; i += 2) {
      const next = Number(parts[i + 1]);
      const from = /…|\.\.|–/.test(parts[i] as string) ? last : next;
      for (let n = from; n <= next; n++) found.add(`${document}-${n}`);
      last = next;
    }
  }
  return found;
}

/** What a test is called: titles begin with the ids. A comment that names one proves nothing. */
function titlesIn(text: string): string {
  return [...text.matchAll(/(['"`])(S[0-4]-\d.*?)\1/g)].map(([, , title]) => title).join('\n');
}

test('every requirement of the five documents is named by a test', () => {
  const named = new Set(
    testFiles()
      .filter((file) => file !== import.meta.filename)
      .flatMap((file) => [...idsIn(titlesIn(readFileSync(file, 'utf8')))]),
  );
  const missing: string[] = [];
  const rows = Object.entries(documents).map(([document, count]) => {
    const ids = Array.from({ length: count }, (_, i) => `${document}-${i + 1}`);
    const gaps = ids.filter((id) => !named.has(id));
    missing.push(...gaps);
    return `${document} ${count - gaps.length}/${count}`;
  });
  console.log(`requirements named by tests: ${rows.join(', ')}`);
  expect(missing).toEqual([]);
});
