import { expect, test } from 'vitest';
import { wireErrors } from './errors.ts';

test.each([
  [{ sampling: {} }, 'sampling'],
  [{ elicitation: { url: {} }, extensions: { 'com.example/a': {} } }, 'elicitation.url, com.example/a'],
  [{ elicitation: null, roots: 'yes' }, 'elicitation, roots'],
])('required capabilities are named: %j', (required, names) => {
  expect(wireErrors.missingCapability(required).message).toContain(`capability: ${names};`);
});
