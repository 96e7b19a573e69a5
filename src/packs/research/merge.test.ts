import { expect, test } from 'vitest';
import { mergePapers } from './merge.ts';
import { keysOf, normaliseArxivId, normaliseDoi, normaliseTitle, type Paper } from './paper.ts';

const paper = (title: string, more: Partial<Paper> = {}): Paper => ({ title, authors: [], ...more });
const merge = (...lists: Paper[][]) => mergePapers(lists.map((papers, i) => ({ source: `s${i}`, papers })));

test('a DOI has one normal form', () => {
  for (const text of ['10.1000/ABC.1', 'https://doi.org/10.1000/abc.1', 'doi:10.1000/Abc.1.']) {
    expect(normaliseDoi(text)).toBe('10.1000/abc.1');
  }
  expect(normaliseDoi('no doi')).toBeUndefined();
});

test('an arXiv id loses its version', () => {
  expect(normaliseArxivId('2401.01234v12')).toBe('2401.01234');
  expect(normaliseArxivId('arXiv:hep-th/9901001v1')).toBe('hep-th/9901001');
  expect(normaliseArxivId('http://arxiv.org/api/errors#incorrect')).toBeUndefined();
});

test('titles are compared by letters and digits only', () => {
  expect(normaliseTitle('Étude: “Grün”— <β>')).toBe('etude grun β');
});

test('papers are the same by DOI, by arXiv id or by a distinctive title', () => {
  expect(merge([paper('A', { doi: '10.1000/X' })], [paper('B', { doi: 'https://doi.org/10.1000/x' })])).toHaveLength(1);
  expect(
    merge([paper('A', { arxivId: '1706.03762' })], [paper('B', { doi: '10.48550/arXiv.1706.03762' })]),
  ).toHaveLength(1);
  const title = 'On the electrodynamics of moving bodies';
  expect(merge([paper(title)], [paper(title.toUpperCase())])).toHaveLength(1);
});

test('short titles need the same year', () => {
  expect(merge([paper('Editorial', { year: 2001 })], [paper('Editorial', { year: 2002 })])).toHaveLength(2);
  expect(merge([paper('Editorial', { year: 2001 })], [paper('Editorial', { year: 2001 })])).toHaveLength(1);
  expect(merge([paper('Editorial')], [paper('Editorial')])).toHaveLength(2);
});

test('a third paper can show that two others are the same', () => {
  const title = 'On the electrodynamics of moving bodies';
  const merged = merge(
    [paper(title), paper('Other', { doi: '10.1000/x' })],
    [paper(title, { doi: '10.1000/x', year: 1905 })],
  );
  expect(merged).toHaveLength(1);
  expect(merged[0]).toMatchObject({ title, year: 1905, doi: '10.1000/x', sources: ['s1', 's0'].sort() });
});

test('papers that several sources rank high come first', () => {
  const long = (n: number) => paper(`A title that is long enough, number ${n}`);
  const merged = merge([long(1), long(2), long(3)], [long(3), long(4)]);
  expect(merged[0]?.title).toContain('3');
  expect(keysOf(merged[0] as Paper)).toHaveLength(1);
});
