// The servers that clients are measured against, on a core of their own. Over HTTP we start one; over stdio each client
// starts what it is given.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onLoadCore } from '../lib/process.mjs';

const server = fileURLToPath(new URL('server.mjs', import.meta.url));

/** Where the fast server is. @param {'stdio' | 'http'} transport @returns {Promise<import('./clients.mjs').Target>} */
export async function fastServer(transport) {
  const argv = onLoadCore([process.execPath, server]);
  if (transport === 'stdio') return { argv };
  const child = spawn(argv[0], argv.slice(1), {
    env: { ...process.env, BENCH_HTTP: '1' },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [{ listening }] = await once(child, 'message');
  // It ends when the channel to us is closed, however we end, and is not waited for.
  child.channel?.unref();
  child.unref();
  return { url: `http://127.0.0.1:${listening}/mcp` };
}

const greeting = '"capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1.0.0"}';
const complete = '"resultType":"complete","ttlMs":0,"cacheScope":"private"';
/** Takes the id out of a line and answers the few requests of a short visit. */
const script = `while IFS= read -r line; do
  case $line in *'"id":'*) ;; *) continue ;; esac
  id=\${line##*'"id":'}
  id=\${id%%[,\\}]*}
  case $line in
    *'"initialize"'*) result='"protocolVersion":"2025-11-25",${greeting}' ;;
    *'"tools/call"'*) result='"content":[{"type":"text","text":"3"}],"resultType":"complete"' ;;
    *) result='"supportedVersions":["2026-07-28"],${greeting},${complete}' ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":{%s}}\\n' "$id" "$result"
done`;

/**
 * A server that costs next to nothing to start: over stdio a few lines of shell, so that a thousand are no matter.
 * @param {'stdio' | 'http'} transport @returns {Promise<import('./clients.mjs').Target>}
 */
export async function briefServer(transport) {
  return transport === 'stdio' ? { argv: onLoadCore(['/bin/sh', '-c', script]) } : fastServer('http');
}
