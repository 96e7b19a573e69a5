import { expect, test } from 'vitest';
import { cleanErrorData, cleanForm, cleanMessage, cleanUrl } from './clean-texts.ts';

const hidden = '\u202e\u200b\u001b[31m';

test('what has no hidden characters is the same', () => {
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Ваше имя 👩‍👩‍👧', description: 'Zeile 1\nline 2\tمرحبا', default: '' },
    },
  };
  expect(cleanForm(schema)).toBe(schema);
  const message = 'Delete “résumé.txt”?\n\n- yes 👍🏽\n- no';
  expect(cleanMessage(message)).toBe(message);
  expect(cleanUrl('https://example.com/ü?q=1#a')).toBe('https://example.com/ü?q=1#a');
  const data = { uri: 'note:///ä', at: [1, null, { text: 'a\nb' }] };
  expect(cleanErrorData(data)).toEqual(data);
  expect(cleanErrorData(undefined)).toBeUndefined();
});

test('texts of a form are cleaned, wherever they are, and what an answer contains is not', () => {
  const field = `na${hidden}me`;
  const schema = {
    title: `Ti${hidden}tle`,
    properties: {
      [field]: {
        type: 'string',
        description: `De${hidden}sc`,
        default: hidden,
        enum: [hidden],
        enumNames: [`A${hidden}`],
      },
      title: { type: 'array', items: { anyOf: [{ const: hidden, title: `One${hidden}` }] } },
      description: { oneOf: [{ const: 'a', title: `Two${hidden}` }] },
    },
    required: [field],
  };
  expect(cleanForm(schema)).toEqual({
    title: 'Title',
    properties: {
      [field]: { type: 'string', description: 'Desc', default: hidden, enum: [hidden], enumNames: ['A'] },
      title: { type: 'array', items: { anyOf: [{ const: hidden, title: 'One' }] } },
      description: { oneOf: [{ const: 'a', title: 'Two' }] },
    },
    required: [field],
  });
});

test('hidden characters of messages, URLs and data of errors are removed or shown', () => {
  expect(cleanMessage(`Pay${hidden} now`)).toBe('Pay now');
  expect(cleanUrl('https://example.com/\u202egpj.exe')).toBe('https://example.com/%E2%80%AEgpj.exe');
  expect(cleanErrorData({ [`a${hidden}`]: [`b${hidden}`] })).toEqual({ a: ['b'] });
  expect(cleanMessage('x'.repeat(100_000)).length).toBeLessThanOrEqual(65_536);
});
