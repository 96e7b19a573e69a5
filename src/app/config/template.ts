// The file that `mooring init` creates: the settings that people change most often, with comments. docs/configuration.md has all.

import { schemaUrl } from './schema.ts';

/** The text of a new configuration file. Each commented-out line is a valid setting. */
export function configTemplate(profile: string): string {
  return `{
  // Settings of Mooring. Comments and trailing commas are allowed. \${NAME} is replaced by an environment
  // variable, \${NAME:-text} has a default. Relative paths start at this file's folder, ~/ is the home folder.
  // "mooring config --config FILE" shows the resulting settings and where each one comes from.
  "$schema": "${schemaUrl}",

  // The profile to serve; "mooring serve --help" lists them.
  "profile": "${profile}",

  // Folders whose files are offered, to tools and as file:// resources. Default: none.
  // "roots": ["~/Documents/notes"],

  // An API whose operations are offered as tools, by its OpenAPI document.
  // "openapi": { "document": "openapi.json", "url": "https://api.example.com" },

  // Let tools of the profile local change the files in these folders.
  // "write": true,

  // Features that are off by default: "commands", "workers".
  // "enable": ["commands"],

  // Programs that execute_command may run. Replaces the list of the profile.
  // "commands": ["ls", "cat", "date"],

  // Folder for notes, counters and audit files. Default: the data folder of this platform.
  // "data": "~/.local/share/mooring",

  // "audit": { "file": "audit.jsonl", "fsync": "interval", "failureMode": "closed" },

  // Policy file that controls access; "mooring policy check" explains its decisions.
  // "policy": "policy.yaml",

  "http": {
    // "enabled": true,
    "host": "127.0.0.1",
    "port": 8000,
    "path": "/mcp",
    // "allowedOrigins": ["https://app.example"],
    // "publicUrl": "https://mcp.example.org",
    // "trustedProxies": ["loopback"],
    // "metricsPath": "/metrics",
    // "serverCard": { "name": "com.example/notes", "description": "Notes of our team" },
    // "tls": { "cert": "cert.pem", "key": "key.pem" },
    // "workers": "auto",
  },

  // Required to listen on addresses other than loopback. Keep secrets in the environment, or set this file to mode 600.
  // "auth": { "tokens": ["\${MOORING_TOKEN}"] },

  // Redis or Valkey that connects several replicas; requires MOORING_KEY.
  // "store": "redis://redis.internal:6379",

  // Show the traffic and try the server in the browser.
  // "console": { "enabled": true },

  // "log": { "level": "info", "json": false },

  // Options of packs, by pack name.
  // "packs": { "search": {} },

  // Plugins, with the capabilities that each one may use.
  // "plugins": [{ "source": "./plugins/weather", "grant": ["network"], "config": {} }],

  // Servers that "mooring gateway" offers, and that the client commands can use by name: mooring tools memory
  "mcpServers": {
    // "memory": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"] },
    // "remote": { "url": "https://mcp.example.org/mcp", "headers": { "Authorization": "Bearer \${REMOTE_TOKEN}" } },
  },
}
`;
}
