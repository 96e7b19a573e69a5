import { expect, test } from 'vitest';
import type { Content } from '../model.ts';
import { contentText } from './content.ts';
import { handshakeDialects, statelessDialects } from './dialects.ts';

test('blocks without their members, which middleware without types may return, are written as JSON', () => {
  for (const block of [{ type: 'text' }, { type: 'text', text: 5 }, { type: 'text', text: 'x', annotations: null }]) {
    for (const dialect of [...handshakeDialects, ...statelessDialects]) {
      expect(JSON.parse(contentText([block as Content], dialect))).toMatchObject([{ type: 'text' }]);
    }
  }
});
