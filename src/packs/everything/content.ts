// Tools that return each kind of content, fail, report progress and log.

import { UserError } from '../../common/user-error.ts';
import { pause } from '../../common/wait.ts';
import type { Server } from '../../engine/server.ts';
import { png, wav } from './media.ts';

const mixedResource = {
  uri: 'test://mixed-content-resource',
  mimeType: 'application/json',
  text: JSON.stringify({ test: 'data', value: 123 }),
};

export function installContent(server: Server): void {
  server.tool('test_simple_text', {
    title: 'Simple text',
    description: 'Returns one text block',
    annotations: { readOnlyHint: true },
    run: () => 'This is a simple text response for testing.',
  });
  server.tool('test_image_content', {
    description: 'Returns one image block',
    run: () => ({ type: 'image', data: png, mimeType: 'image/png' }) as const,
  });
  server.tool('test_audio_content', {
    description: 'Returns one audio block',
    run: () => ({ type: 'audio', data: wav, mimeType: 'audio/wav' }) as const,
  });
  server.tool('test_embedded_resource', {
    description: 'Returns one embedded resource',
    run: () =>
      ({
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      }) as const,
  });
  server.tool('test_resource_link', {
    description: 'Returns a link to a resource',
    run: () =>
      ({ type: 'resource_link', uri: 'test://static-text', name: 'Static text', mimeType: 'text/plain' }) as const,
  });
  server.tool('test_multiple_content_types', {
    description: 'Returns text, an image and an embedded resource',
    run: () =>
      [
        { type: 'text', text: 'Multiple content types test:' },
        { type: 'image', data: png, mimeType: 'image/png' },
        { type: 'resource', resource: mixedResource },
      ] as const,
  });
  server.tool('test_error_handling', {
    description: 'Fails on purpose',
    run: () => {
      throw new UserError('This tool intentionally returns an error for testing');
    },
  });
  server.tool('test_tool_with_progress', {
    description: 'Reports progress three times before it returns',
    run: async (_args, ctx) => {
      for (const [at, message] of [
        [0, 'Starting'],
        [50, 'Half way'],
        [100, 'Done'],
      ] as const) {
        await ctx.progress(at, 100, message);
        await pause(50, ctx.signal);
      }
      return 'Progress reported';
    },
  });
  server.tool('test_tool_with_logging', {
    description: 'Logs three messages before it returns',
    run: async (_args, ctx) => {
      for (const message of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        ctx.log('info', message);
        await pause(50, ctx.signal);
      }
      return 'Messages logged';
    },
  });
  server.tool('test_logging_tool', {
    description: 'Logs at every level that the client enabled',
    run: (_args, ctx) => {
      for (const level of ['debug', 'info', 'warning', 'error'] as const) ctx.log(level, { at: level }, 'everything');
      return 'Messages logged';
    },
  });
  server.tool('test_reconnection', {
    description: 'Closes its stream before it returns, if the client can reconnect for the rest',
    run: async (_args, ctx) => {
      const closed = ctx.closeStream(500);
      await pause(100, ctx.signal);
      return closed ? 'The stream was closed and resumed' : 'The stream stayed open';
    },
  });
  server.tool('test_slow', {
    description: 'Waits until it is cancelled or the time is over, and reports progress',
    input: {
      type: 'object',
      properties: { ms: { type: 'integer', minimum: 0, maximum: 60_000, description: 'How long to wait' } },
      additionalProperties: false,
    } as const,
    run: async ({ ms = 1000 }: { ms?: number }, ctx) => {
      const step = Math.max(10, ms / 20);
      for (let passed = 0; passed < ms; passed += step) {
        await ctx.progress(passed, ms);
        await pause(Math.min(step, ms - passed), ctx.signal);
      }
      return `Waited ${ms} ms`;
    },
  });
}
