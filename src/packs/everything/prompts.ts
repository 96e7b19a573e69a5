// Prompts: plain, with arguments and completion, with a resource, with an image.

import type { Server } from '../../engine/server.ts';
import { png } from './media.ts';

const suggestions = ['hello', 'help', 'hamburg'];

export function installPrompts(server: Server): void {
  server.prompt('test_simple_prompt', {
    description: 'A prompt without arguments',
    get: () => 'This is a simple prompt for testing.',
  });
  server.prompt('test_prompt_with_arguments', {
    description: 'A prompt with two arguments',
    args: {
      arg1: {
        description: 'First test argument',
        required: true,
        complete: (value) => suggestions.filter((each) => each.startsWith(value)),
      },
      arg2: { description: 'Second test argument', required: true },
    },
    get: ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  });
  server.prompt('test_prompt_with_embedded_resource', {
    description: 'A prompt that carries a resource',
    args: { resourceUri: { description: 'URI of the resource to embed', required: true } },
    get: ({ resourceUri }) => [
      {
        role: 'user',
        content: {
          type: 'resource',
          resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
        },
      },
      { role: 'user', content: { type: 'text', text: 'Please process the embedded resource above.' } },
    ],
  });
  server.prompt('test_prompt_with_image', {
    description: 'A prompt that carries an image',
    get: () => [
      { role: 'user', content: { type: 'image', data: png, mimeType: 'image/png' } },
      { role: 'user', content: { type: 'text', text: 'Please analyze the image above.' } },
    ],
  });
}
