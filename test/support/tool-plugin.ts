// A plugin with one tool, and a configuration that loads it.

import { mkdirSync, writeFileSync } from 'node:fs';

/** `definition`: of the tool, as JavaScript. Returns the path of the configuration. */
export function writeToolPlugin(home: { file(name: string): string }, tool: string, definition: string): string {
  const plugin = home.file(tool);
  mkdirSync(plugin);
  writeFileSync(`${plugin}/package.json`, JSON.stringify({ type: 'module' }));
  writeFileSync(`${plugin}/mooring-plugin.json`, JSON.stringify({ name: tool, version: '1.0.0', main: 'index.js' }));
  writeFileSync(
    `${plugin}/index.js`,
    `export const pack = () => ({ name: '${tool}', install: (server) => server.tool('${tool}', ${definition}) });`,
  );
  const config = home.file('mooring.json');
  writeFileSync(config, JSON.stringify({ profile: 'everything', plugins: [{ source: plugin }] }), { mode: 0o600 });
  return config;
}
