// The least that still answers: looks at a parsed message only to choose a canned text. No checks, so this is the limit.
import { tools } from './tools.mjs';

const listed = JSON.stringify(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })));
const versionKey = 'io.modelcontextprotocol/protocolVersion';

/** @param {any} message @returns {string | undefined} the answer's text, without a newline */
export function answer({ id, method, params }) {
  if (id === undefined) return undefined;
  const head = `{"jsonrpc":"2.0","id":${id},"result":{`;
  const stateless = params?._meta?.[versionKey] !== undefined;
  switch (method) {
    case 'tools/call': {
      const text = params.name === 'echo' ? JSON.stringify(params.arguments.text) : '"3"';
      return `${head}"content":[{"type":"text","text":${text}}]${stateless ? ',"resultType":"complete"}}' : '}}'}`;
    }
    case 'tools/list':
      return `${head}"tools":${listed}${stateless ? ',"resultType":"complete","ttlMs":0,"cacheScope":"private"}}' : '}}'}`;
    case 'initialize':
      return `${head}"protocolVersion":"${params.protocolVersion}","capabilities":{"tools":{}},"serverInfo":{"name":"bare","version":"1.0.0"}}}`;
    default:
      return `${head}"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}}`;
  }
}
