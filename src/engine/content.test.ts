import { expect, test } from 'vitest';
import { audio, image, json, resourceLink, text } from './content.ts';

test('text and JSON become blocks of text', () => {
  expect(text('hello', { annotations: { priority: 1 } })).toEqual({
    type: 'text',
    text: 'hello',
    annotations: { priority: 1 },
  });
  expect(json({ a: [1] })).toEqual({ type: 'text', text: '{"a":[1]}' });
  expect(() => json(undefined)).toThrow('cannot be represented in JSON');
});

test('bytes and base64 become images and sound', () => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, n) => n % 256);
  const data = Buffer.from(bytes).toString('base64');
  expect(image(bytes, 'image/png')).toEqual({ type: 'image', data, mimeType: 'image/png' });
  expect(image(data, 'image/png')).toEqual(image(bytes, 'image/png'));
  expect(audio(new Uint8Array(), 'audio/wav')).toEqual({ type: 'audio', data: '', mimeType: 'audio/wav' });
});

test('a type that does not fit the block is an error', () => {
  expect(() => image('', 'png')).toThrow('The type of an image block starts with "image/", not "png"');
  expect(() => audio('', 'image/png')).toThrow('starts with "audio/"');
});

test('what is no text, bytes or base64 is an error that says what to write', () => {
  expect(() => text(undefined as never)).toThrow('text() needs a string, not undefined; write json(value) or text(');
  expect(() => text({} as never)).toThrow('not an object (Object)');
  expect(() => image('./chart.png', 'image/png')).toThrow(
    'image() needs bytes or base64, not "./chart.png"; write image(',
  );
  expect(() => image('chart.png', 'image/png')).toThrow('not "chart.png"');
  expect(() => image('data:image/png;base64,AAAA', 'image/png')).toThrow('not "data:image/png;base64,AAAA"');
  expect(() => image(new ArrayBuffer(1) as never, 'image/png')).toThrow('(ArrayBuffer); write new Uint8Array(buffer)');
  expect(() => image(new Uint8Array(1), undefined as never)).toThrow(
    'image() needs a type after the bytes: image(await',
  );
  for (const each of ['', 'A', 'AAA=', 'AA==', 'a-_b', 'A'.repeat(500)])
    expect(image(each, 'image/png').data).toBe(each);
});

test('a link is named by the last part of its URI unless it has a name', () => {
  expect(resourceLink('file:///notes/today.md')).toEqual({
    type: 'resource_link',
    uri: 'file:///notes/today.md',
    name: 'today.md',
  });
  expect(resourceLink('demo://', { name: 'All', mimeType: 'text/plain' })).toMatchObject({ name: 'All' });
});
