import { expect, test } from 'vitest';
import { openRoot } from './roots.ts';

test('a root that does not exist is told in plain words', () => {
  expect(() => openRoot('/nowhere/at/all')).toThrow('Cannot use root /nowhere/at/all: there is no such folder');
  expect(() => openRoot(`${import.meta.filename}/x`)).toThrow('a part of its path is not a folder');
});
