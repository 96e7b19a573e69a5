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

test('tags, attributes in every kind of quotes, and text are told apart', () => {
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

test('every name of HTML is known, and a query in an attribute is left alone', () => {
  expect(words('<a href="?a=1&copy=2&lt=3">&hearts; &NotEqualTilde; &ccedil; &copy 2026</a>')).toEqual([
    'a href=?a=1&copy=2&lt=3',
    '\u2665 \u2242\u0338 \u00e7 \u00a9 2026',
    '/a',
  ]);
});

test('numbers that are no characters become the replacement character', () => {
  expect(words('&#0;&#xD800;&#x110000;&#150;')).toEqual(['\ufffd\ufffd\ufffd–']);
});

test('comments, declarations and scripts are no text', () => {
  const source = '<!DOCTYPE html><!-- <b>no</b> --><script>if (a < b) "<i>"</script><style>p{}</STYLE>yes';
  expect(words(source)).toEqual(['script', '/script', 'style', '/style', 'yes']);
});

test('CDATA is text as it stands', () => {
  expect(words('<t><![CDATA[a < b &amp; c]]></t>', 'xml')).toEqual(['t', 'a < b &amp; c', '/t']);
});

test('elements without content are marked, in XML by their slash alone', () => {
  expect(words('<br><img src=x><node/>')).toEqual(['br!', 'img src=x!', 'node!']);
  expect(words('<link>a</link><arg type="s"/>', 'xml')).toEqual(['link', 'a', '/link', 'arg type=s!']);
});

test('a lone "<" and a tag that never ends do not confuse what went before', () => {
  expect(words('1 < 2 <b')).toEqual(['1 ', '<', ' 2 ', 'b']);
  expect(words('<a href="never')).toEqual(['a href=never']);
  expect(words('<a ==x>t')).toEqual(['a x=', 't']);
});

test('whatever the text, reading it ends and invents nothing', () => {
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

test('hostile megabytes are read in one pass', () => {
  for (const unit of ['<', '<a ', '&', '<!--', '</', '"=', '<a b="']) {
    const source = unit.repeat(Math.ceil((1024 * 1024) / unit.length));
    let count = 0;
    for (const _token of tokenize(source)) count++;
    expect(count).toBeLessThanOrEqual(source.length);
  }
});
