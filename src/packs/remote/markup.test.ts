import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Token, tokenize } from './markup.ts';

const words = (source: string, dialect?: 'html' | 'xml'): string[] =>
  [...tokenize(source, dialect)].map((token) => {
    if (token.kind === 'text') return token.text;
    if (token.kind === 'close') return `/${token.name}`;
    const attributes = [...token.attributes].map(([name, value]) => ` ${name}=${value}`).join('');
    return `${token.name}${attributes}${token.empty ? '!' : ''}`;
  });

test('tags, attributes in every kind of quotes, and text are separated', () => {
  expect(words(`<A HREF="x" class='a b' data-n=1 hidden>go</A>`)).toEqual([
    'a href=x class=a b data-n=1 hidden=',
    'go',
    '/a',
  ]);
});

test('references are decoded in text and attributes; unknown names stay', () => {
  expect(words('<a href="?a=1&amp;b=2">x &lt; y &#8212; &#x1F30D; caf&eacute; &nosuch; R&D</a>')).toEqual([
    'a href=?a=1&b=2',
    'x < y — 🌍 café &nosuch; R&D',
    '/a',
  ]);
});

test('every name of HTML is known, and a query in an attribute is not decoded', () => {
  expect(words('<a href="?a=1&copy=2&lt=3">&hearts; &NotEqualTilde; &ccedil; &copy 2026</a>')).toEqual([
    'a href=?a=1&copy=2&lt=3',
    '\u2665 \u2242\u0338 \u00e7 \u00a9 2026',
    '/a',
  ]);
});

test('numbers that are not characters become the replacement character', () => {
  expect(words('&#0;&#xD800;&#x110000;&#150;')).toEqual(['\ufffd\ufffd\ufffd–']);
});

test('comments, declarations and scripts are not text', () => {
  const source = '<!DOCTYPE html><!-- <b>no</b> --><script>if (a < b) "<i>"</script><style>p{}</STYLE>yes';
  expect(words(source)).toEqual(['script', '/script', 'style', '/style', 'yes']);
});

test('CDATA is text without decoding', () => {
  expect(words('<t><![CDATA[a < b &amp; c]]></t>', 'xml')).toEqual(['t', 'a < b &amp; c', '/t']);
});

test('elements without content are marked, in XML only by their slash', () => {
  expect(words('<br><img src=x><node/>')).toEqual(['br!', 'img src=x!', 'node!']);
  expect(words('<link>a</link><arg type="s"/>', 'xml')).toEqual(['link', 'a', '/link', 'arg type=s!']);
});

test('a lone "<" and a tag that never ends do not affect the tokens before', () => {
  expect(words('1 < 2 <b')).toEqual(['1 ', '<', ' 2 ', 'b']);
  expect(words('<a href="never')).toEqual(['a href=never']);
  expect(words('<a ==x>t')).toEqual(['a x=', 't']);
});

test('any input ends, and every token comes from it', () => {
  const piece = fc.oneof(
    fc.constantFrom('<', '>', '/', '"', "'", '=', '&', ';', '<!--', '-->', '<![CDATA[', ']]>', '<script', '</', ' '),
    fc.string({ maxLength: 8 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const source = pieces.join('');
      const tokens: Token[] = [...tokenize(source)];
      expect(tokens.length).toBeLessThanOrEqual(source.length + 1);
    }),
  );
});

test('hostile megabytes are tokenized in one pass', () => {
  for (const unit of ['<', '<a ', '&', '<!--', '</', '"=', '<a b="']) {
    const source = unit.repeat(Math.ceil((1024 * 1024) / unit.length));
    let count = 0;
    for (const _token of tokenize(source)) count++;
    expect(count).toBeLessThanOrEqual(source.length);
  }
});
