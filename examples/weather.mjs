// The server of the README, on stdio. Try it: mooring call "node examples/weather.mjs" forecast --arg city=Hamburg
import { createServer, serveStdio } from 'mooring';

const server = createServer({ name: 'weather', version: '1.0.0' });

server.tool('forecast', {
  description: 'Forecast for a city',
  input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  output: { type: 'object', properties: { celsius: { type: 'number' } }, required: ['celsius'] },
  run: ({ city }) => ({ celsius: city === 'Hamburg' ? 12 : 21 }),
});

await serveStdio(server);
