// A security setting that is there but empty, most often because a variable of a deployment was: it must not mean "off".

import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isFullRun } from '../support/full.ts';
import { profileNames } from '../support/profile-names.ts';
import { useHome } from '../support/program.ts';

const home = useHome();

/** Starts a server that would otherwise serve; what became of it. A server that serves is ended by its closed stdin. */
function start(profile: string, transport: string, args: readonly string[], env: Record<string, string> = {}) {
  const http = transport === 'http' ? ['--http', '--port', '0'] : [];
  return home.run(['serve', profile, ...http, ...args], { env });
}

const variables = [
  'MOORING_TOKEN',
  'MOORING_POLICY',
  'MOORING_AUDIT',
  'MOORING_KEY',
  'MOORING_KEY_PREVIOUS',
  'MOORING_PUBLIC_URL',
  'MOORING_CONFIG',
];

const transports = ['stdio', 'http'];

/** The variables are read in one place for all profiles: everything with one of them, one variable with each of the others. */
const isTried = (profile: string, transport: string, variable: string): boolean => {
  const at = profileNames.indexOf(profile);
  const isOwn = variable === variables[at % variables.length] && transport === transports[at % 2];
  return isFullRun || profile === 'local' || isOwn;
};

/** Both transports read settings in the same place as well. */
let cases = 0;
const someTransports = (): string[] => (isFullRun ? transports : [transports[cases++ % 2] as string]);

describe.each(profileNames)('%s', (profile) => {
  const tried = transports.filter((transport) => variables.some((each) => isTried(profile, transport, each)));
  test.each(tried)('does not start over %s with an empty variable', async (transport) => {
    for (const name of variables.filter((each) => isTried(profile, transport, each))) {
      const values = isFullRun ? ['', ' '] : [profile === 'local' && transport === 'http' ? ' ' : ''];
      const attempts = values.map(async (value) => {
        const { code, stderr, stdout } = await start(profile, transport, [], { [name]: value });
        expect(code, `${name}=${JSON.stringify(value)}`).toBe(2);
        expect(stderr).toContain(`${name} is set but empty`);
        expect(stdout).toBe('');
      });
      await Promise.all(attempts);
    }
  });
});

test.each([
  ['--token', ''],
  ['--token', ' '],
  ['--token-file', ''],
  ['--policy', ''],
  ['--audit', ''],
  ['--auth-issuer', ''],
  ['--auth-audience', ''],
  ['--auth-jwks', ''],
  ['--public-url', ''],
  ['--config', ''],
])('%s %j is a mistake at the start', async (flag, value) => {
  for (const transport of someTransports()) {
    const { code, stderr } = await start('local', transport, [flag, value]);
    expect(code).toBe(2);
    expect(stderr).toMatch(new RegExp(`^mooring: ${flag} .*empty`));
  }
});

test.each([
  [{ policy: '' }, 'policy'],
  [{ audit: { file: '' } }, 'audit.file'],
  [{ audit: {} }, 'audit'],
  [{ auth: {} }, 'auth'],
  [{ auth: { tokens: [] } }, 'auth.tokens'],
  [{ auth: { tokens: [''] } }, 'auth.tokens'],
  [{ auth: { tokenFile: '' } }, 'auth.tokenFile'],
  [{ auth: { oauth: {} } }, 'auth.oauth'],
  [{ auth: { oauth: { issuer: '' } } }, 'auth.oauth.issuer'],
  [{ auth: { oauth: { issuer: 'https://id.example.com', scopes: [] } } }, 'auth.oauth.scopes'],
  [{ http: { key: '' } }, 'http.key'],
  [{ http: { previousKeys: [] } }, 'http.previousKeys'],
  // A variable that is set but empty leaves the same behind.
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how the file names a variable
  [{ auth: { tokens: ['${EMPTY}'] } }, 'auth.tokens'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as above
  [{ policy: '${EMPTY}' }, 'policy'],
])('%j in the configuration file is a mistake at the start', async (config, place) => {
  writeFileSync(home.file('mooring.json'), JSON.stringify(config), { mode: 0o600 });
  for (const transport of someTransports()) {
    const { code, stderr } = await start('local', transport, ['--config', 'mooring.json'], { EMPTY: '' });
    expect(code).toBe(2);
    expect(stderr).toContain(`mooring.json:1: ${place}`);
  }
});

test.each([
  ['--auth-audience', 'https://mcp.example.com/mcp'],
  ['--auth-jwks', 'https://id.example.com/keys'],
])('%s without an issuer is a mistake: nothing would be checked', async (flag, value) => {
  const { code, stderr } = await start('local', 'http', [flag, value]);
  expect(code).toBe(2);
  expect(stderr).toContain(`${flag} needs an issuer`);
});

test.each(['', '{}', 'null', '# nothing but a remark\n'])('a policy file that says %j is a mistake', async (text) => {
  writeFileSync(home.file('policy.yaml'), text, { mode: 0o600 });
  const { code, stderr } = await start('local', 'stdio', ['--policy', 'policy.yaml']);
  expect(code).toBe(2);
  expect(stderr).toContain('policy.yaml');
});

test('a token file without tokens is a mistake', async () => {
  writeFileSync(home.file('tokens.json'), '{"tokens": []}', { mode: 0o600 });
  const { code, stderr } = await start('local', 'http', ['--token-file', 'tokens.json']);
  expect(code).toBe(2);
  expect(stderr).toContain('the file has no tokens');
});
