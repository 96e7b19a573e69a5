import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { buildServer } from './sdk-new.mjs';

serveStdio(buildServer);
