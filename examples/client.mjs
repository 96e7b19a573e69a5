// Connects to a server and calls a tool: node examples/client.mjs http://127.0.0.1:8000/mcp
import { connect } from 'mooring/client';

const client = await connect(process.argv[2] ?? `${process.execPath} examples/weather.mjs`);
console.log(`${client.serverInfo?.name} uses ${client.revision} over ${client.transport}`);

for (const { name, description } of await client.listTools()) console.log(`- ${name}: ${description}`);

const { structuredContent } = await client.callTool('forecast', { city: 'Hamburg' });
console.log(structuredContent);

await client.close();
