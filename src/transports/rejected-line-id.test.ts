import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findRejectedLineId, idSearchBytes } from './rejected-line-id.ts';

function clueOf(line: string) {
  const bytes = Buffer.from(line);
  return findRejectedLineId(
    bytes.toString('latin1', 0, idSearchBytes),
    bytes.subarray(-idSearchBytes).toString('latin1'),
  );
}

const huge = 'x'.repeat(10_000);

test('the id is found before the large part, whatever is between', () => {
  expect(clueOf(`{"jsonrpc":"2.0","id":5,"method":"m","params":{"t":"${huge}"}}`)).toEqual({
    id: 5,
    isResponse: false,
  });
  expect(clueOf(` { "a" : [1,{"id":9},"]}"] , "b":null, "id" : "k-1" , "params":"${huge}"}`).id).toBe('k-1');
});

test('the id is found after the large part, where the official TypeScript client writes it', () => {
  expect(clueOf(`{"method":"m","params":{"t":"${huge}"},"jsonrpc":"2.0","id":12}`)).toEqual({
    id: 12,
    isResponse: false,
  });
  expect(clueOf(`{"method":"m","params":"${huge}", "id" : "ż" } \r`).id).toBe('ż');
});

test('an id inside the params or inside a text is not the id', () => {
  expect(clueOf(`{"params":{"id":1,"t":"${huge}"}}`).id).toBeUndefined();
  expect(clueOf(`{"t":"\\",\\"id\\":3,","params":"${huge}"}`).id).toBeUndefined();
  expect(clueOf(`{"params":"${huge},\\"id\\":3}"}`).id).toBeUndefined();
  expect(clueOf(`{"params":{"t":"${huge}","id":1}}`).id).toBeUndefined();
});

test('the id of one message of a batch is not the id of the batch', () => {
  expect(clueOf(`[{"id":1,"t":"${huge}"}]`).id).toBeUndefined();
});

test('a response to a request of this side is recognized', () => {
  expect(clueOf(`{"jsonrpc":"2.0","id":5,"result":{"t":"${huge}"}}`)).toEqual({ id: 5, isResponse: true });
  expect(clueOf(`{"error":{"message":"${huge}"},"id":5}`)).toEqual({ id: 5, isResponse: true });
});

test('a value that cannot be an id is not reported', () => {
  for (const id of ['null', '1.5', '{}', '[1]', '1e400', 'true', '"\\ud8"', '12x']) {
    expect(clueOf(`{"id":${id},"params":"${huge}"}`).id).toBeUndefined();
  }
  expect(clueOf(`{"id":${'1'.repeat(2000)}`).id).toBeUndefined();
});

test('any line, JSON or not, is searched without failing, and the id of a valid one is never wrong', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), (head, tail) => void findRejectedLineId(head, tail)),
  );
  const id = fc.oneof(fc.maxSafeInteger(), fc.string());
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 5 }),
      fc.option(id),
      (members, given) => {
        const line = JSON.stringify(given === null ? members : { ...members, id: given });
        const found = clueOf(line).id;
        if (found !== undefined) expect(found).toBe(JSON.parse(line).id);
      },
    ),
  );
});
