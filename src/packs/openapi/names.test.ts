import { expect, test } from 'vitest';
import { planArguments, toolNames } from './names.ts';
import type { ApiOperation } from './operations.ts';
import type { Parameter } from './parameters.ts';

const operation = (id: string | undefined, path = '/x', method: ApiOperation['method'] = 'get') =>
  ({ id, path, method }) as ApiOperation;

test('names of tools are valid, unique and at most 64 characters long', () => {
  const long = 'x'.repeat(80);
  const names = toolNames(
    [
      operation('listPets'),
      operation('listPets'),
      operation('repos/get content!'),
      operation(undefined, '/pets/{id}', 'delete'),
      operation('删除'),
      operation(long),
      operation(long),
      operation('__proto__'),
      operation('a.b-c_d'),
    ],
    undefined,
  );
  expect(names).toEqual([
    ...['listPets', 'listPets_2', 'repos_get_content', 'delete_pets_id', 'get_x'],
    ...['x'.repeat(64), `${'x'.repeat(62)}_2`, '__proto__', 'a.b-c_d'],
  ]);
});

test('ten thousand operations with one name take no time', () => {
  const names = toolNames(Array<ApiOperation>(10_000).fill(operation('same')), undefined);
  expect(names.at(-1)).toBe('same_10000');
  expect(new Set(names).size).toBe(10_000);
});

test('a prefix comes before all names', () => {
  expect(toolNames([operation('list'), operation('list')], 'pets')).toEqual(['pets_list', 'pets_list_2']);
  expect(() => toolNames([], 'a b')).toThrow('the prefix "a b" must have at most 32 of A-Z a-z 0-9 _ - .');
});

const parameter = (place: Parameter['in'], name: string) => ({ in: place, name }) as Parameter;

test('parameters of one name have arguments of their own, whatever their order', () => {
  const all = [
    ...[parameter('cookie', 'id'), parameter('header', 'id'), parameter('query', 'id'), parameter('path', 'id')],
    ...[parameter('query', 'id_query'), parameter('query', 'body'), parameter('query', 'filter[name]')],
    ...[parameter('header', '#'), parameter('query', 'constructor')],
  ];
  const arguments_ = (list: readonly Parameter[]) =>
    planArguments({ parameters: list, body: {} as never }).parameters.map((each) => [
      each.argument,
      each.parameter.in,
      each.parameter.name,
    ]);
  expect(arguments_(all)).toEqual([
    ['id', 'path', 'id'],
    ['id_query', 'query', 'id'],
    ['id_query_query', 'query', 'id_query'],
    ['body_query', 'query', 'body'],
    ['filter_name', 'query', 'filter[name]'],
    ['constructor', 'query', 'constructor'],
    ['id_header', 'header', 'id'],
    ['header', 'header', '#'],
    ['id_cookie', 'cookie', 'id'],
  ]);
});

test('without a body, a parameter may be called body; what the operator has set is no argument', () => {
  const parameters = [parameter('query', 'body'), parameter('header', 'X-Version')];
  expect(planArguments({ parameters, body: undefined }, ({ in: place }) => place === 'header').parameters).toEqual([
    { argument: 'body', parameter: parameters[0] },
  ]);
});
