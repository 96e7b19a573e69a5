import { expect, test } from 'vitest';
import { memberText } from './json-member.ts';

test.for([
  ['{"id":1,"result":{"a":12345678901234567890}}', '{"a":12345678901234567890}'],
  ['{ "result" : [1, {"x":"}"}] , "id":1}', '[1, {"x":"}"}]'],
  ['{"a":{"result":1},"result":"te\\"xt"}', '"te\\"xt"'],
  ['{"r\\u0065sult":null}', 'null'],
  ['{"error":{}}', undefined],
  ['[1]', undefined],
  ['', undefined],
] as const)('%s', ([json, expected]) => {
  expect(memberText(json, 'result')).toBe(expected);
});
