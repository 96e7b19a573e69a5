import { expect, test } from 'vitest';
import { terminalInputHandlers, WrongAnswer } from './input-requests.ts';

type Elicit = NonNullable<ReturnType<typeof terminalInputHandlers>['elicit']>;

async function failureOf(schema: object, answers: Readonly<Record<string, string>>): Promise<Error> {
  const { elicit } = terminalInputHandlers(answers, () => expect.fail('There is no progress bar'));
  return Promise.resolve()
    .then(() => (elicit as (...args: unknown[]) => ReturnType<Elicit>)({ schema }))
    .then(
      () => expect.fail('The form was filled in'),
      (error: Error) => error,
    );
}

const sequence = '\u001b]0;title\u0007';

test.each([
  [
    'a field',
    { properties: { [`${sequence}\nmooring: done`]: { type: 'string' } }, required: [`${sequence}\nmooring: done`] },
    {},
  ],
  ['a choice', { properties: { a: { enum: [`${sequence}\nmooring: done`] } } }, { a: 'x' }],
])('%s of a form has no control characters in the error about an answer', async (_what, schema, answers) => {
  const error = await failureOf(schema, answers);
  expect(error).toBeInstanceOf(WrongAnswer);
  expect(error.message).toMatch(/--answer .*⟨ansi⟩ mooring: done/);
  expect(error.message.replace(/\p{Cc}/gu, '')).toBe(error.message);
});
