// The files of a new server project, as texts. Writing them is up to the caller.

import { version } from '../common/version.ts';

export type ProjectLanguage = 'typescript' | 'javascript';

/** The files of a project by path, relative to its folder. `name` is a package name. */
export function projectFiles(name: string, language: ProjectLanguage): Readonly<Record<string, string>> {
  const typescript = language === 'typescript';
  const ext = typescript ? 'ts' : 'js';
  return {
    'package.json': `${JSON.stringify(manifest(name, typescript), null, 2)}\n`,
    ...(typescript ? { 'tsconfig.json': tsconfig } : {}),
    [`src/server.${ext}`]: server(name),
    [`src/main.${ext}`]: main(ext),
    [`src/server.test.${ext}`]: test(ext),
    Dockerfile: typescript ? dockerfileWithBuild : dockerfile,
    '.github/workflows/ci.yml': ci(typescript),
    '.gitignore': typescript ? 'node_modules/\ndist/\n' : 'node_modules/\n',
    'README.md': readme(name, typescript),
  };
}

function manifest(name: string, typescript: boolean): object {
  return {
    name,
    version: '1.0.0',
    private: true,
    type: 'module',
    engines: { node: '>=20.19' },
    scripts: typescript
      ? {
          build: 'tsc',
          check: 'tsc --noEmit',
          start: 'node dist/main.js',
          dev: 'mooring dev src/server.ts',
          // Without arguments `node --test` finds the tests on every version of Node; in dist only the compiled ones.
          test: 'tsc && cd dist && node --test',
        }
      : { start: 'node src/main.js', dev: 'mooring dev src/server.js', test: 'node --test' },
    dependencies: { mooring: `^${version}`, zod: '^4.0.0' },
    ...(typescript ? { devDependencies: { '@types/node': '>=20.19.0', typescript: '>=5.8.0' } } : {}),
  };
}

const tsconfig = `{
  "compilerOptions": {
    "target": "ES2023",
    "lib": ["ES2023"],
    "module": "NodeNext",
    "strict": true,
    "noUncheckedIndexedAccess": true,
    "verbatimModuleSyntax": true,
    "erasableSyntaxOnly": true,
    "rewriteRelativeImportExtensions": true,
    "skipLibCheck": true,
    "types": ["node"],
    "rootDir": "src",
    "outDir": "dist",
    "sourceMap": true
  },
  "include": ["src"]
}
`;

const server = (
  name: string,
): string => `// The server and its tools. main starts it, and the tests connect to it in memory.

import { createServer } from 'mooring';
import { z } from 'zod';

export const server = createServer({ name: '${name}', version: '1.0.0' });

server.tool('greet', {
  title: 'Greet',
  description: 'Greets a person by name',
  input: z.object({ name: z.string().min(1).describe('The name of the person') }),
  run: ({ name }) => \`Hello, \${name}!\`,
});
`;

const main = (ext: string): string => `import { serveStdio } from 'mooring';
import { server } from './server.${ext}';

await serveStdio(server);
`;

const test = (ext: string): string => `import assert from 'node:assert/strict';
import test from 'node:test';
import { connect, inMemory } from 'mooring/client';
import { server } from './server.${ext}';

test('greet returns a greeting', async () => {
  const client = await connect(inMemory(server));
  const { content } = await client.callTool('greet', { name: 'Ada' });
  assert.deepEqual(content, [{ type: 'text', text: 'Hello, Ada!' }]);
  await client.close();
});

test('greet requires a name', async () => {
  const client = await connect(inMemory(server));
  const { isError } = await client.callTool('greet', { name: '' });
  assert.equal(isError, true);
  await client.close();
});
`;

const dockerfileWithBuild = `FROM node:22-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig.json ./
COPY src ./src
RUN npm run build && npm prune --omit=dev

FROM node:22-slim
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
USER node
CMD ["node", "dist/main.js"]
`;

const dockerfile = `FROM node:22-slim
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev
COPY src ./src
USER node
CMD ["node", "src/main.js"]
`;

const ci = (typescript: boolean): string => `name: CI

on:
  push:
    branches: [main]
  pull_request:

permissions:
  contents: read

jobs:
  test:
    runs-on: ubuntu-latest
    strategy:
      matrix:
        node: [20, 22, 24]
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: \${{ matrix.node }}
          cache: npm
      - run: npm ci
${typescript ? '      - run: npm run check\n' : ''}      - run: npm test
`;

const readme = (name: string, typescript: boolean): string => {
  const start = typescript ? 'node dist/main.js' : 'node src/main.js';
  const ext = typescript ? 'ts' : 'js';
  return `# ${name}

An MCP server, made with [Mooring](https://github.com/mooring-dev/mooring).

| file | content |
| --- | --- |
| \`src/server.${ext}\` | the server and its tools |
| \`src/main.${ext}\` | serves it on stdin and stdout |
| \`src/server.test.${ext}\` | the tests |

\`\`\`sh
npm install
npm test${typescript ? '                     # compiles, then runs the tests' : ''}
npx mooring call "${start}" greet --arg name=Ada
\`\`\`

\`npx mooring dev src/server.${ext}\` restarts the server whenever you save a file, while the client stays connected.${
    ext === 'ts' ? ' With\nNode.js before 22.18 it also needs `npm install --save-dev esbuild`.' : ''
  }

Add it to a client, here Claude Code:

\`\`\`sh
npx mooring install claude-code -- node "$PWD/${start.slice('node '.length)}"
\`\`\`

Run it in a container. Commit \`package-lock.json\`, because the build needs it:

\`\`\`sh
docker build -t ${name} .
npx mooring tools "docker run -i --rm ${name}"
\`\`\`
`;
};
