import { expect, test } from 'vitest';
import { clients } from './clients.ts';
import { commandName, launchEntry } from './launch.ts';

const mac = { platform: 'darwin', env: {}, home: '/Users/ada' } as const;
const windows = {
  platform: 'win32',
  env: { APPDATA: 'C:\\Users\\ada\\AppData\\Roaming' },
  home: 'C:\\Users\\ada',
} as const;

test.each([
  ['claude-desktop', '/Users/ada/Library/Application Support/Claude/claude_desktop_config.json'],
  ['claude-code', '/Users/ada/.claude.json'],
  ['cursor', '/Users/ada/.cursor/mcp.json'],
  ['vscode', '/Users/ada/Library/Application Support/Code/User/mcp.json'],
  ['codex', '/Users/ada/.codex/config.toml'],
  ['gemini', '/Users/ada/.gemini/settings.json'],
  ['windsurf', '/Users/ada/.codeium/windsurf/mcp_config.json'],
  ['zed', '/Users/ada/.config/zed/settings.json'],
  [
    'cline',
    '/Users/ada/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
  ],
  ['cline-cli', '/Users/ada/.cline/data/settings/cline_mcp_settings.json'],
  ['opencode', '/Users/ada/.config/opencode/opencode.json'],
  ['junie', '/Users/ada/.junie/mcp/mcp.json'],
  ['lm-studio', '/Users/ada/.lmstudio/mcp.json'],
])('on macOS %s keeps its servers in %s', (name, file) => {
  expect(clients[name]?.file('user', mac, '/p')).toBe(file);
});

test.each([
  ['claude-desktop', 'C:\\Users\\ada\\AppData\\Roaming\\Claude\\claude_desktop_config.json'],
  ['claude-code', 'C:\\Users\\ada\\.claude.json'],
  ['vscode', 'C:\\Users\\ada\\AppData\\Roaming\\Code\\User\\mcp.json'],
  ['codex', 'C:\\Users\\ada\\.codex\\config.toml'],
  ['zed', 'C:\\Users\\ada\\AppData\\Roaming\\Zed\\settings.json'],
  ['windsurf', 'C:\\Users\\ada\\.codeium\\windsurf\\mcp_config.json'],
])('on Windows %s keeps its servers in %s', (name, file) => {
  expect(clients[name]?.file('user', windows, 'C:\\p')).toBe(file);
});

test('environment variables move the folders', () => {
  const env = { CODEX_HOME: '/c', CLAUDE_CONFIG_DIR: '/d', XDG_CONFIG_HOME: '/x' };
  const at = { platform: 'linux', env, home: '/h' } as const;
  expect(clients['codex']?.file('user', at, '/p')).toBe('/c/config.toml');
  expect(clients['claude-code']?.file('user', at, '/p')).toBe('/d/.claude.json');
  expect(clients['vscode']?.file('user', at, '/p')).toBe('/x/Code/User/mcp.json');
});

const launch = { profile: undefined, args: [], env: {}, how: 'auto' } as const;

test('the published package is started through npx, a clone by its path', () => {
  const published = launchEntry({ ...launch, platform: 'linux', script: '/usr/lib/node_modules/mooring/dist/cli.js' });
  expect(published).toEqual({ command: 'npx', args: ['-y', 'mooring', 'serve'], env: {} });
  const cached = launchEntry({ ...launch, platform: 'linux', script: '/h/.npm/_npx/1a/node_modules/.bin/mooring' });
  expect(cached).toMatchObject({ command: 'npx' });
  const clone = launchEntry({ ...launch, platform: 'linux', script: '/src/mooring/dist/cli.js' });
  expect(clone).toEqual({ command: process.execPath, args: ['/src/mooring/dist/cli.js', 'serve'], env: {} });
});

test('on Windows npx needs cmd, since clients use no shell', () => {
  const entry = launchEntry({ ...launch, how: 'npx', platform: 'win32', profile: 'system' });
  expect(entry).toEqual({ command: 'cmd', args: ['/c', 'npx', '-y', 'mooring', 'serve', 'system'], env: {} });
});

test('opencode 2 has its servers one level deeper', () => {
  const section = (content: object) => clients['opencode']?.sectionIn?.(content);
  expect(section({})).toEqual(['mcp']);
  expect(section({ mcp: { a: { type: 'local' } } })).toEqual(['mcp']);
  expect(section({ mcp: { servers: { type: 'local', command: ['x'] } } })).toEqual(['mcp']);
  expect(section({ mcp: { servers: { a: { type: 'local' } } } })).toEqual(['mcp', 'servers']);
});

test.each([
  ['npx -y @scope/server-weather@1.2.3 --verbose', 'server-weather'],
  ['npx server-weather', 'server-weather'],
  ['uvx mcp-server-time', 'mcp-server-time'],
  ['node /srv/weather/dist/index.js', 'weather'],
  ['node ./weather.js', 'weather'],
  ['python3 -m weather', 'weather'],
  ['/usr/local/bin/weather --stdio', 'weather'],
  ['weather', 'weather'],
])('the entry of %s is named %s', (line, name) => {
  expect(commandName(line.split(' '))).toBe(name);
});
