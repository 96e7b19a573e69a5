import { expect, test } from 'vitest';
import { shownTarget } from './shown-target.ts';

test('arguments that came from variables are shown by name, those that look like secrets not at all', () => {
  const args = ['serve', '--api-key', 'S3CRET-1', '--token', 'abc', '--password=hunter2', 'x-S3CRET-1', '--port', '80'];
  const shown = shownTarget({ command: '/usr/bin/tool', args }, [['MYKEY', 'S3CRET-1']]);
  expect(shown).toBe(
    `/usr/bin/tool serve --api-key \${MYKEY} --token [hidden] --password=[hidden] x-\${MYKEY} --port 80`,
  );
});

test('of a URL, user, password and values of the query are not shown', () => {
  const url = 'https://user:pw@far.example/mcp?api_key=S3CRET&region=eu';
  const shown = 'https://far.example/mcp?api_key=[hidden]&region=[hidden]';
  expect(shownTarget({ url })).toBe(shown);
  expect(shownTarget({ command: 'npx', args: ['mcp-remote', url] })).toBe(`npx mcp-remote ${shown}`);
  expect(shownTarget({ command: 'npx', args: ['--key', `\${input:key}`] })).toBe(`npx --key \${input:key}`);
});
